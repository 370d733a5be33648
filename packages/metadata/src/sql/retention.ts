import type { Kysely } from 'kysely'
import { idChunks } from './chunks.ts'
import { type AgedExtent, trimPoint } from './retention-trim-point.ts'
import type { Schema } from './schema.ts'
import { isAmong, type OwnedStreams } from './stream-owner.ts'

/**
 * Streams whose oldest extent is due, and how far. Only streams that set a limit are looked at (by the partial indexes), each by its
 * first extent alone; all extents are read of those only that are due.
 */
export async function retentionDue(
  db: Kysely<Schema>,
  of: OwnedStreams,
  nowMs: number,
  limit: number,
): Promise<{ streamId: number; trimTo: number }[]> {
  const limited = selectLimited(db, of)
  const byAge = await limited
    .where('streams.retention_ms', 'is not', null)
    .where((eb) =>
      eb('first.aged_from_ms', '<', eb(eb.cast<number>(eb.val(nowMs), 'bigint'), '-', eb.ref('streams.retention_ms'))),
    )
    .limit(limit)
    .execute()
  const bySize = await limited
    .where('streams.retention_bytes', 'is not', null)
    .where((eb) =>
      eb(eb('streams.packed_bytes', '-', eb.ref('first.length_bytes')), '>=', eb.ref('streams.retention_bytes')),
    )
    .limit(limit)
    .execute()

  const streams = new Map([...byAge, ...bySize].map((row) => [row.stream_id, row]))
  const ids = [...streams.keys()].sort((a, b) => a - b).slice(0, limit)
  const extents = await selectAgedExtents(db, ids)
  return ids.flatMap((streamId) => {
    const row = streams.get(streamId)
    if (row === undefined) return []
    const trimTo = trimPoint(
      extents.get(streamId) ?? [],
      { retentionMs: row.retention_ms, retentionBytes: row.retention_bytes },
      nowMs,
    )
    return trimTo === null ? [] : [{ streamId, trimTo }]
  })
}

function selectLimited(db: Kysely<Schema>, of: OwnedStreams) {
  return db
    .selectFrom('streams')
    .innerJoin('extents as first', (join) =>
      join.onRef('first.stream_id', '=', 'streams.stream_id').on((eb) =>
        eb(
          'first.base_offset',
          '=',
          eb
            .selectFrom('extents as any')
            .select(({ fn }) => fn.min('any.base_offset').as('base_offset'))
            .whereRef('any.stream_id', '=', 'streams.stream_id'),
        ),
      ),
    )
    .where(isAmong(of))
    .select(['streams.stream_id', 'streams.retention_ms', 'streams.retention_bytes'])
    .orderBy('streams.stream_id')
}

async function selectAgedExtents(db: Kysely<Schema>, streamIds: readonly number[]): Promise<Map<number, AgedExtent[]>> {
  const extents = new Map<number, AgedExtent[]>()
  for (const chunk of idChunks(streamIds)) {
    const rows = await db
      .selectFrom('extents')
      .select(['stream_id', 'end_offset', 'length_bytes', 'aged_from_ms'])
      .where('stream_id', 'in', chunk)
      .orderBy('stream_id')
      .orderBy('base_offset')
      .execute()
    for (const row of rows) {
      const list = extents.get(row.stream_id) ?? []
      extents.set(row.stream_id, list)
      list.push({ endOffset: row.end_offset, lengthBytes: row.length_bytes, agedFromMs: row.aged_from_ms })
    }
  }
  return extents
}
