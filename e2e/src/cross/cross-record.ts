import type { Seeded } from './seeded.ts'

/** A record as any of the three protocols can tell of it. */
export interface CrossRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly (readonly [name: Buffer, value: Buffer | null])[]
  /** Null where it is the server's clock. */
  readonly timestampMs: number | null
}

export interface StoredRecord extends CrossRecord {
  readonly offset: number
  readonly timestampMs: number
}

/** What a stream holds, by its content type: what Durable Streams may write to it. */
export type ContentKind = 'text' | 'json' | 'binary'

export const contentTypes: Readonly<Record<ContentKind, string>> = {
  text: 'text/plain; charset=utf-8',
  json: 'application/json',
  binary: 'application/octet-stream',
}

/** How two records are compared: everything but where and when. */
export function contentOf({ key, value, headers }: CrossRecord): string {
  const part = (bytes: Buffer | null) => bytes?.toString('base64') ?? 'null'
  return [part(key), part(value), ...headers.flatMap(([name, content]) => [part(name), part(content)])].join(' ')
}

/** Any that Kafka has: keys, repeated and binary headers, tombstones, empty and null and large ones. `id` is in each, and nowhere else. */
export function kafkaRecord(random: Seeded, id: string, timestampMs: number | null): CrossRecord {
  const tombstone = random.chance(0.15)
  const value = tombstone ? null : anyValue(random, id)
  const headers: [Buffer, Buffer | null][] = []
  for (let left = random.one([0, 0, 1, 3, 6]); left > 0; left--) {
    const name = random.one(['trace', 'trace', 'naïve ☃', '', '12', '__proto__', 'a'])
    const content = random.one([null, Buffer.alloc(0), Buffer.from('text'), random.bytes(random.whole(1, 40))])
    headers.push([Buffer.from(name), content])
  }
  if (tombstone) headers.push([Buffer.from('id'), Buffer.from(id)])
  return { key: anyKey(random), value, headers, timestampMs }
}

/** What a body of one record can say: a value, of at least one byte. */
export function plainRecord(random: Seeded, id: string, kind: ContentKind): CrossRecord {
  return { key: null, value: anyValue(random, id, kind), headers: [], timestampMs: null }
}

function anyKey(random: Seeded): Buffer | null {
  return random.one([null, Buffer.alloc(0), Buffer.from('key'), random.bytes(random.whole(1, 20)), Buffer.from('ключ')])
}

function anyValue(random: Seeded, id: string, kind = random.one<ContentKind>(['text', 'json', 'binary'])): Buffer {
  const more = random.chance(0.05) ? random.whole(5000, 40_000) : random.whole(0, 200)
  if (kind === 'binary') return Buffer.concat([Buffer.from(`${id}\0`), random.bytes(more)])
  const text = random.one(['x', 'é', '日本', '😀', '"\\', '\r\n', '\u2028', ' ']).repeat(more / 4)
  if (kind === 'text') return Buffer.from(`${id} ${text}`)
  // Neither in the order nor the spelling that JSON.parse and JSON.stringify would leave.
  const numbers = random.one(['12345678901234567890', '1.0', '-0', '1e400'])
  return Buffer.from(`{"n":${numbers}, "id" :${JSON.stringify(id)},"n":${JSON.stringify(text)}}`)
}
