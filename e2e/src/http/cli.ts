import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { cliOf } from '../pico.ts'

export interface CliExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: Buffer
  readonly stderr: string
}

export interface CliSettings {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array | AsyncIterable<Uint8Array>
}

const live = new Set<ChildProcessWithoutNullStreams>()
process.on('exit', () => {
  for (const child of live) child.kill('SIGKILL')
})

/** A run of the `pico` command, as a user would have it in a pipe. */
export class Cli {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #stdout: Buffer[] = []
  #stderr = ''
  readonly ended: Promise<CliExit>

  constructor(args: readonly string[], { env = {}, input = '' }: CliSettings = {}) {
    // Nothing of who runs the tests.
    const inherited = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' }
    this.#child = spawn(process.execPath, [...cliOf(), ...args], { env: { ...inherited, ...env }, stdio: 'pipe' })
    const child = this.#child
    live.add(child)
    child.stdout.on('data', (chunk: Buffer) => this.#stdout.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString()
    })
    child.stdin.on('error', () => undefined) // it ended without reading all of its input: its exit tells
    if (typeof input === 'string' || input instanceof Uint8Array) child.stdin.end(input)
    else Readable.from(input, { objectMode: false }).pipe(child.stdin)
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => {
        live.delete(child)
        resolve({ code, signal, stdout: Buffer.concat(this.#stdout), stderr: this.#stderr })
      })
    })
  }

  get pid(): number {
    return this.#child.pid ?? -1
  }

  get stdout(): string {
    return Buffer.concat(this.#stdout).toString()
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Whoever read what it prints goes. */
  stopReading(): void {
    this.#child.stdout.destroy()
  }
}

/** Runs it to its end. */
export function cli(args: readonly string[], settings: CliSettings = {}): Promise<CliExit> {
  return new Cli(args, settings).ended
}
