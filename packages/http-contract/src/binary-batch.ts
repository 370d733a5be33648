import { headersPerAppendMax, recordsPerAppendMax } from './append-limits.ts'
import type { AppendRecord, ReadRecord, RecordHeaderBytes } from './records.ts'

/*
 * `application/vnd.picomq.batch`, big-endian.
 *
 *   batch    u8 version, u32 count, then as many records
 *   record 1 u32 headers, (u32 length, name, u32 length, value)*, u32 length, body
 *   record 2 i64 timestamp, i32 length, key, u32 headers, (u32 length, name, i32 length, value)*, i32 length, body
 *
 * A record that is read begins with `u64 seq`, and in version 1 with `i64 timestamp` after it. Version 1 has neither keys nor nulls:
 * read with it, a key is left out and a null is empty. In version 2 a length of -1 is null, and a timestamp of -1 is none.
 */

export type BinaryBatchVersion = 1 | 2

export const binaryBatchHeaderBytes = 5

export type AppendBatchOutcome =
  | { readonly records: AppendRecord[]; readonly problem?: never }
  /** `isTooMuch`: nothing is wrong with it but that it holds more than an append may. */
  | { readonly records?: never; readonly problem: string; readonly isTooMuch?: boolean }

export type ReadBatchOutcome =
  | { readonly records: ReadRecord[]; readonly problem?: never }
  | { readonly records?: never; readonly problem: string }

/** The records of a request's body: views of it. */
export function decodeAppendBatch(bytes: Uint8Array): AppendBatchOutcome {
  let headers = 0
  return decodeBatch(bytes, 0, (fields, version, count) => {
    if (count > recordsPerAppendMax) throw new TooMuch(`${count} records, ${recordsPerAppendMax} are allowed`)
    const timestamp = version === 1 ? -1 : fields.timestamp()
    const record = fields.record(version, headersPerAppendMax - headers)
    headers += record.headers.length
    return timestamp < 0 ? record : { timestamp, ...record }
  })
}

/** The records of an answer's body: views of it. */
export function decodeReadBatch(bytes: Uint8Array): ReadBatchOutcome {
  return decodeBatch(bytes, 8, (fields, version) => {
    const seq = fields.seq()
    const timestamp = fields.timestamp()
    return { seq, timestamp, ...fields.record(version) }
  })
}

/** In version 1 where that can say all there is to say, else in version 2. */
export function encodeAppendBatch(records: readonly AppendRecord[]): Uint8Array {
  const version = records.every(isOfVersion1) ? 1 : 2
  let lengthBytes = binaryBatchHeaderBytes
  for (const record of records) lengthBytes += recordBytes(record, version) + (version === 2 ? 8 : 0)
  const bytes = new Uint8Array(lengthBytes)
  const view = viewOf(bytes)
  let at = writeBatchHeader(bytes, 0, version, records.length)
  for (const record of records) {
    if (version === 2) {
      view.setBigInt64(at, BigInt(record.timestamp ?? -1))
      at += 8
    }
    at = writeFields(bytes, view, at, record, version)
  }
  return bytes
}

export function encodeReadBatch(records: readonly ReadRecord[], version: BinaryBatchVersion): Uint8Array {
  let lengthBytes = binaryBatchHeaderBytes
  for (const record of records) lengthBytes += readRecordBytes(record, version)
  const bytes = new Uint8Array(lengthBytes)
  const view = viewOf(bytes)
  let at = writeBatchHeader(bytes, 0, version, records.length)
  for (const record of records) at = writeReadRecord(bytes, view, at, record, version)
  return bytes
}

/** Returns where the first record goes. */
export function writeBatchHeader(bytes: Uint8Array, at: number, version: BinaryBatchVersion, count: number): number {
  bytes[at] = version
  viewOf(bytes).setUint32(at + 1, count)
  return at + binaryBatchHeaderBytes
}

/** What `writeReadRecord` takes. */
export function readRecordBytes(record: ReadRecord, version: BinaryBatchVersion): number {
  return 16 + recordBytes(record, version)
}

/** `view` is over `bytes`. Returns where the next record goes. */
export function writeReadRecord(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  record: ReadRecord,
  version: BinaryBatchVersion,
): number {
  view.setBigUint64(at, BigInt(record.seq))
  view.setBigInt64(at + 8, BigInt(record.timestamp))
  return writeFields(bytes, view, at + 16, record, version)
}

/** A view of the same bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function isOfVersion1(record: AppendRecord): boolean {
  if (record.timestamp !== undefined || record.key !== null || record.value === null) return false
  return record.headers.every(({ value }) => value !== null)
}

function recordBytes({ key, value, headers }: AppendRecord, version: BinaryBatchVersion): number {
  let lengthBytes = 8 + (value?.length ?? 0)
  if (version === 2) lengthBytes += 4 + (key?.length ?? 0)
  for (const header of headers) lengthBytes += 8 + header.key.length + (header.value?.length ?? 0)
  return lengthBytes
}

function writeFields(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  { key, value, headers }: AppendRecord,
  version: BinaryBatchVersion,
): number {
  let at = version === 2 ? writeNullable(bytes, view, start, key, version) : start
  view.setUint32(at, headers.length)
  at += 4
  for (const header of headers) {
    at = writeNullable(bytes, view, at, header.key, version)
    at = writeNullable(bytes, view, at, header.value, version)
  }
  return writeNullable(bytes, view, at, value, version)
}

function writeNullable(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  field: Uint8Array | null,
  version: BinaryBatchVersion,
): number {
  if (field === null) {
    view.setInt32(at, version === 2 ? -1 : 0)
    return at + 4
  }
  view.setUint32(at, field.length)
  bytes.set(field, at + 4)
  return at + 4 + field.length
}

/** What is wrong with bytes that are being decoded; caught where the decoding began. */
class BatchProblem extends Error {}
class TooMuch extends BatchProblem {}

function decodeBatch<R>(
  bytes: Uint8Array,
  readBytes: 0 | 8,
  decodeRecord: (fields: BatchFields, version: BinaryBatchVersion, count: number) => R,
): { records: R[]; problem?: never } | { records?: never; problem: string; isTooMuch?: boolean } {
  const fields = new BatchFields(bytes)
  try {
    const version = fields.version()
    // What a record takes at least: so a count can make us allocate no more than the bytes that came with it.
    const count = fields.count(readBytes + (version === 1 ? 8 + readBytes : 20), 'records')
    const records: R[] = []
    for (let i = 0; i < count; i++) records.push(decodeRecord(fields, version, count))
    fields.end()
    return { records }
  } catch (error) {
    if (error instanceof TooMuch) return { problem: error.message, isTooMuch: true }
    if (error instanceof BatchProblem) return { problem: error.message }
    throw error
  }
}

class BatchFields {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
  }

  version(): BinaryBatchVersion {
    const version = this.#view.byteLength === 0 ? undefined : this.#view.getUint8(this.#move(1))
    if (version !== 1 && version !== 2)
      throw new BatchProblem(`batch version ${version ?? 'missing'} is neither 1 nor 2`)
    return version
  }

  count(itemBytesMin: number, what: string): number {
    const count = this.#view.getUint32(this.#move(4))
    const left = this.#bytes.length - this.#at
    if (count * itemBytesMin > left)
      throw new BatchProblem(`${count} ${what} do not fit in the ${left} bytes that follow`)
    return count
  }

  seq(): number {
    const seq = Number(this.#view.getBigUint64(this.#move(8)))
    if (!Number.isSafeInteger(seq)) throw new BatchProblem('a sequence number beyond 2^53 - 1')
    return seq
  }

  timestamp(): number {
    const timestamp = Number(this.#view.getBigInt64(this.#move(8)))
    if (!(Number.isSafeInteger(timestamp) && timestamp >= -1)) throw new BatchProblem(`timestamp ${timestamp}`)
    return timestamp
  }

  record(version: BinaryBatchVersion, headersMax = Number.POSITIVE_INFINITY): AppendRecord {
    const key = version === 1 ? null : this.#nullable(version)
    const headerCount = this.count(8, 'headers')
    if (headerCount > headersMax) throw new TooMuch(`more than ${headersPerAppendMax} headers`)
    const headers: RecordHeaderBytes[] = headerCount === 0 ? noHeaders : []
    for (let i = 0; i < headerCount; i++) headers.push({ key: this.#bytesField(), value: this.#nullable(version) })
    return { key, value: this.#nullable(version), headers }
  }

  end(): void {
    const left = this.#bytes.length - this.#at
    if (left > 0) throw new BatchProblem(`${left} bytes follow the last record`)
  }

  #bytesField(): Uint8Array {
    return this.#take(this.#view.getUint32(this.#move(4)))
  }

  #nullable(version: BinaryBatchVersion): Uint8Array | null {
    if (version === 1) return this.#bytesField()
    const length = this.#view.getInt32(this.#move(4))
    if (length === -1) return null
    if (length < 0) throw new BatchProblem(`a length of ${length}`)
    return this.#take(length)
  }

  #take(length: number): Uint8Array {
    const at = this.#move(length)
    return this.#bytes.subarray(at, at + length)
  }

  #move(length: number): number {
    const at = this.#at
    const left = this.#bytes.length - at
    if (length > left) throw new BatchProblem(`a field of ${length} bytes where ${left} are left`)
    this.#at = at + length
    return at
  }
}

const noHeaders: RecordHeaderBytes[] = []
Object.freeze(noHeaders)
