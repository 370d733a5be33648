import { execFile } from 'node:child_process'
import { cliOf } from '../pico.ts'

export interface Verified {
  readonly code: number
  readonly stderr: string
  readonly findings: readonly { readonly kind: string; readonly subject: string; readonly what: string }[]
  readonly verdict: { readonly proven: boolean; readonly counts: Readonly<Record<string, number>> }
}

/** Runs `pico admin verify` on a database and a store, whether or not anything serves them. Throws when it could not look. */
export async function adminVerify(where: {
  readonly metaUrl: string
  readonly storage: string
  readonly env?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
}): Promise<Verified> {
  const { metaUrl, storage, env, flags = [] } = where
  const words = [...cliOf(), 'admin', 'verify', '--json', `--meta-url=${metaUrl}`, `--storage=${storage}`, ...flags]
  const { code, stdout, stderr } = await new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, words, { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr })
    })
  })
  const lines = stdout.split('\n').filter((line) => line !== '')
  const verdict = lines.pop()
  if (verdict === undefined) throw new Error(`pico admin verify ended with ${code}: ${stderr}`)
  return { code, stderr, findings: lines.map((line) => JSON.parse(line)), verdict: JSON.parse(verdict) }
}
