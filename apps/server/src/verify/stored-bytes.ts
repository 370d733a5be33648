import { crc32c } from '@pico/binary'
import type { Extent, WalObjectRow, WalSegmentRow } from '@pico/metadata'
import {
  type Chunk,
  decodeWalFrame,
  ObjectCorruptError,
  ObjectMissingError,
  type ObjectStore,
  readDataObjectIndex,
  type SegmentScan,
  scanSegment,
  WAL_FRAME_HEADER_BYTES,
} from '@pico/storage'

/** Read at once: what verifying keeps in memory, but for a longer chunk or WAL object. */
const spanBytesMax = 8 * 1024 * 1024

/**
 * Reads what extents need of a data object: they lie in the parts of their streams that the footer tells, and all bytes of those chunks
 * match their checksums. Returns how many bytes that was.
 * @throws ObjectCorruptError, and what the readers and `store.get` throw
 */
export async function verifyDataObject(
  store: ObjectStore,
  { key, lengthBytes }: { readonly key: string; readonly lengthBytes: number },
  extents: readonly Extent[],
  signal: AbortSignal,
): Promise<number> {
  const index = await readDataObjectIndex(store, key, lengthBytes, signal)
  const needed = new Map<number, Chunk>()
  for (const extent of extents) {
    const corrupt = (reason: string) => new ObjectCorruptError(key, extent.position, `${reason} ${inWords(extent)}`)
    const slice = index.slice(extent.objectStreamId)
    if (slice === undefined) throw corrupt('the footer has no stream of')
    const endBytes = extent.position + extent.lengthBytes
    const isInside = extent.position >= slice.position && endBytes <= slice.position + slice.lengthBytes
    if (!isInside || extent.endOffset > slice.endOffset) throw corrupt('the footer has nothing where SQL has')
    for (const chunk of slice.chunks) {
      if (chunk.position + chunk.lengthBytes <= extent.position || chunk.position >= endBytes) continue
      // A chunk that begins before the extent holds entries before it, too; and compaction by key may have taken the first ones out.
      const isWithin = chunk.position < extent.position || chunk.baseOffset >= extent.baseOffset
      if (!isWithin || chunk.baseOffset >= extent.endOffset) throw corrupt('the footer has other offsets where SQL has')
      needed.set(chunk.position, chunk)
    }
  }
  return verifyChunks(store, key, [...needed.values()], signal)
}

/** Reads extents that point into a WAL object or segment, each of which has its own checksum. */
export function verifyWalExtents(
  store: ObjectStore,
  key: string,
  extents: readonly Extent[],
  signal: AbortSignal,
): Promise<number> {
  const parts = extents.map((extent) => ({ ...extent, crc32c: extent.crc32c ?? 0 }))
  return verifyChunks(store, key, parts, signal)
}

/** Reads a WAL object whole: a valid frame of that node and epoch, whose index is the row's. */
export async function verifyWalObject(store: ObjectStore, row: WalObjectRow, signal: AbortSignal): Promise<number> {
  const bytes = await store.get(row.key, { offset: 0, length: row.lengthBytes }, { signal })
  const frame = decodeWalFrame(bytes, 0, { position: 0 })
  if ('invalid' in frame) throw new ObjectCorruptError(row.key, 0, frame.invalid)
  const { nodeId, nodeEpoch } = frame.identity
  if (nodeId !== row.node.nodeId || nodeEpoch !== row.node.nodeEpoch) {
    throw new ObjectCorruptError(row.key, 0, `it is of node ${nodeId}, epoch ${nodeEpoch}`)
  }
  if (frame.lengthBytes !== row.lengthBytes) throw new ObjectCorruptError(row.key, 0, 'its frame has another length')
  const indexAt = Math.max(WAL_FRAME_HEADER_BYTES, ...frame.runs.map((run) => run.position + run.lengthBytes))
  if (Buffer.compare(bytes.subarray(indexAt, indexAt + row.index.length), row.index) !== 0) {
    throw new ObjectCorruptError(row.key, indexAt, 'its index is not that of its row')
  }
  return bytes.length
}

/**
 * Reads a segment, frame by frame.
 * @param committedBytes where its last acknowledged frame ends: of its row, or of the header of a later one; null for the last one, which
 * alone may have a tail that was never acknowledged
 */
export async function verifySegment(
  store: ObjectStore,
  row: WalSegmentRow,
  committedBytes: number | null,
  signal: AbortSignal,
): Promise<Pick<SegmentScan, 'endBytes' | 'previous'>> {
  try {
    return await scanSegment((offset, length) => store.get(row.key, { offset, length }, { signal }), {
      key: row.key,
      identity: { ...row.node, sequence: row.segmentId },
      sizeBytes: row.sizeBytes,
      committedBytes,
    })
  } catch (error) {
    // The row comes before the file, and a segment that was never written to is deleted.
    if (error instanceof ObjectMissingError && (committedBytes ?? 0) === 0) return { endBytes: 0, previous: null }
    throw error
  }
}

type Part = Pick<Chunk, 'position' | 'lengthBytes' | 'crc32c'>

/** Parts of an object with a checksum each, in as few reads as memory allows. */
async function verifyChunks(
  store: ObjectStore,
  key: string,
  parts: readonly Part[],
  signal: AbortSignal,
): Promise<number> {
  let verifiedBytes = 0
  for (const span of spans(parts.toSorted((a, b) => a.position - b.position))) {
    const offset = span[0]?.position ?? 0
    const length = Math.max(...span.map((part) => part.position + part.lengthBytes)) - offset
    const bytes = await store.get(key, { offset, length }, { signal })
    for (const part of span) {
      const from = part.position - offset
      if (crc32c(bytes.subarray(from, from + part.lengthBytes)) !== part.crc32c) {
        throw new ObjectCorruptError(key, part.position, 'bytes do not match their checksum')
      }
      verifiedBytes += part.lengthBytes
    }
  }
  return verifiedBytes
}

/** Neighbours together, up to the limit. */
function* spans(parts: readonly Part[]): Generator<Part[]> {
  let span: Part[] = []
  let [from, end] = [0, 0]
  for (const part of parts) {
    const partEnd = part.position + part.lengthBytes
    if (span.length > 0 && (part.position > end || partEnd - from > spanBytesMax)) {
      yield span
      span = []
    }
    if (span.length === 0) [from, end] = [part.position, partEnd]
    span.push(part)
    end = Math.max(end, partEnd)
  }
  if (span.length > 0) yield span
}

function inWords({ streamId, baseOffset, endOffset }: Extent): string {
  return `offsets ${baseOffset} to ${endOffset} of stream id ${streamId}`
}
