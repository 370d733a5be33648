import type { RecordFields, StreamRecord } from '@pico/client'
import { jsonAppendBatchSchema, jsonAppendRecordOf, problemText, recordOfJson } from '@pico/http-contract'
import { CommandFailure } from './command-failure.ts'

/** A record as `pico read --json` prints it and `pico append --input json` takes it: the shape of the protocol. */
export function recordToJson(record: StreamRecord): string {
  const { seq, timestamp, ...content } = { ...record.fields }
  return JSON.stringify({ seq, timestamp, ...jsonAppendRecordOf(content) })
}

/** @throws CommandFailure naming the line */
export function recordFromJson(line: Uint8Array, lineNumber: number): RecordFields {
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString())
  } catch {
    throw new CommandFailure(`line ${lineNumber} of the input is not JSON`)
  }
  // `seq` is what `pico read` prints, and the server gives a new one.
  const { seq: _, ...rest } =
    typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : { _: json }
  const parsed = jsonAppendBatchSchema.safeParse({ records: [rest] })
  if (!parsed.success)
    throw new CommandFailure(
      `line ${lineNumber} of the input: ${problemText(parsed.error).replace(/^records\[0\][.:]?\s*/, '')}`,
    )
  const { timestamp, ...content } = parsed.data.records[0] ?? {}
  const record = recordOfJson({ seq: 0, timestamp: timestamp ?? -1, ...content })
  if (record === null) throw new CommandFailure(`line ${lineNumber} of the input has base64 that is none`)
  return {
    body: record.value,
    key: record.key,
    headers: record.headers.map(({ key, value }) => [Buffer.from(key).toString(), value] as const),
    ...(timestamp === undefined || timestamp < 0 ? {} : { timestampMs: timestamp }),
  }
}
