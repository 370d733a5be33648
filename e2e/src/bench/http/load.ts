import { fileURLToPath } from 'node:url'
import { run } from '../../child-process.ts'
import type { Metered } from '../meter.ts'

/** What the load program is asked for, as JSON in its argument. */
export type LoadSpec = AppendLoad | ReadLoad

interface Load {
  readonly port: number
  /** Whose processor time is told beside the load's own. */
  readonly serverPid: number
  /** Each has one request at a time, so this is what is in flight. */
  readonly connections: number
  readonly warmupMs: number
  readonly measuredMs: number
}

export interface AppendLoad extends Load {
  readonly kind: 'append'
  /** Connections take turns at them. */
  readonly paths: readonly string[]
  readonly contentType: string
  /** The same for every request. */
  readonly body: { readonly recordBytes: number; readonly recordsPerBatch?: number }
  readonly expectedStatus: number
}

export interface ReadLoad extends Load {
  readonly kind: 'read'
  /** Every connection reads it from the beginning to where it ends, and again. */
  readonly path: string
  /** Of the bodies of one reading, together: every reading is held against it. */
  readonly expectedBytes: number
}

/** `completed` are appends, or complete readings. */
export interface LoadReport extends Metered {
  /** Of records that were appended, or of bodies that were read. */
  readonly bytes: number
}

const program = fileURLToPath(new URL('load-program.ts', import.meta.url))

/** In a process of its own, so that what it costs is seen and nothing of ours delays it. */
export async function runLoad(spec: LoadSpec): Promise<LoadReport> {
  const { stdout } = await run(process.execPath, ['--conditions=@pico/source', program, JSON.stringify(spec)], {
    timeoutMs: spec.warmupMs + spec.measuredMs + 120_000,
  })
  return JSON.parse(stdout.toString())
}
