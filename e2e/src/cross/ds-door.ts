import type { ContentKind, StoredRecord } from './cross-record.ts'
import { httpCall, numberIn } from './http-call.ts'

/** As a Durable Streams client gives a place of which it only knows the record. */
export function dsOffset(record: number): string {
  return `${String(record).padStart(16, '0')}_0000000000000000`
}

/** What a catch-up read is to say from a record on. */
export function dsContent(records: readonly StoredRecord[], kind: ContentKind): Buffer {
  if (kind !== 'json') return Buffer.concat(records.map(({ value }) => value ?? Buffer.alloc(0)))
  return Buffer.from(`[${records.map(({ value }) => jsonMessage(value)).join(',')}]`)
}

/** JSON as it was written; what is none as a string, what is no text in base64, and no value as null. */
function jsonMessage(value: Buffer | null): string {
  if (value === null) return 'null'
  const text = value.toString()
  if (!Buffer.from(text).equals(value)) return `{"b64":"${value.toString('base64')}"}`
  try {
    JSON.parse(text)
    return text
  } catch (error) {
    if (error instanceof SyntaxError) return JSON.stringify(text)
    throw error
  }
}

/** Reads from a record on to the tail, as one content. */
export async function readAllOverDs(url: string, path: string, kind: ContentKind, from: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let offset = dsOffset(from); ; ) {
    const target = `${path}?offset=${offset}`
    const answer = await httpCall(url, { method: 'GET', target })
    if (answer.status !== 200) throw new Error(`GET ${target}: ${answer.status} ${answer.body}`)
    const next = answer.headers['stream-next-offset']
    if (typeof next !== 'string') throw new Error(`GET ${target}: no Stream-Next-Offset`)
    numberIn(answer, 'stream-next-offset')
    if (kind === 'json') {
      const inside = answer.body.subarray(1, -1)
      if (inside.length > 0) parts.push(...(parts.length > 0 ? [Buffer.from(',')] : []), inside)
    } else {
      parts.push(answer.body)
    }
    if (answer.headers['stream-up-to-date'] === 'true') break
    if (next === offset) throw new Error(`GET ${target}: nothing, before the tail`)
    offset = next
  }
  return kind === 'json' ? Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')]) : Buffer.concat(parts)
}
