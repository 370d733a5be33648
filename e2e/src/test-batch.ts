import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { crc32c } from '@pico/binary'
import { decompressFrameSync } from 'lz4-napi'
import { uncompressSync } from 'snappy'

/**
 * RecordBatch v2 written and read by hand, every field as the test says, right or wrong.
 * On purpose not @pico/record-batch: a broker must not be tested by its own idea of a batch.
 */
export interface BatchFields {
  readonly records: readonly BatchRecord[]
  readonly baseOffset?: bigint
  readonly partitionLeaderEpoch?: number
  readonly magic?: number
  readonly attributes?: number
  readonly lastOffsetDelta?: number
  readonly baseTimestamp?: bigint
  readonly maxTimestamp?: bigint
  readonly producerId?: bigint
  readonly producerEpoch?: number
  readonly baseSequence?: number
  readonly recordCount?: number
  /** Instead of the encoded records, for instance compressed. */
  readonly payload?: Uint8Array
  /** Instead of the right one. */
  readonly crc?: number
  /** Instead of the right one. */
  readonly batchLength?: number
}

export interface BatchRecord {
  readonly key?: Buffer | null
  readonly value?: Buffer | null
  readonly headers?: readonly (readonly [string, Buffer | null])[]
  /** Milliseconds after the base timestamp. */
  readonly timestampDelta?: number
  readonly offsetDelta?: number
}

const headerBytes = 61

export function encodeBatch(fields: BatchFields): Buffer {
  const payload = fields.payload ?? Buffer.concat(fields.records.map(encodeRecord))
  const baseTimestamp = fields.baseTimestamp ?? BigInt(Date.now())
  const latestMs = Math.max(0, ...fields.records.map((record) => record.timestampDelta ?? 0))
  const bytes = Buffer.alloc(headerBytes + payload.length)
  bytes.writeBigInt64BE(fields.baseOffset ?? 0n, 0)
  bytes.writeInt32BE(fields.batchLength ?? bytes.length - 12, 8)
  bytes.writeInt32BE(fields.partitionLeaderEpoch ?? -1, 12)
  bytes.writeInt8(fields.magic ?? 2, 16)
  bytes.writeInt16BE(fields.attributes ?? 0, 21)
  bytes.writeInt32BE(fields.lastOffsetDelta ?? fields.records.length - 1, 23)
  bytes.writeBigInt64BE(baseTimestamp, 27)
  bytes.writeBigInt64BE(fields.maxTimestamp ?? baseTimestamp + BigInt(latestMs), 35)
  bytes.writeBigInt64BE(fields.producerId ?? -1n, 43)
  bytes.writeInt16BE(fields.producerEpoch ?? -1, 51)
  bytes.writeInt32BE(fields.baseSequence ?? -1, 53)
  bytes.writeInt32BE(fields.recordCount ?? fields.records.length, 57)
  bytes.set(payload, headerBytes)
  bytes.writeUInt32BE(fields.crc ?? crc32c(bytes.subarray(21)), 17)
  return bytes
}

export function encodeRecord(record: BatchRecord, index: number): Buffer {
  const headers = record.headers ?? []
  const body = Buffer.concat([
    Buffer.from([0]),
    varint(record.timestampDelta ?? 0),
    varint(record.offsetDelta ?? index),
    sized(record.key ?? null),
    sized(record.value ?? null),
    varint(headers.length),
    ...headers.flatMap(([name, value]) => [sized(Buffer.from(name)), sized(value)]),
  ])
  return Buffer.concat([varint(body.length), body])
}

export interface DecodedBatch {
  readonly baseOffset: number
  /** Whether or not there is a record there. */
  readonly lastOffset: number
  readonly partitionLeaderEpoch: number
  readonly attributes: number
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly baseTimestampMs: number
  readonly maxTimestampMs: number
  readonly records: readonly DecodedRecord[]
}

export interface DecodedRecord {
  readonly offset: number
  readonly timestampMs: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly (readonly [name: Buffer, value: Buffer | null])[]
}

/** The whole batches at the front of `bytes`, in any codec. Throws on a batch whose CRC is wrong. */
export function decodeBatches(bytes: Uint8Array): DecodedBatch[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const batches: DecodedBatch[] = []
  for (let at = 0; at + headerBytes <= all.length; ) {
    const end = at + 12 + all.readInt32BE(at + 8)
    if (end > all.length) break
    batches.push(decodeBatch(all.subarray(at, end)))
    at = end
  }
  return batches
}

function decodeBatch(bytes: Buffer): DecodedBatch {
  const baseOffset = Number(bytes.readBigInt64BE(0))
  if (bytes.readInt8(16) !== 2) throw new Error(`batch at offset ${baseOffset} has magic ${bytes.readInt8(16)}`)
  if (bytes.readUInt32BE(17) !== crc32c(bytes.subarray(21))) throw new Error(`batch at offset ${baseOffset}: wrong CRC`)
  const attributes = bytes.readInt16BE(21)
  const unpack = unpackers[attributes & 7]
  if (unpack === undefined) throw new Error(`batch at offset ${baseOffset}: codec ${attributes & 7} is not read here`)
  const baseTimestampMs = Number(bytes.readBigInt64BE(27))
  const reader = new VarintReader(unpack(bytes.subarray(headerBytes)), 0)
  const records = Array.from({ length: bytes.readInt32BE(57) }, () => {
    reader.varint() // length
    reader.skip(1) // attributes
    const timestampMs = baseTimestampMs + reader.varint()
    const offset = baseOffset + reader.varint()
    const key = reader.sized()
    const value = reader.sized()
    const headers: [Buffer, Buffer | null][] = []
    for (let left = reader.varint(); left > 0; left--) headers.push([reader.sized() ?? Buffer.alloc(0), reader.sized()])
    return { offset, timestampMs, key, value, headers }
  })
  return {
    baseOffset,
    lastOffset: baseOffset + bytes.readInt32BE(23),
    partitionLeaderEpoch: bytes.readInt32BE(12),
    attributes,
    producerId: bytes.readBigInt64BE(43),
    producerEpoch: bytes.readInt16BE(51),
    baseSequence: bytes.readInt32BE(53),
    baseTimestampMs,
    maxTimestampMs: Number(bytes.readBigInt64BE(35)),
    records,
  }
}

const unpackers: Readonly<Record<number, (payload: Buffer) => Buffer>> = {
  0: (payload) => payload,
  1: (payload) => gunzipSync(payload),
  2: unsnappy,
  3: (payload) => decompressFrameSync(payload),
  4: (payload) => zstdDecompressSync(payload),
}

const javaSnappyMagic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0])

/** One raw block, as librdkafka writes it, or Java's blocks, each with its length, after the magic and two int32 versions. */
function unsnappy(payload: Buffer): Buffer {
  const raw = (block: Buffer) => Buffer.from(uncompressSync(block, { asBuffer: true }))
  if (!payload.subarray(0, javaSnappyMagic.length).equals(javaSnappyMagic)) return raw(payload)
  const blocks: Buffer[] = []
  for (let at = javaSnappyMagic.length + 8; at < payload.length; ) {
    const end = at + 4 + payload.readInt32BE(at)
    blocks.push(raw(payload.subarray(at + 4, end)))
    at = end
  }
  return Buffer.concat(blocks)
}

/** Zigzag varint of up to 64 bits, as Kafka writes lengths and deltas. */
function varint(value: number): Buffer {
  let rest = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n))
  const bytes: number[] = []
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}

function sized(bytes: Buffer | null): Buffer {
  return bytes === null ? varint(-1) : Buffer.concat([varint(bytes.length), bytes])
}

class VarintReader {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  varint(): number {
    let value = 0
    let scale = 1
    for (;;) {
      const byte = this.#bytes.readUInt8(this.#at++)
      value += (byte & 0x7f) * scale
      if (byte < 0x80) break
      scale *= 128
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  skip(count: number): void {
    this.#at += count
  }

  sized(): Buffer | null {
    const length = this.varint()
    if (length < 0) return null
    this.#at += length
    if (this.#at > this.#bytes.length) throw new Error('a record runs past its batch')
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
}
