import type { Transaction } from 'kysely'
import { recordTopicChanges } from './changes.ts'
import { maxCompactionLagMs } from './compaction-lag-config.ts'
import type { SqlDatabase } from './database.ts'
import { retentionLimits } from './retention-config.ts'
import type { Schema } from './schema.ts'
import { boundSchema } from './schema-binding-config.ts'
import { requireBoundSchemas } from './schema-bindings.ts'

type Config = Readonly<Record<string, string>>

/** Streams of ours, of which only their owner keeps anything, and which are labelled often. */
const ownPrefix = '/_sys/'

export async function setStreamConfig(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  streamId: number,
  config: Config,
): Promise<boolean> {
  const row = await tx
    .updateTable('streams')
    .set(configColumns(config))
    .where('stream_id', '=', streamId)
    .returning(['name', 'topic_id'])
    .executeTakeFirst()
  if (row === undefined) return false
  await requireBoundSchemas(tx, [config])
  if (!row.name.startsWith(ownPrefix)) await recordTopicChanges(database, tx, [row.topic_id])
  return true
}

/** Partitions of a topic have the same settings, so that comparing them row by row takes all or none. */
export async function setTopicConfig(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  topicId: string,
  { from, to }: { readonly from: Config; readonly to: Config },
): Promise<'set' | 'changed-meanwhile' | 'gone'> {
  const { numUpdatedRows } = await tx
    .updateTable('streams')
    .set(configColumns(to))
    .where('topic_id', '=', topicId)
    .where('config', '=', JSON.stringify(from))
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) {
    await requireBoundSchemas(tx, [to])
    await recordTopicChanges(database, tx, [topicId])
    return 'set'
  }
  const other = await tx.selectFrom('streams').select('stream_id').where('topic_id', '=', topicId).executeTakeFirst()
  return other === undefined ? 'gone' : 'changed-meanwhile'
}

function configColumns(config: Config) {
  const limits = retentionLimits(config)
  const schema = boundSchema(config)
  return {
    config: JSON.stringify(config),
    retention_ms: limits.retentionMs,
    retention_bytes: limits.retentionBytes,
    max_compaction_lag_ms: maxCompactionLagMs(config),
    schema_name: schema?.name ?? null,
    schema_version: schema?.version ?? null,
  }
}
