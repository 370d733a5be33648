import { type ChildProcess, spawn } from 'node:child_process'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** `pico` as a process of its own, from its sources. It cannot outlive the test: `end` is called by `endAll`. */
export class PicoProcess {
  static readonly #running = new Set<PicoProcess>()
  readonly #child: ChildProcess
  #output = { stdout: '', stderr: '' }
  #changed: (() => void) | undefined
  readonly ended: Promise<Ended>

  constructor(
    args: readonly string[],
    settings: { cwd: string; env?: Record<string, string>; nodeFlags?: readonly string[] },
  ) {
    const nodeArgs = [
      '--conditions=@pico/source',
      '--disable-warning=ExperimentalWarning',
      ...(settings.nodeFlags ?? []),
      cli,
      ...args,
    ]
    this.#child = spawn(process.execPath, nodeArgs, {
      cwd: settings.cwd,
      env: { PATH: process.env['PATH'] ?? '', ...settings.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const name of ['stdout', 'stderr'] as const) {
      this.#child[name]?.on('data', (chunk: Buffer) => {
        this.#output[name] += chunk.toString()
        this.#changed?.()
      })
    }
    PicoProcess.#running.add(this)
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        PicoProcess.#running.delete(this)
        resolve({ code, signal, ...this.#output })
        this.#changed?.()
      })
    })
  }

  static async endAll(): Promise<void> {
    await Promise.all([...PicoProcess.#running].map((running) => running.kill('SIGKILL')))
  }

  get stderr(): string {
    return this.#output.stderr
  }

  async kill(signal: NodeJS.Signals): Promise<Ended> {
    this.#child.kill(signal)
    return this.ended
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Where it serves Kafka; rejects with its output when it ends before. */
  kafkaPort(): Promise<number> {
    return this.#portOf(/serving Kafka clients on [^"]*:(\d+)"/)
  }

  /** Where it serves streams over HTTP. */
  httpPort(): Promise<number> {
    return this.#portOf(/serving streams over HTTP [^"]*:(\d+)"/)
  }

  adminPort(): Promise<number> {
    return this.#portOf(/serving health, metrics and the admin API on [^"]*:(\d+)"/)
  }

  async #portOf(line: RegExp): Promise<number> {
    let gone: Ended | undefined
    void this.ended.then((ended) => {
      gone = ended
    })
    for (;;) {
      const port = line.exec(this.stderr)?.[1]
      if (port !== undefined) return Number(port)
      if (gone !== undefined) throw new Error(`pico ended with ${gone.code}: ${gone.stderr}`)
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }
}

/** Whether something accepts connections there. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
