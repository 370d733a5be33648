import { type BatchHeader, batchHeaderBytes, writeBatchHeader } from './batch-header.ts'
import { type CompressionCodec, compress } from './compression.ts'
import { RecordBatchError } from './errors.ts'
import { GrowingBytes } from './growing-bytes.ts'
import { noSequence } from './sequence.ts'
import { varintLength, writeVarint } from './varint.ts'

export type BatchBuilderSettings = {
  /** Default `none`. */
  readonly codec?: CompressionCodec
  /** Default 0, which is what a producer sends. */
  readonly baseOffset?: number
  /** Default -1, which is what a producer sends. */
  readonly partitionLeaderEpoch?: number
  /** The producer fields go together; default -1 each: not idempotent. */
  readonly producerId?: number
  readonly producerEpoch?: number
  readonly baseSequence?: number
  readonly isTransactional?: boolean
  readonly isControl?: boolean
  /** About how long the batch will be without compression: spares growing to it. */
  readonly expectedBytes?: number
  /**
   * Where the batch is built if that is enough, at least a header. Without compression the batch is then a view of it, and good until the
   * caller writes to it again.
   */
  readonly memory?: Uint8Array
  /** Makes the batch one of type LogAppendTime with this timestamp, in milliseconds. */
  readonly logAppendTimeMs?: number
}

export type RecordInput = {
  /** Milliseconds; default -1, none. */
  readonly timestamp?: number
  /** A string is written as UTF-8; default null. */
  readonly key?: Uint8Array | string | null
  readonly value?: Uint8Array | string | null
  readonly headers?: readonly RecordHeaderInput[]
}

export type RecordHeaderInput = {
  readonly key: Uint8Array | string
  readonly value: Uint8Array | string | null
}

/**
 * Encodes records into one RecordBatch v2, byte for byte as Kafka's MemoryRecordsBuilder would (compressed bytes may
 * differ: another compressor). Copies what it is given. Good for one batch: nothing can be appended after `build`.
 */
export class BatchBuilder {
  readonly #settings: BatchBuilderSettings
  /** The header's place, then the records so far. */
  readonly #batch: GrowingBytes
  #count = 0
  #baseTimestamp = -1
  #maxTimestamp = -1
  #isBuilt = false

  constructor(settings: BatchBuilderSettings = {}) {
    requireInteger('baseOffset', settings.baseOffset, 0, Number.MAX_SAFE_INTEGER)
    requireInteger('partitionLeaderEpoch', settings.partitionLeaderEpoch, -1, 2 ** 31 - 1)
    requireInteger('producerId', settings.producerId, -1, Number.MAX_SAFE_INTEGER)
    requireInteger('producerEpoch', settings.producerEpoch, -1, 2 ** 15 - 1)
    requireInteger('baseSequence', settings.baseSequence, -1, 2 ** 31 - 1)
    requireInteger('logAppendTimeMs', settings.logAppendTimeMs, 0, Number.MAX_SAFE_INTEGER)
    this.#settings = settings
    const initial = settings.memory ?? Math.max(settings.expectedBytes ?? 1024, batchHeaderBytes)
    this.#batch = new GrowingBytes(initial, batchHeaderBytes)
  }

  get count(): number {
    return this.#count
  }

  /** The batch as it would be without compression. */
  get uncompressedBytes(): number {
    return this.#batch.length
  }

  /** Appends a record, with another timestamp than its own where one is given, and returns its offset. */
  append(record: RecordInput, timestamp = record.timestamp ?? -1): number {
    if (this.#isBuilt) throw outOfRange('a batch that is built takes no more records')
    if (!(Number.isSafeInteger(timestamp) && timestamp >= -1)) throw outOfRange(`timestamp ${timestamp}`)
    if (this.#count === 0) this.#baseTimestamp = timestamp
    const timestampDelta = timestamp - this.#baseTimestamp
    if (Math.abs(timestampDelta) >= 2 ** 52) throw outOfRange(`timestamp ${timestamp} beside ${this.#baseTimestamp}`)

    const key = bytesOf(record.key)
    const value = bytesOf(record.value)
    const headers = headersOf(record)
    let bodyBytes =
      1 +
      varintLength(timestampDelta) +
      varintLength(this.#count) +
      fieldLength(key) +
      fieldLength(value) +
      varintLength(headers.length)
    for (const header of headers) bodyBytes += fieldLength(header.key) + fieldLength(header.value)
    const recordBytes = varintLength(bodyBytes) + bodyBytes
    if (this.#batch.length + recordBytes >= maxBatchBytes) throw outOfRange('a batch of 2 GiB')

    const bytes = this.#batch.reserve(recordBytes)
    let at = writeVarint(bytes, this.#batch.length, bodyBytes)
    bytes[at++] = 0 // attributes
    at = writeVarint(bytes, at, timestampDelta)
    at = writeVarint(bytes, at, this.#count)
    at = writeField(bytes, at, key)
    at = writeField(bytes, at, value)
    at = writeVarint(bytes, at, headers.length)
    for (const header of headers) {
      at = writeField(bytes, at, header.key)
      at = writeField(bytes, at, header.value)
    }
    this.#batch.length = at
    if (timestamp > this.#maxTimestamp) this.#maxTimestamp = timestamp
    return (this.#settings.baseOffset ?? 0) + this.#count++
  }

  /** The finished batch. A batch holds at least one record. */
  build(): Uint8Array {
    if (this.#isBuilt || this.#count === 0) throw outOfRange('a builder builds one batch, of at least one record')
    this.#isBuilt = true
    const codec = this.#settings.codec ?? 'none'
    return sealBatch(this.#batch.written(), codec, this.#header(codec))
  }

  #header(codec: CompressionCodec): BatchHeader {
    const settings = this.#settings
    const { logAppendTimeMs } = settings
    return {
      baseOffset: settings.baseOffset ?? 0,
      partitionLeaderEpoch: settings.partitionLeaderEpoch ?? -1,
      codec,
      timestampType: logAppendTimeMs === undefined ? 'CreateTime' : 'LogAppendTime',
      isTransactional: settings.isTransactional ?? false,
      isControl: settings.isControl ?? false,
      lastOffsetDelta: this.#count - 1,
      baseTimestamp: this.#baseTimestamp,
      maxTimestamp: logAppendTimeMs ?? this.#maxTimestamp,
      producerId: settings.producerId ?? -1,
      producerEpoch: settings.producerEpoch ?? -1,
      baseSequence: settings.baseSequence ?? noSequence,
      count: this.#count,
    }
  }
}

/** The length field is an int32. */
const maxBatchBytes = 2 ** 31

/**
 * Makes a batch of `uncompressed`, which is encoded records behind room for a header: in place without compression,
 * in new memory with it.
 */
export function sealBatch(uncompressed: Uint8Array, codec: CompressionCodec, header: BatchHeader): Uint8Array {
  let batch = uncompressed
  if (codec !== 'none') {
    const compressed = compress(codec, uncompressed.subarray(batchHeaderBytes))
    batch = Buffer.allocUnsafe(batchHeaderBytes + compressed.length)
    batch.set(compressed, batchHeaderBytes)
  }
  writeBatchHeader(batch, header)
  return batch
}

function bytesOf(field: Uint8Array | string | null | undefined): Uint8Array | null {
  return typeof field === 'string' ? Buffer.from(field) : (field ?? null)
}

type HeaderBytes = { readonly key: Uint8Array | null; readonly value: Uint8Array | null }

const noHeaders: readonly HeaderBytes[] = []

function headersOf({ headers }: RecordInput): readonly HeaderBytes[] {
  if (headers === undefined || headers.length === 0) return noHeaders
  return headers.map(({ key, value }) => ({ key: bytesOf(key), value: bytesOf(value) }))
}

function fieldLength(field: Uint8Array | null): number {
  return field === null ? varintLength(-1) : varintLength(field.length) + field.length
}

function writeField(bytes: Uint8Array, at: number, field: Uint8Array | null): number {
  if (field === null) return writeVarint(bytes, at, -1)
  const fieldAt = writeVarint(bytes, at, field.length)
  bytes.set(field, fieldAt)
  return fieldAt + field.length
}

function requireInteger(name: string, value: number | undefined, min: number, max: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return
  throw outOfRange(`${name} ${value}`)
}

function outOfRange(what: string): RecordBatchError {
  return new RecordBatchError('PICO_RECORD_BATCH_OUT_OF_RANGE', `cannot be written: ${what}`)
}
