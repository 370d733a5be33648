import { strict as assert } from 'node:assert'
import { crc32c } from '@pico/binary'
import type { ExtentCut } from '@pico/metadata'
import { entries } from './gather.ts'
import { indexOf, type OpenStream } from './open-stream.ts'
import type { StoredEntries } from './stored-entries.ts'

/** What a fork of a stream can have without a byte being moved (see StreamCatalog.fork). */
export interface SharedBelow {
  /** The last entry boundary at or below the offset asked for. */
  readonly sharedEnd: number
  readonly cut: ExtentCut | null
}

/** All below `offset` is packed. Reads one chunk at most: the one that `offset` lies in. @throws ReadFailedError */
export async function sharedBelow(stream: OpenStream, offset: number, stored: StoredEntries): Promise<SharedBelow> {
  const whole = { sharedEnd: offset, cut: null }
  if (offset <= stream.startOffset) return whole
  const extent = stream.extents[indexOf(stream.extents, offset)]
  if (extent === undefined) {
    assert(stream.extents.at(-1)?.endOffset === offset, 'what is shared has been packed')
    return whole
  }
  if (extent.baseOffset === offset) return whole

  const chunks = await stored.chunksOf(extent)
  const piece = await stored.bytesAt(stream.streamId, [extent], offset)
  let maxTimestampMs = -1
  let beforeBytes = 0
  for (const chunk of chunks) {
    const isBeforeExtent = chunk.position + chunk.lengthBytes <= extent.position
    if (isBeforeExtent || Math.max(chunk.baseOffset, extent.baseOffset) >= piece.baseOffset) continue
    maxTimestampMs = Math.max(maxTimestampMs, chunk.maxTimestampMs)
    beforeBytes = chunk.position + chunk.lengthBytes - extent.position
  }
  let at = 0
  let sharedEnd = piece.baseOffset
  for (const { at: entryAt, header } of entries(stored.format, piece.bytes)) {
    if (header.endOffset > offset) break
    at = entryAt + header.lengthBytes
    sharedEnd = header.endOffset
    maxTimestampMs = Math.max(maxTimestampMs, header.maxTimestampMs)
  }
  const ofWal = extent.crc32c === null ? null : crc32c(piece.bytes.subarray(0, at))
  piece.memory.release()
  const lengthBytes = beforeBytes + at
  if (lengthBytes === 0) return { sharedEnd: extent.baseOffset, cut: null }
  const { baseOffset, objectId, position } = extent
  return {
    sharedEnd,
    cut: { extent: { baseOffset, objectId, position }, lengthBytes, maxTimestampMs, crc32c: ofWal },
  }
}
