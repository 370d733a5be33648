import { batches, records } from '@pico/record-batch'
import type { PathStream } from '@pico/streams'
import { jsonMessageOf } from './json-values.ts'
import type { KnownJson } from './known-json.ts'
import { modeOf } from './media-type.ts'
import { recordStart, type StreamPosition } from './offset-token.ts'

/** What one read finds. */
export interface Chunk {
  readonly from: StreamPosition
  /** Where to read on: behind the last of `pieces`. */
  readonly next: StreamPosition
  /** A piece a record: its value, or in a JSON stream its message; of the first one only what `from` does not leave out. */
  readonly pieces: readonly ChunkPiece[]
  /** `next` is the tail. */
  readonly isUpToDate: boolean
  /** And nothing will come after it. */
  readonly isEnd: boolean
}

export interface ChunkPiece {
  readonly offset: number
  /** Bytes of the value that lie before `bytes`. */
  readonly skippedBytes: number
  /** Views, of what is stored or was decompressed. */
  readonly bytes: Uint8Array
}

export interface ChunkReader {
  readonly stream: PathStream
  readonly knownJson: KnownJson
  /** Whole batches, at least one: what a batch decompresses to may be more. */
  readonly maxBytes: number
}

/**
 * `trimmed`: what was there is there no more. `no-position`: past the tail, or in a record past its end. We never gave that out, or we
 * did in an earlier life of the name; to wait there for data would give a reader the middle of something.
 */
export type ChunkMiss = 'trimmed' | 'no-position'

/**
 * 'start' is the earliest that is still there. A chunk reaches past record offset `beyond` if there is something, whatever its size: for who
 * reads something again, together with what follows it.
 */
export async function readChunk(
  reader: ChunkReader,
  at: StreamPosition | 'start',
  beyond = 0,
): Promise<Chunk | ChunkMiss> {
  const { stream, maxBytes } = reader
  const from = at === 'start' ? recordStart(stream.startOffset) : at
  if (from.record < stream.startOffset) return 'trimmed'
  if (from.record > stream.highWatermark) return 'no-position'
  const pieces: ChunkPiece[] = []
  let next = from
  // A read ends where an object does, or what a fork inherits: go on until there is enough, or no more.
  for (let bytesLeft = maxBytes; bytesLeft > 0 || next.record <= beyond; ) {
    const read = await stream.read(next.record, Math.max(bytesLeft, 1))
    if (read === null) break
    if (read === 'out-of-range') {
      // A trim has overtaken the read: from its beginning on there is always something to read.
      if (pieces.length > 0) break
      return at === 'start' ? readChunk(reader, 'start') : 'trimmed'
    }
    if (!takePieces(reader, read, next, pieces)) return 'no-position'
    next = recordStart(read.endOffset)
    bytesLeft -= read.lengthBytes
  }
  return next.byte === 0 ? chunkOf(stream, from, next, pieces) : 'no-position'
}

/** Nothing, at the tail. */
export function emptyChunk(stream: PathStream): Chunk {
  const tail = recordStart(stream.highWatermark)
  return chunkOf(stream, tail, tail, [])
}

function chunkOf(stream: PathStream, from: StreamPosition, next: StreamPosition, pieces: ChunkPiece[]): Chunk {
  const isUpToDate = next.record >= stream.highWatermark
  return { from, next, pieces, isUpToDate, isEnd: isUpToDate && stream.closed }
}

/** What is at and after `from`. False when the first record has no byte there. */
function takePieces(reader: ChunkReader, read: StoredBatches, from: StreamPosition, pieces: ChunkPiece[]): boolean {
  const { stream, knownJson } = reader
  const isJsonStream = modeOf(stream.contentType) === 'json'
  const { buffers, endOffset } = read
  const [buffer] = buffers
  const bytes = buffers.length === 1 && buffer !== undefined ? buffer : Buffer.concat(buffers)
  let areAllJson = true
  for (const batch of batches(bytes)) {
    for (const { offset, value } of records(batch)) {
      if (offset < from.record || offset >= endOffset) continue
      const skippedBytes = offset === from.record ? from.byte : 0
      if (skippedBytes > 0 && (isJsonStream || skippedBytes >= (value?.length ?? 0))) return false
      let piece = value?.subarray(skippedBytes) ?? noBytes
      if (isJsonStream && !knownJson.has(stream, offset)) {
        piece = jsonMessageOf(value)
        areAllJson &&= piece === value
      }
      pieces.push({ offset, skippedBytes, bytes: piece })
    }
  }
  if (isJsonStream && areAllJson) knownJson.add(stream, from.record, endOffset)
  return true
}

interface StoredBatches {
  readonly buffers: readonly Uint8Array[]
  readonly endOffset: number
}

const noBytes = new Uint8Array(0)
