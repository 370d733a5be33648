import { readdirSync, readFileSync } from 'node:fs'

/** What the kernel says of a process (Linux). */

export function rssBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS')
}

/** The most it ever was, exactly: the kernel keeps it. */
export function peakRssBytes(pid: number): number {
  return statusBytes(pid, 'VmHWM')
}

/** Processor time used since it started, user and system together. */
export function cpuSeconds(pid: number): number {
  const { own } = statOf(pid)
  return own
}

/** The same of a process and its children: those that run, and those that ended and were waited for. */
export function familyCpuSeconds(pid: number): number {
  const { own, waitedFor } = statOf(pid)
  let sum = own + waitedFor
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const child = statIfThere(Number(name))
    if (child?.parentPid === pid) sum += child.own
  }
  return sum
}

export function parentPid(pid: number): number {
  return statOf(pid).parentPid
}

function statOf(pid: number): { parentPid: number; own: number; waitedFor: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before may hold spaces
  const ticksPerSecond = 100
  const seconds = (field: number) => (Number(fields[field]) + Number(fields[field + 1])) / ticksPerSecond
  return { parentPid: Number(fields[1]), own: seconds(11), waitedFor: seconds(13) }
}

function statIfThere(pid: number): ReturnType<typeof statOf> | undefined {
  try {
    return statOf(pid)
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')
    if (!isGone) throw error
    return undefined
  }
}

function statusBytes(pid: number, name: string): number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  if (line === null) throw new Error(`/proc/${pid}/status has no ${name}`)
  return Number(line[1]) * 1024
}
