import { SchemaUnavailableError } from '../errors.ts'
import type { Judged, SchemaBinding, SchemaProblem, SchemaSource } from '../schema.ts'
import type { Lane, LoadedSchema } from './lane.ts'
import { LaneGroup } from './lane-group.ts'
import type { Compiled, DoneWork, ProtoDescriptor, RecordsToJudge, Work } from './work-messages.ts'
import type { WorkEnd } from './worker-thread.ts'

export type { LoadedSchema } from './lane.ts'

export interface SchemaWorkersSettings {
  /** Threads that hold records to schemas. One more compiles new schemas. All start when there is something to do. */
  readonly workers: number
  /**
   * For the records of one batch: processor time where Node tells it, else time itself. Compiling a schema, or comparing two, may
   * take ten times as long.
   */
  readonly deadlineMs: number
  /** Of each worker, for objects and strings. Work that needs more is refused; a JSON value may have 1/32 of it. */
  readonly heapMb: number
  /** The entry of a worker: `@pico/schema-registry/worker`, or a module that imports it. */
  readonly workerUrl: URL
}

/**
 * Compiles schemas and holds records to them, in threads of its own, so that neither a schema nor a value can hold up the process:
 * what takes too long or too much memory is ended, with its thread, and that is the answer.
 * @throws SchemaUnavailableError when there is no answer for the moment: no worker starts, too much waits, or all is being closed.
 */
export interface SchemaWorkers {
  /** The problems of the schema itself ([] = good), and a canonical text: equal for schemas that say the same. */
  compile(source: SchemaSource): Promise<Compiled>
  /** Why data written with `writer` cannot be read with `reader`; [] = compatible. Both are of one kind, and compile. */
  incompatibilities(reader: SchemaSource, writer: SchemaSource): Promise<readonly SchemaProblem[]>
  /** A `.proto` file that compiles as serialized descriptor in base64, which some of Confluent's clients read. */
  descriptor(source: SchemaSource): Promise<ProtoDescriptor>
  /** The `.proto` file of such a descriptor; null if the text is none. */
  protoText(text: string): Promise<string | null>
  /** See SchemaJudge. The batch is copied before this returns. */
  judgeBatch(schema: LoadedSchema, binding: SchemaBinding, batch: Uint8Array): Promise<Judged>
  /** See SchemaJudge. The values are copied before this returns. */
  judgeValues(schema: LoadedSchema, binding: SchemaBinding, values: readonly (Uint8Array | null)[]): Promise<Judged>
  close(): Promise<void>
}

/** Parsed JSON takes up to 21 times its text (objects without members, 3 bytes each in a list), and the text itself up to twice. */
const heapPerJsonByte = 32

export function startSchemaWorkers(settings: SchemaWorkersSettings): SchemaWorkers {
  const { workers, deadlineMs, heapMb, workerUrl } = settings
  const maxJsonValueBytes = Math.floor((heapMb * 1024 * 1024) / heapPerJsonByte)
  const deadlines = { compileMs: 10 * deadlineMs, judgeMs: deadlineMs }
  const thread = { workerUrl, heapMb, maxJsonValueBytes }
  const judges = new LaneGroup({
    lanes: Math.max(1, workers),
    deadlines,
    thread: { ...thread, name: 'schema-judge' },
    hasSpare: true,
  })
  // Anybody's new schemas may take long to compile: they wait for each other, and no record waits for them.
  const drafts = new LaneGroup({ lanes: 1, deadlines, thread: { ...thread, name: 'schema-draft' }, hasSpare: false })

  async function draft<Kind extends Exclude<Work['kind'], 'judge'>>(
    work: Work & { kind: Kind },
  ): Promise<DraftEnd<Kind>> {
    const end = await drafts.run({ key: 0, workFor: () => work, transfer: [] })
    switch (end.kind) {
      case 'done':
        return { done: end.done as DoneWork[Kind] }
      case 'late':
        return { refused: `more than ${deadlines.compileMs} ms of work` }
      case 'outOfMemory':
        return { refused: `more than ${heapMb} MiB of memory` }
      default:
        throw unavailable(end)
    }
  }

  async function judge(
    schema: LoadedSchema,
    binding: SchemaBinding,
    records: RecordsToJudge,
    transfer: ArrayBuffer[],
  ): Promise<Judged> {
    const { encoding, tombstonesPass } = binding
    const { schemaId } = schema
    const workFor = (lane: Lane): Work => ({
      kind: 'judge',
      schemaId,
      ...lane.prepare(schema),
      encoding,
      tombstonesPass,
      records,
    })
    const end = await judges.run({ key: schemaId, workFor, transfer })
    if (end.kind === 'done') return end.done as Judged
    if ((end.kind === 'late' || end.kind === 'outOfMemory') && end.isJudging) {
      const what = end.kind === 'late' ? `took longer than ${deadlineMs} ms` : `took more than ${heapMb} MiB of memory`
      return [{ index: end.recordIndex, path: '', reason: `validation ${what}` }]
    }
    throw unavailable(end)
  }

  return {
    async compile(source) {
      const end = await draft({ kind: 'compile', source })
      if ('done' in end) return end.done
      return { problems: [{ path: '', reason: `compiling it takes ${end.refused}` }], canonical: '' }
    },
    async incompatibilities(reader, writer) {
      if (reader.kind !== writer.kind) return [{ path: '', reason: `${reader.kind} cannot read ${writer.kind}` }]
      const end = await draft({ kind: 'incompatibilities', reader, writer })
      return 'done' in end ? end.done : [{ path: '', reason: `to decide takes ${end.refused}` }]
    },
    async descriptor(source) {
      const end = await draft({ kind: 'descriptor', source })
      return 'done' in end ? end.done : { problem: `to describe it takes ${end.refused}` }
    },
    async protoText(text) {
      const end = await draft({ kind: 'protoText', text })
      return 'done' in end ? end.done : null
    },
    judgeBatch(schema, binding, batch) {
      const copy = new Uint8Array(batch)
      return judge(schema, binding, { batch: copy }, [copy.buffer])
    },
    judgeValues(schema, binding, values) {
      const { bytes, lengths } = joined(values)
      return judge(schema, binding, { values: bytes, lengths }, [bytes.buffer, lengths.buffer])
    },
    async close() {
      await Promise.all([judges.close(), drafts.close()])
    },
  }
}

type DraftEnd<Kind extends keyof DoneWork> = { readonly done: DoneWork[Kind] } | { readonly refused: string }

function unavailable(end: WorkEnd): SchemaUnavailableError {
  switch (end.kind) {
    case 'failed':
      return new SchemaUnavailableError(end.error instanceof Error ? end.error.message : 'a worker failed', {
        cause: end.error,
      })
    case 'lost':
      return new SchemaUnavailableError('a worker was lost', { cause: end.cause })
    default:
      return new SchemaUnavailableError('a schema that compiled before took too much to compile again')
  }
}

function joined(values: readonly (Uint8Array | null)[]): {
  bytes: Uint8Array<ArrayBuffer>
  lengths: Int32Array<ArrayBuffer>
} {
  const lengths = Int32Array.from(values, (value) => value?.length ?? -1)
  let total = 0
  for (const length of lengths) total += Math.max(length, 0)
  const bytes = new Uint8Array(total)
  let at = 0
  for (const value of values) {
    if (value === null) continue
    bytes.set(value, at)
    at += value.length
  }
  return { bytes, lengths }
}
