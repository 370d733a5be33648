import type { CompiledSchema, ValueProblem } from '../kinds/schema-kind.ts'
import type { Judged, RecordProblem, SchemaKind } from '../schema.ts'
import { firstMessage, readConfluentFrame } from './confluent-frame.ts'
import { maxDecompressedBytes, visitValues } from './produced-values.ts'
import type { JudgeWork, Progress } from './work-messages.ts'

/** As many as the gate lists of a batch. */
const problemsMax = 1000

export interface KnownSchema {
  readonly kind: SchemaKind
  readonly compiled: CompiledSchema
}

/** Holds records to a compiled schema; at each, `progress` says which it is. */
export function judgeRecords(schema: KnownSchema, work: JudgeWork, progress: Progress): Judged {
  const problems: RecordProblem[] = []
  let index = 0
  const outcome = visitValues(work.records, (value) => {
    progress.recordIndex = index
    const problem = value === null ? problemOfTombstone(work) : problemOfValue(value, schema, work)
    if (problem !== null) problems.push({ index, ...problem })
    index++
    return problems.length < problemsMax
  })
  if (outcome === 'unreadable') return []
  if (outcome === 'tooLarge') {
    return [{ index: 0, path: '', reason: `the batch unpacks to more than ${maxDecompressedBytes} bytes` }]
  }
  return problems
}

function problemOfTombstone({ tombstonesPass }: JudgeWork): ValueProblem | null {
  return tombstonesPass ? null : { path: '', reason: 'a record without a value, which only a compacted topic takes' }
}

function problemOfValue(value: Uint8Array, { kind, compiled }: KnownSchema, work: JudgeWork): ValueProblem | null {
  if (work.encoding === 'plain') return compiled.validate(value, firstMessage)
  const frame = readConfluentFrame(value, kind, work.schemaId)
  return typeof frame === 'string'
    ? { path: '', reason: frame }
    : compiled.validate(frame.payload, frame.messageIndexes)
}
