import { readFileSync } from 'node:fs'
import { type BatchView, records } from '../src/index.ts'

/** The data under `golden/captures`, written by Kafka 4.4.0's own classes (golden/README.md). Bytes are base64. */
export type GoldenBatch = {
  readonly name: string
  readonly bytes: string
  readonly batches: readonly GoldenHeader[]
  /** Of up to 20 records; more are noted as a hash. */
  readonly records?: readonly GoldenRecord[]
  readonly recordsSha256?: string
}

export type GoldenHeader = {
  readonly magic: number
  readonly sizeInBytes: number
  readonly baseOffset: number
  readonly lastOffset: number
  readonly compressionType: string
  readonly timestampType: 'CreateTime' | 'LogAppendTime' | 'NoTimestampType'
  readonly maxTimestamp: number
  readonly producerId: number
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly lastSequence: number
  readonly isTransactional: boolean
  readonly isControl: boolean
  readonly hasDeleteHorizon: boolean
  readonly partitionLeaderEpoch: number
  readonly crc: number
  readonly count: number | null
}

export type GoldenRecord = {
  readonly offset: number
  readonly timestamp: number
  readonly key: string | null
  readonly value: string | null
  readonly headers: readonly { readonly key: string; readonly value: string | null }[]
}

export type GoldenVerdict = {
  readonly name: string
  readonly version: number
  readonly config: Readonly<Record<string, string>>
  readonly bytes: string
  readonly errorCode: number
  /** The Java class of an error without record errors. */
  readonly error?: string
  readonly recordErrors?: readonly number[]
  /** If accepted. */
  readonly logAppendTime?: number
  readonly maxTimestamp?: number
  readonly stored?: string
  /** null: Kafka has stored what its own classes cannot read. */
  readonly records?: readonly GoldenRecord[] | null
}

export function readGolden<Entry>(file: string): Entry[] {
  return JSON.parse(readFileSync(new URL(`../golden/captures/${file}.json`, import.meta.url), 'utf8')) as Entry[]
}

export function fromBase64(text: string): Buffer {
  return Buffer.from(text, 'base64')
}

/** The records of a batch in the form that the golden data has them in. */
export function goldenRecords(batch: BatchView): GoldenRecord[] {
  return [...records(batch)].map(({ offset, timestamp, key, value, headers }) => ({
    offset,
    timestamp,
    key: toBase64(key),
    value: toBase64(value),
    headers: headers.map((header) => ({ key: asJavaText(header.key), value: toBase64(header.value) })),
  }))
}

/** Java has header keys as text, and replaces what is no UTF-8; so did the golden data. */
function asJavaText(key: Uint8Array): string {
  return Buffer.from(new TextDecoder().decode(key)).toString('base64')
}

export function toBase64(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('base64')
}
