import type { CrossRecord, StoredRecord } from './cross-record.ts'
import { httpCall, numberIn } from './http-call.ts'
import type { Seeded } from './seeded.ts'

/*
 * The Pico protocol, written and read by hand from its description: on purpose without @pico/http-contract, whose idea of the formats is
 * what is tested.
 */

export type PicoShape = 'one record' | 'json batch' | 'binary batch 1' | 'binary batch 2'

/** Body and type of an append. `one record` has a value alone, `binary batch 1` values and headers that are there. */
export function picoBody(shape: PicoShape, records: readonly CrossRecord[]): { type: string; body: Buffer } {
  if (shape === 'one record') return { type: 'text/x-any', body: records[0]?.value ?? Buffer.alloc(0) }
  if (shape === 'json batch') {
    const body = Buffer.from(JSON.stringify({ records: records.map(jsonOfRecord) }))
    return { type: 'application/vnd.picomq.batch+json', body }
  }
  const version = shape === 'binary batch 1' ? 1 : 2
  const head = Buffer.from([version, 0, 0, 0, 0])
  head.writeUInt32BE(records.length, 1)
  const body = Buffer.concat([head, ...records.flatMap((record) => binaryOfRecord(record, version))])
  return { type: 'application/vnd.picomq.batch', body }
}

function jsonOfRecord({ key, value, headers, timestampMs }: CrossRecord): object {
  const pair = (bytes: Buffer | null) => (bytes === null ? null : (textOf(bytes) ?? { b64: bytes.toString('base64') }))
  const field = (name: string, bytes: Buffer | null) => {
    if (bytes === null) return name === 'body' ? { body: null } : {}
    const text = textOf(bytes)
    return text === null ? { [`${name}_b64`]: bytes.toString('base64') } : { [name]: text }
  }
  return {
    ...field('key', key),
    ...field('body', value),
    ...(headers.length === 0 ? {} : { headers: headers.map(([name, content]) => [pair(name), pair(content)]) }),
    ...(timestampMs === null ? {} : { timestamp: timestampMs }),
  }
}

function binaryOfRecord({ key, value, headers, timestampMs }: CrossRecord, version: 1 | 2): Buffer[] {
  const fields = [int32(headers.length), ...headers.flatMap(([name, content]) => [...sized(name), ...sized(content)])]
  if (version === 1) return [...fields, ...sized(value)]
  const timestamp = Buffer.alloc(8)
  timestamp.writeBigInt64BE(BigInt(timestampMs ?? -1))
  return [timestamp, ...sized(key), ...fields, ...sized(value)]
}

function sized(bytes: Buffer | null): Buffer[] {
  return bytes === null ? [int32(-1)] : [int32(bytes.length), bytes]
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** All records, page by page, in JSON and in binary version 2, whichever `random` says for a page. */
export async function readAllOverPico(url: string, path: string, random: Seeded): Promise<StoredRecord[]> {
  const all: StoredRecord[] = []
  for (;;) {
    const format = random.one(['json', 'binary&version=2'])
    const limit = random.one(['', '&count=1', `&count=${random.whole(2, 50)}`, `&bytes=${random.whole(1, 20_000)}`])
    const target = `${path}?seq=${all.length}&format=${format}${limit}`
    const answer = await httpCall(url, { method: 'GET', target })
    if (answer.status !== 200) throw new Error(`GET ${target}: ${answer.status} ${answer.body}`)
    const page = format === 'json' ? recordsOfJson(answer.body) : recordsOfBinary(answer.body)
    all.push(...page)
    const next = numberIn(answer, 'pico-next-seq')
    if (next !== all.length) throw new Error(`GET ${target}: Pico-Next-Seq is ${next} where ${all.length} were read`)
    if (answer.headers['pico-up-to-date'] === 'true') return all
    if (page.length === 0) throw new Error(`GET ${target}: nothing, before the tail`)
  }
}

/** The bodies, one after the other. */
export async function readRawOverPico(url: string, path: string): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let seq = 0; ; ) {
    const answer = await httpCall(url, { method: 'GET', target: `${path}?seq=${seq}&format=raw` })
    if (answer.status !== 200) throw new Error(`GET ${path} raw: ${answer.status} ${answer.body}`)
    parts.push(answer.body)
    const next = numberIn(answer, 'pico-next-seq')
    if (answer.headers['pico-up-to-date'] === 'true') return Buffer.concat(parts)
    if (next <= seq) throw new Error(`GET ${path} raw from ${seq}: on at ${next}`)
    seq = next
  }
}

interface JsonRecord {
  readonly seq: number
  readonly timestamp: number
  readonly key?: string
  readonly key_b64?: string
  readonly headers?: Readonly<Record<string, string>> | readonly (readonly [JsonBytes, JsonBytes | null])[]
  readonly body?: string | null
  readonly body_b64?: string
}
type JsonBytes = string | { readonly b64: string }

function recordsOfJson(body: Buffer): StoredRecord[] {
  const records = JSON.parse(body.toString()) as JsonRecord[]
  return records.map(({ seq, timestamp, key, key_b64, headers = [], body, body_b64 }) => ({
    offset: seq,
    timestampMs: timestamp,
    key: key === undefined && key_b64 === undefined ? null : bytesOf(key ?? { b64: key_b64 ?? '' }),
    value: body === null ? null : bytesOf(body ?? { b64: body_b64 ?? '' }),
    headers: (Array.isArray(headers) ? headers : Object.entries(headers)).map(
      ([name, value]) => [bytesOf(name), value === null ? null : bytesOf(value)] as const,
    ),
  }))
}

function bytesOf(content: JsonBytes): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.b64, 'base64')
}

function recordsOfBinary(body: Buffer): StoredRecord[] {
  let at = 5
  const take = (length: number) => {
    at += length
    if (at > body.length) throw new Error('a record runs past its page')
    return body.subarray(at - length, at)
  }
  const number = () => take(4).readInt32BE()
  const long = () => Number(take(8).readBigInt64BE())
  const field = () => {
    const length = number()
    return length < 0 ? null : take(length)
  }
  if (body[0] !== 2) throw new Error(`a page in version ${body[0]}`)
  const records = Array.from({ length: body.readUInt32BE(1) }, () => {
    const [offset, timestampMs, key] = [long(), long(), field()]
    const headers = Array.from({ length: number() }, () => [field() ?? Buffer.alloc(0), field()] as const)
    return { offset, timestampMs, key, headers, value: field() }
  })
  if (at !== body.length) throw new Error(`${body.length - at} bytes follow the last record of a page`)
  return records
}

function textOf(bytes: Buffer): string | null {
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? text : null
}
