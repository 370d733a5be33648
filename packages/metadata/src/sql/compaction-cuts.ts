import assert from 'node:assert/strict'
import type { Compaction, NewExtent } from '../log-index.ts'

export interface ReplacedExtent {
  readonly streamId: number
  readonly baseOffset: number
  readonly endOffset: number
  readonly objectId: number
  readonly lengthBytes: number
  readonly maxTimestampMs: number
  readonly agedFromMs: number
}

/**
 * What is left of a compaction's extents, given what is still there (`current`) of those it replaces: reading and writing the bytes
 * took time, in which streams went, or were trimmed. `replaced` are the ones of `current` that `merged` stands for; what no new extent
 * covers (a WAL object that has been adopted further meanwhile) stays as it is, and keeps its object alive.
 */
export function mergeExtents(
  compaction: Compaction,
  current: readonly ReplacedExtent[],
): { merged: (NewExtent & { agedFromMs: number })[]; replaced: ReplacedExtent[] } {
  const byStream = Map.groupBy(current, (extent) => extent.streamId)
  const merged: (NewExtent & { agedFromMs: number })[] = []
  const replaced: ReplacedExtent[] = []
  for (const extent of compaction.extents) {
    const run = (byStream.get(extent.streamId) ?? [])
      .filter((it) => it.baseOffset >= extent.baseOffset && it.baseOffset < extent.endOffset)
      .sort((a, b) => a.baseOffset - b.baseOffset)
    const first = run[0]
    if (first === undefined) continue
    const cut = extent.cuts.find((it) => it.baseOffset === first.baseOffset)
    assert(cut !== undefined, `extent at ${first.baseOffset} of stream ${extent.streamId} is not among the cuts`)
    assertCovers(extent, run)
    assert(extent.position + extent.lengthBytes <= compaction.object.lengthBytes, 'extent ends outside the new object')
    const lengthBytes = extent.position + extent.lengthBytes - cut.position
    assert.equal(
      lengthBytes,
      run.reduce((sum, it) => sum + it.lengthBytes, 0),
      `the bytes of stream ${extent.streamId} from ${cut.baseOffset} on are not those they replace`,
    )
    const maxTimestampMs = Math.max(...run.map((it) => it.maxTimestampMs))
    merged.push({
      streamId: extent.streamId,
      baseOffset: cut.baseOffset,
      endOffset: extent.endOffset,
      objectId: compaction.object.objectId,
      position: cut.position,
      lengthBytes,
      maxTimestampMs,
      crc32c: cut.baseOffset === extent.baseOffset ? extent.crc32c : null,
      agedFromMs: Math.max(...run.map((it) => it.agedFromMs)),
    })
    replaced.push(...run)
  }
  return { merged, replaced }
}

/** Trims take whole extents off the front, so what is left is consecutive and ends where the new extent does. */
function assertCovers(extent: Compaction['extents'][number], run: readonly ReplacedExtent[]): void {
  let next = run[0]?.baseOffset
  for (const { baseOffset, endOffset } of run) {
    assert.equal(baseOffset, next, `replaced extents of stream ${extent.streamId} are not consecutive at ${next}`)
    next = endOffset
  }
  assert.equal(next, extent.endOffset, `new extent of stream ${extent.streamId} ends elsewhere than what it replaces`)
}
