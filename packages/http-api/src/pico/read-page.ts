import { setImmediate as nextTurn } from 'node:timers/promises'
import { batches, RecordBatchError, type RecordView, records } from '@pico/record-batch'
import type { PathStream } from '@pico/streams'
import { unavailable } from '../server/http-error.ts'
import { GrowingBytes } from './growing-bytes.ts'
import type { RecordEncoder } from './record-encoders.ts'

export interface PageLimits {
  /** Of keys, headers and bodies; the first record is taken whatever its size. */
  readonly bytesMax: number
  readonly countMax: number
  /** Ends the page where a chunk is full, so that all of it is in `head`. */
  readonly inOneChunk?: boolean
  /** By the client, not by default. */
  readonly isGiven?: boolean
}

/** Some records in a row, as the body of an answer: which they are is known before the first byte is sent. */
export interface Page {
  readonly from: number
  /** Where to read on. */
  readonly next: number
  readonly count: number
  /** The body's beginning; all of it if `encodedTo` is `next`. */
  readonly head: Buffer
  /** Whose records are in `head`: those below. */
  readonly encodedTo: number
}

/** What is encoded at once, about: a reader that is slow holds no more than this. */
const chunkBytes = 128 * 1024
/** What is asked of the log at once. */
const storedBytesMax = 512 * 1024
/** A stored record has a few bytes more than its key, headers and body, and a batch some dozens. */
const storedBytesSlack = 4096
const firstBytes = 1024

/**
 * Finds the page that begins at `from` (which is not below the stream's start), and encodes as much of it as one chunk holds. The
 * rest, if any, is for `restOfPage`. @throws HttpError 410 when retention overtakes it, ReadFailedError
 */
export async function readPage(
  stream: PathStream,
  from: number,
  { bytesMax, countMax, inOneChunk = false }: PageLimits,
  encoder: RecordEncoder,
): Promise<Page> {
  const out = new GrowingBytes(firstBytes)
  encoder.begin(out)
  let next = from
  let encodedTo = from
  let bytesLeft = bytesMax
  let count = 0
  let isFull = false
  while (!isFull) {
    const stored = Math.min(bytesLeft + storedBytesSlack, storedBytesMax)
    const readTo = await visitRecords(stream, next, stored, (record) => {
      const size = payloadBytes(record)
      if (count > 0 && size > bytesLeft) isFull = true
      if (isFull) return false
      if (next === encodedTo && (count === 0 || out.length < chunkBytes)) {
        encoder.record(out, record, count)
        encodedTo = record.offset + 1
      }
      count++
      bytesLeft -= size
      next = record.offset + 1
      isFull = count === countMax || bytesLeft <= 0 || (inOneChunk && out.length >= chunkBytes)
      return !isFull
    })
    if (readTo === null) break
    if (isFull) continue
    // Millions of records may be in memory: others have their turn in between.
    await nextTurn()
    // The last offsets of a batch may have no record.
    if (encodedTo === next) encodedTo = readTo
    next = readTo
  }
  if (encodedTo === next) encoder.end(out)
  const head = out.written()
  encoder.finishHead(head, count)
  return { from, next, count, head, encodedTo }
}

/** What follows `page.head`, in chunks, read anew: between two of them nothing is held. */
export async function* restOfPage(stream: PathStream, page: Page, encoder: RecordEncoder): AsyncGenerator<Buffer> {
  let at = page.encodedTo
  while (at < page.next) {
    const out = new GrowingBytes(chunkBytes + storedBytesSlack)
    const readTo = await visitRecords(stream, at, chunkBytes, (record) => {
      if (record.offset >= page.next) return false
      // Only whether it is the first record of all makes a difference, which it is not.
      encoder.record(out, record, 1)
      at = record.offset + 1
      return out.length < chunkBytes
    })
    if (readTo === null) throw unavailable('the records were removed while they were read')
    if (at < page.next && out.length < chunkBytes) at = readTo
    if (at >= page.next) encoder.end(out)
    yield out.written()
  }
}

/**
 * Calls back with the records from `from` on that one read of the log gives, until one of them is enough. Returns where to read on
 * when none was; null at the tail. A record is lent for the call.
 */
async function visitRecords(
  stream: PathStream,
  from: number,
  storedBytes: number,
  visit: (record: RecordView) => boolean,
): Promise<number | null> {
  const reading = stream.read(from, storedBytes)
  const read = reading instanceof Promise ? await reading : reading
  if (read === 'out-of-range') throw unavailable('the records were removed while they were read')
  if (read === null) return null
  const [first] = read.buffers
  const bytes = first !== undefined && read.buffers.length === 1 ? first : Buffer.concat(read.buffers, read.lengthBytes)
  try {
    for (const batch of batches(bytes)) {
      for (const record of records(batch)) {
        if (record.offset >= from && !visit(record)) return read.endOffset
      }
    }
  } catch (error) {
    if (error instanceof RecordBatchError) throw new DamagedRecordsError(stream.name, from, { cause: error })
    throw error
  } finally {
    read.release() // what was wanted of the records has been encoded
  }
  return read.endOffset
}

function payloadBytes({ key, value, headers }: RecordView): number {
  let size = (key?.length ?? 0) + (value?.length ?? 0)
  for (const header of headers) size += header.key.length + (header.value?.length ?? 0)
  return size
}

/** Stored records that cannot be read: see operational-errors.ts. */
class DamagedRecordsError extends Error {
  readonly code = 'PICO_HTTP_DAMAGED_RECORDS'
  constructor(name: string, from: number, options: { cause: unknown }) {
    super(`the records of ${name} from ${from} on cannot be read`, options)
    this.name = 'DamagedRecordsError'
  }
}
