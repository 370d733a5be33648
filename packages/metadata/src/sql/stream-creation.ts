import assert from 'node:assert/strict'
import type { Transaction } from 'kysely'
import { StreamExistsError, TopicCollisionError } from '../errors.ts'
import type { NewStream, StreamRecord } from '../stream-catalog.ts'
import { recordTopicChanges } from './changes.ts'
import { idChunks, rowChunks } from './chunks.ts'
import { maxCompactionLagMs } from './compaction-lag-config.ts'
import { reserveNumbers } from './counters.ts'
import type { SqlDatabase } from './database.ts'
import { retentionLimits } from './retention-config.ts'
import type { Schema } from './schema.ts'
import { boundSchema } from './schema-binding-config.ts'
import { requireBoundSchemas } from './schema-bindings.ts'
import { lifeNumbers } from './stream-rows.ts'

export async function createStreams(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  streams: readonly NewStream[],
  nowMs: number,
): Promise<StreamRecord[]> {
  if (streams.length === 0) return []
  const { knownTopicIds } = await refuseTaken(tx, streams)
  await requireBoundSchemas(
    tx,
    streams.map((stream) => stream.config),
  )
  const firstId = await reserveNumbers(tx, 'streamId', streams.length)
  const records = streams.map((stream, index) => newRecord(stream, firstId + index, nowMs))
  for (const chunk of rowChunks(records)) await tx.insertInto('streams').values(chunk.map(newRow)).execute()
  await recordTopicChanges(
    database,
    tx,
    streams.flatMap(({ topicId }) => (knownTopicIds.has(topicId) ? [topicId] : [])),
  )
  return records
}

/** Kafka names metrics after topics with `.` as `_`, so topics that are equal after that collide. */
function topicKey(topic: string): string {
  return topic.replaceAll('.', '_')
}

/** @returns Ids of topics that the streams collide with or belong to, and that were there before. */
export async function refuseTaken(
  tx: Transaction<Schema>,
  streams: readonly NewStream[],
): Promise<{ knownTopicIds: ReadonlySet<string> }> {
  const names = new Set<string>()
  for (const chunk of idChunks(streams.map((stream) => stream.name))) {
    const rows = await tx.selectFrom('streams').select('name').where('name', 'in', chunk).execute()
    for (const row of rows) names.add(row.name)
  }

  const topics = new Map<string, { topic: string; topicId: string; partitions: Set<number> }>()
  const keys = new Set(streams.flatMap((stream) => (stream.topic === null ? [] : [topicKey(stream.topic)])))
  const claim = (stream: { topic: string; topicId: string; partition: number }) => {
    const key = topicKey(stream.topic)
    const holder = topics.get(key) ?? { topic: stream.topic, topicId: stream.topicId, partitions: new Set() }
    topics.set(key, holder)
    holder.partitions.add(stream.partition)
  }
  for (const chunk of idChunks([...keys])) {
    const rows = await tx
      .selectFrom('streams')
      .select(['topic', 'topic_id', 'partition'])
      .where('topic_key', 'in', chunk)
      .execute()
    for (const { topic, topic_id, partition } of rows) {
      if (topic !== null) claim({ topic, topicId: topic_id, partition })
    }
  }
  const knownTopicIds = new Set([...topics.values()].map(({ topicId }) => topicId))

  for (const { name, topic, topicId, partition } of streams) {
    if (names.has(name)) throw new StreamExistsError(name)
    names.add(name)
    if (topic === null) continue
    const holder = topics.get(topicKey(topic))
    if (holder !== undefined) {
      if (holder.topic !== topic) throw new TopicCollisionError(topic, holder.topic)
      if (holder.partitions.has(partition)) throw new StreamExistsError(name)
      assert.equal(topicId, holder.topicId, `partitions of topic ${topic} have one topic id`)
    }
    claim({ topic, topicId, partition })
  }
  return { knownTopicIds }
}

export function newRecord(stream: NewStream, streamId: number, nowMs: number): StreamRecord {
  const { name, topic, partition, topicId, contentType, config } = stream
  const { life = 'live', isClosed = false, expiresAtMs = null, idleTtlMs = null } = stream
  const lifecycle = { life, isClosed, closedBy: null, expiresAtMs, idleTtlMs, fork: null }
  const log = { owner: null, leaderEpoch: 0, startOffset: 0, packedOffset: 0, packedBytes: 0 }
  return { streamId, name, topic, partition, topicId, contentType, config, createdAtMs: nowMs, ...lifecycle, ...log }
}

export function newRow(record: StreamRecord) {
  const limits = retentionLimits(record.config)
  const schema = boundSchema(record.config)
  return {
    stream_id: record.streamId,
    name: record.name,
    topic: record.topic,
    topic_key: record.topic === null ? null : topicKey(record.topic),
    partition: record.partition,
    topic_id: record.topicId,
    content_type: record.contentType,
    config: JSON.stringify(record.config),
    created_at_ms: record.createdAtMs,
    owner_node_id: record.owner?.nodeId ?? null,
    owner_node_epoch: record.owner?.nodeEpoch ?? null,
    leader_epoch: record.leaderEpoch,
    start_offset: record.startOffset,
    packed_offset: record.packedOffset,
    packed_bytes: record.packedBytes,
    life: lifeNumbers[record.life],
    closed: record.isClosed ? 1 : 0,
    closed_by: record.closedBy,
    expires_at_ms: record.expiresAtMs,
    idle_ttl_ms: record.idleTtlMs,
    fork_source_id: record.fork?.sourceStreamId ?? null,
    fork_source_name: record.fork?.sourceName ?? null,
    fork_offset: record.fork?.offset ?? null,
    fork_sub_offset: record.fork?.subOffset ?? null,
    retention_ms: limits.retentionMs,
    retention_bytes: limits.retentionBytes,
    max_compaction_lag_ms: maxCompactionLagMs(record.config),
    dirty_since_ms: null,
    schema_name: schema?.name ?? null,
    schema_version: schema?.version ?? null,
  }
}
