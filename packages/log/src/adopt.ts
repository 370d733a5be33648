import type { NewExtent, NodeIdentity, WalObjectRow, WalSegmentRow } from '@pico/metadata'
import { decodeWalIndex, ObjectMissingError, SegmentDamagedError, scanSegment, type WalRun } from '@pico/storage'
import type { LogComponents } from './log.ts'
import { dropStrays } from './stray-wal.ts'
import { foldStates } from './stream-states.ts'
import { walNodePrefix } from './wal-key.ts'

/** A WAL object or segment that an earlier run left, and what is in it. */
interface LeftUnit {
  readonly key: string
  readonly lengthBytes: number
  readonly row: { readonly walObject: { node: NodeIdentity; sequence: number } } | { readonly walSegment: number }
  /** Positions from the start of the object or segment. */
  readonly runs: readonly WalRun[]
}

export interface AdoptedWal {
  readonly entries: number
  readonly lengthBytes: number
  /** Whose state was carried over what was adopted. */
  readonly statefulStreamIds: readonly number[]
}

/**
 * Takes over what earlier runs of this node left in the WAL, before anything is served, and deletes what they had begun to upload.
 * @throws SegmentDamagedError when acknowledged entries cannot be read back: starting without them would lose them.
 */
export async function adoptLeftWal(components: LogComponents): Promise<AdoptedWal> {
  const { nodeId, nodeEpoch } = components.node
  const adopted = await adoptWalOf(components, { nodeId, nodeEpoch: nodeEpoch - 1 })
  // Nobody writes there but this node, which has not begun to.
  await dropStrays(components, walNodePrefix(nodeId), Number.POSITIVE_INFINITY)
  return adopted
}

/**
 * Takes over what a fenced node epoch and those before it left in the WAL: extents that point into the WAL objects and segments, no byte
 * moved; compaction merges them later. Entries that were packed already are left out by their offsets. @throws SegmentDamagedError
 */
export async function adoptWalOf(components: LogComponents, fenced: NodeIdentity): Promise<AdoptedWal> {
  const { metadata, node, clock } = components
  const isLeft = (row: { readonly node: NodeIdentity }) => row.node.nodeEpoch <= fenced.nodeEpoch
  const objects = (await metadata.log.walObjects(fenced.nodeId)).filter(isLeft)
  const segments = (await metadata.log.walSegments(fenced.nodeId)).filter(isLeft)
  const units = [...objects.map(leftObject), ...(segments.length > 0 ? await leftSegments(components, segments) : [])]
  const totals = { entries: 0, lengthBytes: 0, statefulStreamIds: [] as number[] }
  if (units.length > 0) {
    const streamIds = [...new Set(units.flatMap((unit) => unit.runs.map((run) => run.streamId)))]
    const packed = new Map((await metadata.log.packedOffsets(streamIds)).map((row) => [row.streamId, row.packedOffset]))
    const firstId = await metadata.nodes.reserve('objectId', units.length)
    const extents: NewExtent[] = []
    const summarised: { streamId: number; baseOffset: number; summaries: Uint8Array[] }[] = []
    for (const [i, unit] of units.entries()) {
      for (const run of unit.runs) {
        if (run.baseOffset < (packed.get(run.streamId) ?? Number.POSITIVE_INFINITY)) continue
        const { streamId, baseOffset, endOffset, position, lengthBytes, maxTimestampMs } = run
        extents.push({
          streamId,
          baseOffset,
          endOffset,
          objectId: firstId + i,
          position,
          lengthBytes,
          maxTimestampMs,
          crc32c: run.crc32c,
        })
        summarised.push({ streamId, baseOffset, summaries: run.summary.length > 0 ? [run.summary] : [] })
        totals.entries += endOffset - baseOffset
        totals.lengthBytes += lengthBytes
      }
    }
    extents.sort((a, b) => a.streamId - b.streamId || a.baseOffset - b.baseOffset)
    summarised.sort((a, b) => a.streamId - b.streamId || a.baseOffset - b.baseOffset)
    const states = await foldStates(components, summarised)
    totals.statefulStreamIds = states.map(({ streamId }) => streamId)
    await metadata.log.commitPack(
      node,
      {
        objects: units.map((unit, i) => ({ objectId: firstId + i, key: unit.key, lengthBytes: unit.lengthBytes })),
        extents,
        states,
        walObjects: units.flatMap(({ row }) => ('walObject' in row ? [row.walObject] : [])),
        walSegments: units.flatMap(({ row }) => ('walSegment' in row ? [row.walSegment] : [])),
      },
      clock.nowMs(),
    )
  }
  return totals
}

function leftObject(row: WalObjectRow): LeftUnit {
  return {
    key: row.key,
    lengthBytes: row.lengthBytes,
    row: { walObject: { node: row.node, sequence: row.sequence } },
    runs: decodeWalIndex(row.index),
  }
}

/**
 * Reads the segments, last one first: each one's header says where the segment before it ended, so only the last frame of the last
 * segment can be a tail that was never acknowledged.
 */
async function leftSegments({ wal, onProblem }: LogComponents, rows: readonly WalSegmentRow[]): Promise<LeftUnit[]> {
  const units: LeftUnit[] = []
  const ends = new Map<number, number>()
  for (const row of [...rows].sort((a, b) => b.segmentId - a.segmentId)) {
    const committedBytes = row.committedBytes ?? ends.get(row.segmentId) ?? null
    const runs: WalRun[] = []
    try {
      const scan = await scanSegment((offset, length) => wal.store.get(row.key, { offset, length }), {
        key: row.key,
        identity: { nodeId: row.node.nodeId, nodeEpoch: row.node.nodeEpoch, sequence: row.segmentId },
        sizeBytes: row.sizeBytes,
        committedBytes,
      })
      if (scan.previous !== null) ends.set(scan.previous.sequence, scan.previous.committedBytes)
      if (scan.droppedTail !== null) {
        const problem = `the last frame of segment ${row.key} is not whole, and is dropped as a write that was never acknowledged`
        onProblem?.(problem, new Error(`${scan.droppedTail} at byte ${scan.endBytes}`))
      }
      for (const frame of scan.frames) {
        for (const run of frame.runs) runs.push({ ...run, position: frame.position + run.position })
      }
    } catch (error) {
      if (!(error instanceof ObjectMissingError)) throw error
      // The row comes before the file: a crash in between leaves a row for a file that never was.
      if (committedBytes !== null && committedBytes > 0) {
        throw new SegmentDamagedError(row.key, 0, 'the file is missing, yet frames in it were acknowledged', {
          cause: error,
        })
      }
    }
    units.push({ key: row.key, lengthBytes: row.sizeBytes, row: { walSegment: row.segmentId }, runs })
  }
  return units.reverse()
}
