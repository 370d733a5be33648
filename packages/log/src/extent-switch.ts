import { strict as assert } from 'node:assert'
import type { Compaction, Extent, NewObject } from '@pico/metadata'
import type { OpenStream } from './open-stream.ts'

type MergedExtent = Compaction['extents'][number]

/**
 * An open stream after a pack. Where the answer to the pack's commit was late, a merge may have found what it packed, and have been
 * switched to: that covers it.
 */
export function addPacked(stream: OpenStream, packed: Extent): void {
  const packedEnd = stream.extents.at(-1)?.endOffset ?? 0
  if (packedEnd >= packed.endOffset) return
  // Pushed to an empty array, the first one would make room for sixteen more.
  if (stream.extents.length === 0) stream.extents = [packed]
  else stream.extents.push(packed)
}

/**
 * An open stream after a merge, as SQL has it by now (LogIndex.commitCompaction): what a trim took away meanwhile is not in the merged
 * extent either, and a stream that was opened since the commit has it already. Extents that memory still has in that place, though the
 * merge did not replace them, were replaced before by a merge on another node that this one has not heard of: they go, too.
 */
export function switchToMerged(
  stream: OpenStream,
  merged: readonly MergedExtent[],
  { object, replaced }: { readonly object: NewObject; readonly replaced: ReadonlySet<number> },
): void {
  for (const extent of merged) {
    const isReplaced = ({ objectId, baseOffset }: Extent) =>
      replaced.has(objectId) && baseOffset >= extent.baseOffset && baseOffset < extent.endOffset
    const first = stream.extents.find(isReplaced)
    if (first === undefined) continue
    const cut = extent.cuts.find(({ baseOffset }) => baseOffset === first.baseOffset)
    assert(cut !== undefined, 'a merged extent can begin where one of those begins that it replaces')
    const { streamId, endOffset, maxTimestampMs, crc32c } = extent
    const lengthBytes = extent.position + extent.lengthBytes - cut.position
    const { baseOffset, position } = cut
    const place = { objectId: object.objectId, objectKey: object.key, objectBytes: object.lengthBytes, position }
    const isThere = (each: Extent) => each.baseOffset >= baseOffset && each.endOffset <= endOffset
    switchExtents(stream, isThere, {
      ...{ streamId, baseOffset, endOffset, lengthBytes, maxTimestampMs, crc32c, objectStreamId: streamId },
      ...place,
    })
  }
}

/** Puts `added` in the place of some extents. */
export function switchExtents(stream: OpenStream, isReplaced: (extent: Extent) => boolean, added: Extent): void {
  const kept = stream.extents.filter((extent) => !isReplaced(extent))
  stream.extents = [...kept, added].sort((a, b) => a.baseOffset - b.baseOffset)
}

/**
 * An open stream as SQL has it (`read`), which for whatever reason is not what memory says. What has been packed since it was read, and
 * what a pack has committed but not switched over to yet, is left as it is.
 */
export function switchToRead(stream: OpenStream, read: readonly Extent[]): void {
  const packedEnd = stream.extents.at(-1)?.endOffset
  if (packedEnd === undefined) return
  const current = read.filter(({ endOffset }) => endOffset > stream.startOffset && endOffset <= packedEnd)
  if (current.at(-1)?.endOffset === packedEnd) stream.extents = current
}
