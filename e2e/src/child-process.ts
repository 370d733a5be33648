import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { appendFileSync, existsSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ProcessSettings {
  /** Shown in errors. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** The process is ready when this resolves true; asked every 25 ms. Without it, ready at once. */
  readonly ready?: (output: string) => boolean | Promise<boolean>
  readonly readyTimeoutMs?: number
  readonly onStdout?: (chunk: Buffer) => void
  /** What it writes, to both, is added to this file. */
  readonly logFile?: string
  /**
   * In a session of its own, as services are: Linux then shares the processors between it and whoever loads it, and not between its
   * threads and those of sixteen clients (autogroup, sched(7)), which in earnest are on other machines.
   */
  readonly ownSession?: boolean
}

export interface RunningProcess {
  readonly name: string
  readonly pid: number
  /** The last MiB of stdout and stderr, as they came. */
  output(): string
  readonly exited: Promise<ProcessExit>
  /** Undefined while it runs. */
  exit(): ProcessExit | undefined
  /** SIGTERM, and SIGKILL when that did not end it in time. */
  stop(timeoutMs?: number): Promise<ProcessExit>
  /** SIGKILL. Resolves when the process is gone. */
  kill(): Promise<ProcessExit>
}

export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The process outlived SIGTERM for longer than it was given. */
  readonly forced: boolean
}

const keptOutputBytes = 1 << 20
const live = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of live) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(1))
}

/**
 * Starts a process and waits until it is ready; a process that is not is killed, and its output is in the error.
 * It cannot outlive us: on Linux the kernel kills it when we die, even by SIGKILL.
 */
export async function startProcess(settings: ProcessSettings): Promise<RunningProcess> {
  const child = spawnBound(settings)
  let output = ''
  const keep = (chunk: Buffer) => {
    if (settings.logFile !== undefined) appendFileSync(settings.logFile, chunk)
    output = (output + chunk.toString('latin1')).slice(-keptOutputBytes)
  }
  child.stdout?.on('data', (chunk: Buffer) => {
    keep(chunk)
    settings.onStdout?.(chunk)
  })
  child.stderr?.on('data', keep)

  let exit: ProcessExit | undefined
  let forced = false
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('error', (error) => keep(Buffer.from(`${error.message}\n`)))
    child.once('close', (code, signal) => {
      live.delete(child)
      exit = { code, signal, forced }
      resolve(exit)
    })
  })

  const running: RunningProcess = {
    name: settings.name,
    pid: child.pid ?? -1,
    output: () => output,
    exited,
    exit: () => exit,
    async stop(timeoutMs = 20_000) {
      child.kill('SIGTERM')
      const late = new AbortController()
      await Promise.race([exited, sleep(timeoutMs, undefined, { signal: late.signal }).catch(() => undefined)])
      late.abort()
      if (exit === undefined) {
        forced = true
        child.kill('SIGKILL')
      }
      return exited
    },
    async kill() {
      child.kill('SIGKILL')
      return exited
    },
  }
  await becomeReady(running, settings)
  return running
}

async function becomeReady(running: RunningProcess, settings: ProcessSettings): Promise<void> {
  const deadline = Date.now() + (settings.readyTimeoutMs ?? 30_000)
  while (settings.ready !== undefined && !(await settings.ready(running.output()))) {
    const gone = running.exit()
    if (gone === undefined && Date.now() < deadline) {
      await sleep(25)
      continue
    }
    await running.kill()
    const why =
      gone === undefined ? 'was not ready in time' : `ended with ${gone.signal ?? gone.code} before it was ready`
    throw new Error(`${settings.name} ${why}:\n${running.output().slice(-4000)}`)
  }
}

export interface RunSettings {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
  readonly timeoutMs?: number
}

/** Runs a command to its end. Rejects, with what it wrote to stderr, when it fails or takes too long. */
export async function run(
  command: string,
  args: readonly string[],
  settings: RunSettings = {},
): Promise<{ stdout: Buffer; stderr: string }> {
  const child = spawnBound({ ...settings, command, args })
  const stdout: Buffer[] = []
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-keptOutputBytes)
  })
  child.stdin?.on('error', (error) => {
    stderr += `${error.message}\n` // the process ended without reading its input: its exit code tells
  })
  child.stdin?.end(settings.input ?? '')
  const timeoutMs = settings.timeoutMs ?? 60_000
  let late = false
  const timer = setTimeout(() => {
    late = true
    child.kill('SIGKILL')
  }, timeoutMs)
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve([code, signal]))
  }).finally(() => {
    clearTimeout(timer)
    live.delete(child)
  })
  if (code === 0) return { stdout: Buffer.concat(stdout), stderr }
  const why = late ? `took longer than ${timeoutMs} ms` : `ended with ${signal ?? code}`
  throw new Error(`${command} ${args.slice(0, 12).join(' ')} ${why}:\n${stderr.slice(-4000)}`)
}

const hasSetpriv = existsSync('/usr/bin/setpriv')

function spawnBound(settings: Pick<ProcessSettings, 'command' | 'args' | 'cwd' | 'env' | 'ownSession'>): ChildProcess {
  const words = [settings.command, ...settings.args]
  if (hasSetpriv) words.unshift('/usr/bin/setpriv', '--pdeathsig', 'KILL')
  const child = spawn(words[0] ?? '', words.slice(1), {
    cwd: settings.cwd,
    env: { ...process.env, ...settings.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: settings.ownSession === true,
  })
  live.add(child)
  return child
}

/** A port that nothing listens on, at least a moment ago. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1)
  return port!
}

/**
 * Below those that systems give to whoever connects: a server that ends and comes back would find its port taken by some client, maybe
 * by one that tried to reach it and was connected to itself.
 */
const servedPorts = { first: 10_000, last: 32_000 }

/** So many, all different: each is held until the last is found. */
export async function freePorts(count: number): Promise<number[]> {
  const held = new Map<number, Server>()
  while (held.size < count) {
    const port = randomInt(servedPorts.first, servedPorts.last + 1)
    const server = held.has(port) ? null : await listening(port)
    if (server !== null) held.set(port, server)
  }
  for (const server of held.values()) await new Promise((resolve) => server.close(resolve))
  return [...held.keys()]
}

/** Null when the port is taken. */
function listening(port: number): Promise<Server | null> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    )
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

/** True when something accepts connections there. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const answer = (open: boolean) => {
      socket.destroy()
      resolve(open)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', () => answer(false))
  })
}
