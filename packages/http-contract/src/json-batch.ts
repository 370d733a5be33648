import { z } from 'zod'
import { headersPerAppendMax, recordsPerAppendMax } from './append-limits.ts'
import { base64Of, bytesOfBase64 } from './base64.ts'
import type { AppendBatchOutcome } from './binary-batch.ts'
import { problemText } from './problems.ts'
import type { AppendRecord, ReadRecord, RecordHeaderBytes } from './records.ts'

/*
 * Records in JSON: `application/vnd.picomq.batch+json` of an append, and the body of a read with `format=json`. Bytes that are valid
 * UTF-8 are text, others are base64 under another name. Kafka's headers may repeat and hold any bytes: they are an object where that
 * can hold them, else an array of pairs.
 */

/** A lone surrogate is in no encoding: it would be stored as something else. */
const text = z.string().refine((value) => value.isWellFormed(), 'is no Unicode text')
const base64 = z.string().meta({ contentEncoding: 'base64' })
const bytesInBase64 = z.strictObject({ b64: base64 })
const headerPair = z.tuple([z.union([text, bytesInBase64]), z.union([text, bytesInBase64, z.null()])])

export const jsonHeadersSchema = z.union([z.record(text, text), z.array(headerPair)])
export type JsonHeaders = z.infer<typeof jsonHeadersSchema>

const content = {
  key: text.optional(),
  key_b64: base64.optional(),
  headers: jsonHeadersSchema.optional(),
  /** Null: a tombstone. */
  body: text.nullable().optional(),
  body_b64: base64.optional(),
}

export const jsonAppendRecordSchema = z
  .strictObject({
    ...content,
    /** Milliseconds since 1970. */
    timestamp: z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER).optional(),
  })
  .refine((record) => (record.body === undefined) !== (record.body_b64 === undefined), 'has either body or body_b64')
  .refine((record) => record.key === undefined || record.key_b64 === undefined, 'has key or key_b64, not both')

export const jsonAppendBatchSchema = z.strictObject({ records: z.array(jsonAppendRecordSchema).min(1) })
export type JsonAppendBatch = z.input<typeof jsonAppendBatchSchema>

export const jsonReadRecordSchema = z.object({
  seq: z.number().int().nonnegative(),
  /** Milliseconds since 1970; -1 for none. */
  timestamp: z.number().int().min(-1),
  ...content,
})
/** The body of a read with `format=json`, and the data of a live event. */
export const jsonReadSchema = z.array(jsonReadRecordSchema)
export type JsonReadRecord = z.infer<typeof jsonReadRecordSchema>

/** The records of a request's body, which is UTF-8. */
export function decodeJsonAppendBatch(text: string): AppendBatchOutcome {
  const json = parseJson(text)
  if (json === undefined) return { problem: 'the body is not JSON' }
  // Before zod looks at each, and has something to say of each.
  const excess = excessOf(json)
  if (excess !== null) return { problem: excess, isTooMuch: true }
  const parsed = jsonAppendBatchSchema.safeParse(json)
  if (!parsed.success) return { problem: problemText(parsed.error) }
  const records: AppendRecord[] = []
  for (const [at, record] of parsed.data.records.entries()) {
    const { timestamp, headers = [] } = record
    // zod leaves this name out of what it gives back.
    if (record.headers !== undefined && hasProtoHeader(json, at)) {
      return { problem: `records[${at}].headers: "__proto__" has to be in an array of pairs` }
    }
    const key = record.key_b64 === undefined ? utf8(record.key) : bytesOfBase64(record.key_b64)
    const value = record.body_b64 === undefined ? utf8(record.body ?? undefined) : bytesOfBase64(record.body_b64)
    const headerBytes = headersOfJson(headers)
    if (headerBytes === null || (key === null && record.key_b64 !== undefined)) return { problem: notBase64(at) }
    if (value === null && record.body_b64 !== undefined) return { problem: notBase64(at) }
    records.push({ ...(timestamp === undefined ? {} : { timestamp }), key, value, headers: headerBytes })
  }
  return { records }
}

/** One record of a read, as bytes; null where a base64 text is none. */
export function recordOfJson(record: JsonReadRecord): ReadRecord | null {
  const key = record.key_b64 === undefined ? utf8(record.key) : bytesOfBase64(record.key_b64)
  const value = record.body_b64 === undefined ? utf8(record.body ?? undefined) : bytesOfBase64(record.body_b64)
  const headers = headersOfJson(record.headers ?? [])
  const isWhole = (record.key_b64 === undefined || key !== null) && (record.body_b64 === undefined || value !== null)
  return isWhole && headers !== null ? { seq: record.seq, timestamp: record.timestamp, key, value, headers } : null
}

/** Of a record to be appended in JSON. */
export function jsonAppendRecordOf(record: AppendRecord): JsonAppendBatch['records'][number] {
  const { timestamp, key, value, headers } = record
  return {
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(key === null ? {} : named('key', 'key_b64', key)),
    ...(headers.length === 0 ? {} : { headers: jsonHeadersOf(headers) }),
    ...(value === null ? { body: null } : named('body', 'body_b64', value)),
  }
}

/** An object where it holds the headers as they are, in their order; else pairs. */
export function jsonHeadersOf(headers: readonly RecordHeaderBytes[]): JsonHeaders {
  const names = new Set<string>()
  const pairs: z.infer<typeof headerPair>[] = []
  let isObject = true
  for (const { key, value } of headers) {
    const name = textOrBytes(key)
    const content = value === null ? null : textOrBytes(value)
    // An object would forget repetitions, and sort names that look like array indexes before the others.
    isObject &&= typeof name === 'string' && typeof content === 'string'
    isObject &&= typeof name === 'string' && !names.has(name) && name !== '__proto__' && !/^\d+$/.test(name)
    if (typeof name === 'string') names.add(name)
    pairs.push([name, content])
  }
  return isObject ? (Object.fromEntries(pairs) as Record<string, string>) : pairs
}

function headersOfJson(headers: JsonHeaders): RecordHeaderBytes[] | null {
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers)
  const result: RecordHeaderBytes[] = []
  for (const [name, value] of pairs) {
    const key = bytesOf(name)
    const content = value === null ? null : bytesOf(value)
    if (key === null || (content === null && value !== null)) return null
    result.push({ key, value: content })
  }
  return result
}

function bytesOf(content: string | { readonly b64: string }): Uint8Array | null {
  return typeof content === 'string' ? encoder.encode(content) : bytesOfBase64(content.b64)
}

const encoder = new TextEncoder()
// A byte order mark is content like any other.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function utf8(text: string | undefined): Uint8Array | null {
  return text === undefined ? null : encoder.encode(text)
}

/** Null where the bytes are no UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

function textOrBytes(bytes: Uint8Array): string | { b64: string } {
  return textOf(bytes) ?? { b64: base64Of(bytes) }
}

function named<T extends string, B extends string>(textName: T, bytesName: B, bytes: Uint8Array) {
  const text = textOf(bytes)
  return { [text === null ? bytesName : textName]: text ?? base64Of(bytes) } as { [name in T | B]?: string }
}

function notBase64(at: number): string {
  return `records[${at}]: is not base64`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** More than a record has: whatever it is, zod would list it. */
const membersMax = 16

/** Of what there is more than an append may have, in words. */
function excessOf(json: unknown): string | null {
  const records = isObject(json) ? json['records'] : undefined
  if (!Array.isArray(records)) return null
  if (records.length > recordsPerAppendMax) return `${records.length} records, ${recordsPerAppendMax} are allowed`
  let headers = 0
  for (const [at, record] of records.entries()) {
    if (!isObject(record)) continue
    if (Object.keys(record).length > membersMax) return `records[${at}] has more than ${membersMax} members`
    const given = record['headers']
    if (isObject(given)) headers += Array.isArray(given) ? given.length : Object.keys(given).length
    if (headers > headersPerAppendMax) return `more than ${headersPerAppendMax} headers`
  }
  return null
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function hasProtoHeader(json: unknown, at: number): boolean {
  const { records } = json as { records: { headers?: object }[] }
  return Object.hasOwn(records[at]?.headers ?? {}, '__proto__')
}
