import assert from 'node:assert/strict'
import type { Transaction } from 'kysely'
import type { NewExtent } from '../log-index.ts'
import type { NodeIdentity } from '../node-registry.ts'
import type { SqlDatabase } from './database.ts'
import { liveNodes } from './node-registry.ts'
import type { Schema } from './schema.ts'
import { lifeNumbers } from './stream-rows.ts'

export interface PackedStream {
  readonly streamId: number
  readonly startOffset: number
  readonly packedOffset: number
}

/**
 * Those streams that entries packed or adopted by `node` may go to. A stream that is gone is not among them, nor one that another
 * live node has opened: what that one appends continues packedOffset too. A stream last owned by a node epoch that is fenced is: its
 * entries are what adopting is for.
 */
export async function selectPlacement(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  node: NodeIdentity,
  streamIds: readonly number[],
): Promise<Map<number, PackedStream>> {
  const streams = new Map<number, PackedStream>()
  let live: NodeIdentity[] | undefined
  const wanted = streamIds.map((stream_id) => ({ stream_id }))
  for (const table of database.integerTables(wanted, ['stream_id'])) {
    const rows = await tx
      .with('wanted(stream_id)', () => table)
      .selectFrom('streams')
      .innerJoin('wanted', 'wanted.stream_id', 'streams.stream_id')
      .select(['streams.stream_id', 'owner_node_id', 'owner_node_epoch', 'start_offset', 'packed_offset'])
      .where('life', '<>', lifeNumbers.gone)
      .execute()
    for (const row of rows) {
      if (row.owner_node_id !== null && row.owner_node_id !== node.nodeId) {
        live ??= await liveNodes(tx)
        if (live.some((it) => it.nodeId === row.owner_node_id && it.nodeEpoch === row.owner_node_epoch)) continue
      }
      streams.set(row.stream_id, {
        streamId: row.stream_id,
        startOffset: row.start_offset,
        packedOffset: row.packed_offset,
      })
    }
  }
  return streams
}

/** Which of a stream's extents are new, and where they leave its packedOffset. What the trim watermark has passed is not kept. */
export function takeExtents(
  stream: PackedStream,
  extents: readonly NewExtent[],
): { taken: NewExtent[]; packedOffset: number } {
  const { streamId, startOffset } = stream
  let { packedOffset } = stream
  const taken: NewExtent[] = []
  for (const extent of extents) {
    assert(
      extent.endOffset > extent.baseOffset,
      `extent [${extent.baseOffset}, ${extent.endOffset}) of stream ${streamId} is empty`,
    )
    if (extent.endOffset <= packedOffset) continue
    // Trimmed entries need not be packed, so a gap is one only above the watermark.
    const follows =
      extent.baseOffset === packedOffset || (packedOffset < extent.baseOffset && extent.baseOffset <= startOffset)
    assert(follows, `extent at ${extent.baseOffset} of stream ${streamId} does not continue ${packedOffset}`)
    packedOffset = extent.endOffset
    if (extent.endOffset > startOffset) taken.push(extent)
  }
  return { taken, packedOffset }
}
