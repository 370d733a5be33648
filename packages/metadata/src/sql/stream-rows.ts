import type { Kysely, Selectable } from 'kysely'
import type { StreamFork, StreamLife, StreamRecord } from '../stream-catalog.ts'
import { idChunks } from './chunks.ts'
import type { Schema, StreamsTable } from './schema.ts'

export const streamColumns = [
  'stream_id',
  'name',
  'topic',
  'partition',
  'topic_id',
  'content_type',
  'config',
  'created_at_ms',
  'owner_node_id',
  'owner_node_epoch',
  'leader_epoch',
  'start_offset',
  'packed_offset',
  'packed_bytes',
  'life',
  'closed',
  'closed_by',
  'expires_at_ms',
  'idle_ttl_ms',
  'fork_source_id',
  'fork_source_name',
  'fork_offset',
  'fork_sub_offset',
] as const

export type StreamRow = Pick<Selectable<StreamsTable>, (typeof streamColumns)[number]>

/** By the number that stands for each in the table. */
export const lives: readonly StreamLife[] = ['creating', 'live', 'gone']
export const lifeNumbers = { creating: 0, live: 1, gone: 2 } as const satisfies Record<StreamLife, number>

const noConfig: Readonly<Record<string, string>> = Object.freeze({})

export function streamRecord(row: StreamRow): StreamRecord {
  return {
    streamId: row.stream_id,
    name: row.name,
    topic: row.topic,
    partition: row.partition,
    topicId: row.topic_id,
    contentType: row.content_type,
    config: row.config === '{}' ? noConfig : (JSON.parse(row.config) as Record<string, string>),
    createdAtMs: row.created_at_ms,
    life: lives[row.life] ?? 'gone',
    isClosed: row.closed === 1,
    closedBy: row.closed_by,
    expiresAtMs: row.expires_at_ms,
    idleTtlMs: row.idle_ttl_ms,
    fork: streamFork(row),
    owner:
      row.owner_node_id === null || row.owner_node_epoch === null
        ? null
        : { nodeId: row.owner_node_id, nodeEpoch: row.owner_node_epoch },
    leaderEpoch: row.leader_epoch,
    startOffset: row.start_offset,
    packedOffset: row.packed_offset,
    packedBytes: row.packed_bytes,
  }
}

function streamFork(row: StreamRow): StreamFork | null {
  if (row.fork_source_id === null || row.fork_source_name === null) return null
  return {
    sourceStreamId: row.fork_source_id,
    sourceName: row.fork_source_name,
    offset: row.fork_offset ?? 0,
    subOffset: row.fork_sub_offset ?? 0,
  }
}

/** Rows whose `column` is one of `values`, in no particular order, each once. */
export async function selectStreams<C extends 'stream_id' | 'name' | 'topic' | 'topic_id'>(
  db: Kysely<Schema>,
  column: C,
  values: readonly NonNullable<StreamsTable[C]>[],
): Promise<StreamRow[]> {
  const rows: StreamRow[] = []
  for (const chunk of idChunks([...new Set<string | number>(values)])) {
    rows.push(
      ...(await db
        .selectFrom('streams')
        .select(streamColumns)
        .where(column, 'in', chunk as never)
        .execute()),
    )
  }
  return rows
}
