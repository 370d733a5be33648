import { vi } from 'vitest'
import { main } from '../src/main.ts'

export interface RunPico {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command in this process, to its end, and catches what it says. `vi.restoreAllMocks` gives the outputs back. */
export async function runPico(argv: readonly string[]): Promise<RunPico> {
  const written = { stdout: '', stderr: '' }
  const taking = (name: 'stdout' | 'stderr') => (chunk: unknown, done?: unknown) => {
    written[name] += String(chunk)
    if (typeof done === 'function') done()
    return true
  }
  vi.spyOn(process.stdout, 'write').mockImplementation(taking('stdout') as never)
  vi.spyOn(process.stderr, 'write').mockImplementation(taking('stderr') as never)
  vi.spyOn(console, 'error').mockImplementation((line: string) => {
    written.stderr += `${line}\n`
  })
  const exitCode = await main(argv, {})
  return { exitCode, ...written }
}
