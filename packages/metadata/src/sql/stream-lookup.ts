import type { Kysely } from 'kysely'
import type { StreamRecord } from '../stream-catalog.ts'
import { idChunks } from './chunks.ts'
import type { Schema } from './schema.ts'
import { type StreamRow, selectStreams, streamColumns, streamRecord } from './stream-rows.ts'

export async function streamsByName(db: Kysely<Schema>, names: readonly string[]): Promise<StreamRecord[]> {
  const rows = new Map((await selectStreams(db, 'name', names)).map((row) => [row.name, row]))
  return inOrder(names, (name) => rows.get(name))
}

export async function streamsById(db: Kysely<Schema>, streamIds: readonly number[]): Promise<StreamRecord[]> {
  const rows = new Map((await selectStreams(db, 'stream_id', streamIds)).map((row) => [row.stream_id, row]))
  return inOrder(streamIds, (streamId) => rows.get(streamId))
}

export async function streamsByTopic(db: Kysely<Schema>, topics: readonly string[]): Promise<StreamRecord[]> {
  const partitions = Map.groupBy(await selectStreams(db, 'topic', topics), (row) => row.topic)
  return inOrder(topics, (topic) => partitions.get(topic)?.sort(byPartition))
}

export async function streamsByTopicId(db: Kysely<Schema>, topicIds: readonly string[]): Promise<StreamRecord[]> {
  const partitions = Map.groupBy(await selectStreams(db, 'topic_id', topicIds), (row) => row.topic_id)
  return inOrder(topicIds, (topicId) => partitions.get(topicId)?.sort(byPartition))
}

export async function listTopics(
  db: Kysely<Schema>,
  page: { after: string | null; limit: number },
): Promise<StreamRecord[]> {
  const rows = await db
    .selectFrom('streams')
    .select(streamColumns)
    .where('topic', page.after === null ? 'is not' : '>', page.after)
    .orderBy('topic')
    .orderBy('partition')
    .limit(page.limit + 1)
    .execute()
  const beyond = rows[page.limit]
  if (beyond === undefined) return rows.map(streamRecord)
  // The row past the page tells whether its last topic is cut; if it is, that topic waits for the next page.
  const whole = rows.slice(0, page.limit)
  while (whole.at(-1)?.topic === beyond.topic) whole.pop()
  if (whole.length > 0 || page.limit === 0) return whole.map(streamRecord)
  // One topic alone is larger than a page: it comes whole, or no page would ever get past it.
  return streamsByTopic(db, beyond.topic === null ? [] : [beyond.topic])
}

export async function listStreams(
  db: Kysely<Schema>,
  page: { prefix: string; after: string | null; limit: number },
): Promise<StreamRecord[]> {
  const rows = await db
    .selectFrom('streams')
    .select(streamColumns)
    .where('name', '>=', page.prefix)
    .$if(page.after !== null, (query) => query.where('name', '>', page.after))
    .orderBy('name')
    .limit(page.limit)
    .execute()
  // In byte order the names with a prefix are consecutive and start at the prefix itself.
  const end = rows.findIndex((row) => !row.name.startsWith(page.prefix))
  return (end === -1 ? rows : rows.slice(0, end)).map(streamRecord)
}

function byPartition(a: StreamRow, b: StreamRow): number {
  return a.partition - b.partition
}

/** What was found, in the order in which it was asked for, each once. */
function inOrder<K>(asked: readonly K[], found: (key: K) => StreamRow | StreamRow[] | undefined): StreamRecord[] {
  return [...new Set(asked)].flatMap((key) => found(key) ?? []).map(streamRecord)
}

export async function packedOffsets(
  db: Kysely<Schema>,
  streamIds: readonly number[],
): Promise<{ streamId: number; packedOffset: number }[]> {
  const found: { streamId: number; packedOffset: number }[] = []
  for (const chunk of idChunks([...new Set(streamIds)])) {
    const rows = await db
      .selectFrom('streams')
      .select(['stream_id', 'packed_offset'])
      .where('stream_id', 'in', chunk)
      .execute()
    for (const row of rows) found.push({ streamId: row.stream_id, packedOffset: row.packed_offset })
  }
  return found
}
