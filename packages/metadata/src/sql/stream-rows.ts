import type { Kysely, Selectable } from 'kysely'
import type { StreamRecord } from '../stream-catalog.ts'
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
] as const

export type StreamRow = Pick<Selectable<StreamsTable>, (typeof streamColumns)[number]>

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
    owner:
      row.owner_node_id === null || row.owner_node_epoch === null
        ? null
        : { nodeId: row.owner_node_id, nodeEpoch: row.owner_node_epoch },
    leaderEpoch: row.leader_epoch,
    startOffset: row.start_offset,
    packedOffset: row.packed_offset,
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
