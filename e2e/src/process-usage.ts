import { readFileSync } from 'node:fs'

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
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before may hold spaces
  const ticksPerSecond = 100
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

function statusBytes(pid: number, name: string): number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  if (line === null) throw new Error(`/proc/${pid}/status has no ${name}`)
  return Number(line[1]) * 1024
}
