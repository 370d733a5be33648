import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Audit, KnownObject, LeftoverRows, StreamAudit } from '../audit.ts'
import { idChunks } from './chunks.ts'
import type { SqlDatabase } from './database.ts'
import type { Schema } from './schema.ts'
import { lives } from './stream-rows.ts'

export function sqlAudit(database: SqlDatabase): Audit {
  return {
    objects: ({ after, limit }) =>
      database.read('auditing objects', (db) =>
        selectObjects(
          db,
          (table) => sql`
            select object_key from (
              select object_key from ${sql.table(table)} where object_key > ${after} order by object_key limit ${limit}
            ) as ${sql.table(`some_${table}`)}`,
          limit,
        ),
      ),
    objectsByKey: (keys) =>
      database.read('auditing objects', async (db) => {
        const found: KnownObject[] = []
        for (const chunk of idChunks([...new Set(keys)].sort())) {
          const among = sql.join(chunk)
          const rows = (table: string) => sql`select object_key from ${sql.table(table)} where object_key in (${among})`
          found.push(...(await selectObjects(db, rows, chunk.length)))
        }
        return found
      }),
    streams: (page) => database.read('auditing streams', (db) => selectStreams(db, page)),
    leftovers: (limit) => database.read('auditing leftovers', (db) => selectLeftovers(db, limit)),
  }
}

const tables = ['data_objects', 'wal_objects', 'wal_segments', 'doomed_objects'] as const

interface ObjectRow {
  key: string
  object_id: number | null
  length_bytes: number | null
  counted_extents: number | null
  counted_bytes: number | null
  extents: number
  live_bytes: number
  used_bytes: number
  wal_node_id: number | null
  wal_node_epoch: number | null
  wal_sequence: number | null
  wal_bytes: number | null
  segment_node_id: number | null
  segment_node_epoch: number | null
  segment_id: number | null
  segment_bytes: number | null
  committed_bytes: number | null
  doomed_at_ms: number | null
}

/** @param rows the keys of a table, of those wanted */
async function selectObjects(
  db: Kysely<Schema>,
  rows: (table: (typeof tables)[number]) => RawBuilder<unknown>,
  limit: number,
): Promise<KnownObject[]> {
  const keys = sql.join(tables.map(rows), sql` union `)
  const ofExtents = (value: RawBuilder<unknown>) =>
    sql`(select coalesce(${value}, 0) from extents where extents.object_id = data_objects.object_id)`
  const found = await sql<ObjectRow>`
    select known.object_key as key,
      data_objects.object_id, data_objects.length_bytes,
      data_objects.extent_count as counted_extents, data_objects.live_bytes as counted_bytes,
      ${ofExtents(sql`count(*)`)} as extents, ${ofExtents(sql`sum(length_bytes)`)} as live_bytes,
      ${ofExtents(sql`max(position + length_bytes)`)} as used_bytes,
      wal_objects.node_id as wal_node_id, wal_objects.node_epoch as wal_node_epoch,
      wal_objects.sequence as wal_sequence, wal_objects.length_bytes as wal_bytes,
      wal_segments.node_id as segment_node_id, wal_segments.node_epoch as segment_node_epoch,
      wal_segments.segment_id, wal_segments.size_bytes as segment_bytes, wal_segments.committed_bytes,
      doomed_objects.doomed_at_ms
    from (${keys}) as known
    left join data_objects on data_objects.object_key = known.object_key
    left join wal_objects on wal_objects.object_key = known.object_key
    left join wal_segments on wal_segments.object_key = known.object_key
    left join doomed_objects on doomed_objects.object_key = known.object_key
    order by known.object_key limit ${limit}`.execute(db)
  return found.rows.map(knownObject)
}

function knownObject(row: ObjectRow): KnownObject {
  return { key: row.key, data: dataOf(row), wal: walOf(row), doomedAtMs: row.doomed_at_ms }
}

function dataOf(row: ObjectRow): KnownObject['data'] {
  if (row.object_id === null) return null
  return {
    objectId: row.object_id,
    lengthBytes: row.length_bytes ?? 0,
    counted: { extents: row.counted_extents ?? 0, bytes: row.counted_bytes ?? 0 },
    extents: row.extents,
    liveBytes: row.live_bytes,
    usedBytes: row.used_bytes,
  }
}

function walOf(row: ObjectRow): KnownObject['wal'] {
  if (row.wal_sequence !== null) {
    const node = { nodeId: row.wal_node_id ?? 0, nodeEpoch: row.wal_node_epoch ?? 0 }
    return { kind: 'object', node, sequence: row.wal_sequence, lengthBytes: row.wal_bytes ?? 0 }
  }
  if (row.segment_id === null) return null
  return {
    kind: 'segment',
    node: { nodeId: row.segment_node_id ?? 0, nodeEpoch: row.segment_node_epoch ?? 0 },
    segmentId: row.segment_id,
    sizeBytes: row.segment_bytes ?? 0,
    committedBytes: row.committed_bytes,
  }
}

interface StreamRow {
  stream_id: number
  name: string
  life: number
  start_offset: number
  packed_offset: number
  packed_bytes: number
  extents: number
  extent_bytes: number | null
  base_offset: number | null
  end_offset: number | null
  first_gap: number | null
  first_malformed: number | null
  first_without_object: number | null
  first_outside: number | null
  leader_epochs: number
  states: number
}

async function selectStreams(
  db: Kysely<Schema>,
  { afterStreamId, limit }: { afterStreamId: number; limit: number },
): Promise<StreamAudit[]> {
  const first = (condition: RawBuilder<unknown>) => sql`min(case when ${condition} then listed.base_offset end)`
  const countIn = (table: string) =>
    sql`(select count(*) from ${sql.table(table)} as owned where owned.stream_id = page.stream_id)`
  const { rows } = await sql<StreamRow>`
    with page as (
      select stream_id, name, life, start_offset, packed_offset, packed_bytes
      from streams where stream_id > ${afterStreamId} order by stream_id limit ${limit}
    ), listed as (
      select extents.*, lag(end_offset) over (partition by stream_id order by base_offset) as previous_end
      from extents where stream_id > ${afterStreamId} and stream_id <= (select max(stream_id) from page)
    )
    select page.*, count(listed.base_offset) as extents, sum(listed.length_bytes) as extent_bytes,
      min(listed.base_offset) as base_offset, max(listed.end_offset) as end_offset,
      ${first(sql`listed.base_offset <> listed.previous_end`)} as first_gap,
      ${first(sql`listed.base_offset >= listed.end_offset or listed.position < 0 or listed.length_bytes <= 0`)}
        as first_malformed,
      ${first(sql`data_objects.object_id is null`)} as first_without_object,
      ${first(sql`listed.position + listed.length_bytes > data_objects.length_bytes`)} as first_outside,
      ${countIn('stream_epochs')} as leader_epochs, ${countIn('stream_states')} as states
    from page
    left join listed on listed.stream_id = page.stream_id
    left join data_objects on data_objects.object_id = listed.object_id
    group by page.stream_id, page.name, page.life, page.start_offset, page.packed_offset, page.packed_bytes
    order by page.stream_id`.execute(db)
  return rows.map((row) => ({
    streamId: row.stream_id,
    name: row.name,
    life: lives[row.life] ?? 'gone',
    startOffset: row.start_offset,
    packedOffset: row.packed_offset,
    packedBytes: row.packed_bytes,
    extents: row.extents,
    extentBytes: row.extent_bytes ?? 0,
    baseOffset: row.base_offset,
    endOffset: row.end_offset,
    firstGap: row.first_gap,
    firstMalformed: row.first_malformed,
    firstWithoutObject: row.first_without_object,
    firstOutside: row.first_outside,
    leaderEpochs: row.leader_epochs,
    states: row.states,
  }))
}

/** Foreign keys keep most of them from ever being; whoever restores tables by hand may do without those. */
async function selectLeftovers(db: Kysely<Schema>, limit: number): Promise<LeftoverRows[]> {
  const ofStreams = ['extents', 'stream_epochs', 'stream_states', 'transfers'] as const
  const selects = ofStreams.map(
    (table) => sql`
      select ${sql.lit(table)} as ${sql.ref('table')}, stream_id, count(*) as ${sql.ref('rows')}
      from ${sql.table(table)} as owned
      where not exists (select 1 from streams where streams.stream_id = owned.stream_id)
      group by stream_id`,
  )
  const { rows } = await sql<{ table: LeftoverRows['table']; stream_id: number; rows: number }>`
    ${sql.join(selects, sql` union all `)} limit ${limit}`.execute(db)
  return rows.map((row) => ({ table: row.table, streamId: row.stream_id, rows: row.rows }))
}
