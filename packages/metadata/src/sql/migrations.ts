import {
  type ColumnDataType,
  type ColumnDefinitionBuilder,
  type CreateTableBuilder,
  type Kysely,
  type RawBuilder,
  sql,
} from 'kysely'
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration'
import { maxCompactionLagMs } from './compaction-lag-config.ts'
import type { Schema } from './schema.ts'
import { schemas } from './schema-migration.ts'
import { lifeNumbers } from './stream-rows.ts'

/** Where the dialects' table definitions differ. */
export interface SchemaDialect {
  /** Type of a primary key that is one integer. */
  readonly id: ColumnDataType
  readonly bytes: ColumnDataType
  /** Text that compares and sorts by its UTF-8 bytes. */
  readonly text: ColumnDataType | RawBuilder<unknown>
  /** Appended to tables that are best stored in the order of their (composite) primary key. */
  readonly clustered: RawBuilder<unknown> | null
  /** Transactions do not wait for one another by themselves. */
  readonly runsSideBySide: boolean
  /**
   * For a table whose rows are all updated often, in columns without an index: room in its pages, so that an update needs no new index
   * entries, and little of what the database does by itself because of updates.
   */
  readonly updatedOften: ((table: string) => RawBuilder<unknown>) | null
  /** Has the database no longer look up what these columns refer to; null where that costs next to nothing. */
  readonly dropReferences: ((table: string, columns: readonly string[]) => RawBuilder<unknown>) | null
  /** The column in which the database itself says when a row was written, among others. */
  changePosition(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  readonly changePositionType: ColumnDataType | RawBuilder<unknown>
}

/**
 * Brings the tables up to date. Safe when several nodes start at once where the dialect's adapter has a migration lock.
 * @returns Names of the migrations that ran.
 */
export async function migrate(db: Kysely<Schema>, dialect: SchemaDialect): Promise<string[]> {
  const { error, results } = await migrator(db, dialect).migrateToLatest()
  if (error !== undefined) throw error
  return (results ?? []).map((result) => result.migrationName)
}

/** For who only looks: changes nothing. @throws Error when there is anything to bring up to date */
export async function requireMigrated(db: Kysely<Schema>, dialect: SchemaDialect): Promise<void> {
  const migrations = await migrator(db, dialect).getMigrations()
  const missing = migrations.filter((migration) => migration.executedAt === undefined)
  if (missing.length === migrations.length) throw new Error('it has none of our tables')
  if (missing.length > 0) {
    throw new Error('its tables are of an earlier version, and a server of this version has to bring them up to date')
  }
}

function migrator(db: Kysely<Schema>, dialect: SchemaDialect): Migrator {
  const provider: MigrationProvider = {
    getMigrations: async () => ({
      '0001_initial': initial(dialect),
      '0002_path_streams': pathStreams(dialect),
      '0003_wal_attempts': walAttempts,
      '0004_compaction_lag': compactionLag,
      '0005_cluster': cluster(dialect),
      '0006_changes': changes(dialect),
      '0007_room_for_updates': roomForUpdates(dialect),
      '0008_schemas': schemas(dialect),
      '0009_object_turns': objectTurns(dialect),
      '0010_cheap_packs': cheapPacks(dialect),
      '0011_seldom_vacuumed': roomForUpdates(dialect),
    }),
  }
  return new Migrator({ db, provider })
}

function initial(dialect: SchemaDialect): Migration {
  const clustered = <T extends string>(table: CreateTableBuilder<T>) =>
    dialect.clustered === null ? table : table.modifyEnd(dialect.clustered)
  return {
    async up(db) {
      const { text, bytes, id } = dialect
      await db.schema
        .createTable('nodes')
        .addColumn('node_id', 'bigint', (c) => c.notNull())
        .addColumn('node_epoch', 'bigint', (c) => c.notNull())
        .addColumn('fenced', 'integer', (c) => c.notNull())
        .addColumn('addresses', text, (c) => c.notNull())
        .addColumn('slots', 'integer', (c) => c.notNull())
        .addColumn('registered_at_ms', 'bigint', (c) => c.notNull())
        .addColumn('wal_sequence', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('nodes_pk', ['node_id', 'node_epoch'])
        .execute()

      await db.schema
        .createTable('streams')
        .addColumn('stream_id', id, (c) => c.primaryKey())
        .addColumn('name', text, (c) => c.notNull().unique())
        .addColumn('topic', text)
        .addColumn('topic_key', text)
        .addColumn('partition', 'integer', (c) => c.notNull())
        .addColumn('topic_id', text, (c) => c.notNull())
        .addColumn('content_type', text, (c) => c.notNull())
        .addColumn('config', text, (c) => c.notNull())
        .addColumn('created_at_ms', 'bigint', (c) => c.notNull())
        .addColumn('owner_node_id', 'bigint')
        .addColumn('owner_node_epoch', 'bigint')
        .addColumn('leader_epoch', 'bigint', (c) => c.notNull())
        .addColumn('start_offset', 'bigint', (c) => c.notNull())
        .addColumn('packed_offset', 'bigint', (c) => c.notNull())
        .addColumn('packed_bytes', 'bigint', (c) => c.notNull())
        .addColumn('retention_ms', 'bigint')
        .addColumn('retention_bytes', 'bigint')
        .execute()
      // Streams that only HTTP knows have a null topic, and nulls never collide in a unique index.
      await db.schema
        .createIndex('streams_topic_key')
        .on('streams')
        .columns(['topic_key', 'partition'])
        .unique()
        .execute()
      await db.schema.createIndex('streams_topic').on('streams').columns(['topic', 'partition']).unique().execute()
      await db.schema.createIndex('streams_topic_id').on('streams').column('topic_id').execute()
      // Partial indexes: streams without retention cost the retention queries nothing.
      for (const column of ['retention_ms', 'retention_bytes'] as const) {
        await db.schema
          .createIndex(`streams_${column}`)
          .on('streams')
          .column('stream_id')
          .where(sql.ref(column), 'is not', null)
          .execute()
      }

      await clustered(
        db.schema
          .createTable('stream_epochs')
          .addColumn('stream_id', 'bigint', (c) => c.notNull().references('streams.stream_id').onDelete('cascade'))
          .addColumn('leader_epoch', 'bigint', (c) => c.notNull())
          .addColumn('start_offset', 'bigint', (c) => c.notNull())
          .addPrimaryKeyConstraint('stream_epochs_pk', ['stream_id', 'leader_epoch']),
      ).execute()
      await db.schema
        .createTable('stream_states')
        .addColumn('stream_id', id, (c) => c.primaryKey().references('streams.stream_id').onDelete('cascade'))
        .addColumn('state', bytes, (c) => c.notNull())
        .execute()

      await db.schema
        .createTable('wal_objects')
        .addColumn('node_id', 'bigint', (c) => c.notNull())
        .addColumn('node_epoch', 'bigint', (c) => c.notNull())
        .addColumn('sequence', 'bigint', (c) => c.notNull())
        .addColumn('object_key', text, (c) => c.notNull().unique())
        .addColumn('length_bytes', 'bigint', (c) => c.notNull())
        .addColumn('wal_index', bytes, (c) => c.notNull())
        .addPrimaryKeyConstraint('wal_objects_pk', ['node_id', 'node_epoch', 'sequence'])
        .execute()
      await db.schema
        .createTable('wal_segments')
        .addColumn('segment_id', id, (c) => c.primaryKey())
        .addColumn('node_id', 'bigint', (c) => c.notNull())
        .addColumn('node_epoch', 'bigint', (c) => c.notNull())
        .addColumn('object_key', text, (c) => c.notNull().unique())
        .addColumn('size_bytes', 'bigint', (c) => c.notNull())
        .addColumn('committed_bytes', 'bigint')
        .execute()

      await db.schema
        .createTable('data_objects')
        .addColumn('object_id', id, (c) => c.primaryKey())
        .addColumn('object_key', text, (c) => c.notNull().unique())
        .addColumn('length_bytes', 'bigint', (c) => c.notNull())
        .addColumn('live_bytes', 'bigint', (c) => c.notNull())
        .addColumn('extent_count', 'bigint', (c) => c.notNull())
        .execute()
      await db.schema.createIndex('data_objects_live').on('data_objects').columns(['live_bytes', 'object_id']).execute()
      await clustered(
        db.schema
          .createTable('extents')
          .addColumn('stream_id', 'bigint', (c) => c.notNull().references('streams.stream_id'))
          .addColumn('base_offset', 'bigint', (c) => c.notNull())
          .addColumn('end_offset', 'bigint', (c) => c.notNull())
          .addColumn('object_id', 'bigint', (c) => c.notNull().references('data_objects.object_id'))
          .addColumn('position', 'bigint', (c) => c.notNull())
          .addColumn('length_bytes', 'bigint', (c) => c.notNull())
          .addColumn('max_timestamp_ms', 'bigint', (c) => c.notNull())
          .addColumn('aged_from_ms', 'bigint', (c) => c.notNull())
          .addColumn('crc32c', 'bigint')
          .addPrimaryKeyConstraint('extents_pk', ['stream_id', 'base_offset']),
      ).execute()
      await db.schema.createIndex('extents_object').on('extents').column('object_id').execute()

      await db.schema
        .createTable('doomed_objects')
        .addColumn('object_key', text, (c) => c.primaryKey())
        .addColumn('doomed_at_ms', 'bigint', (c) => c.notNull())
        .execute()
      await db.schema.createIndex('doomed_objects_time').on('doomed_objects').column('doomed_at_ms').execute()

      await db.schema
        .createTable('counters')
        .addColumn('name', text, (c) => c.primaryKey())
        .addColumn('next', 'bigint', (c) => c.notNull())
        .execute()
      await db.schema
        .createTable('facts')
        .addColumn('name', text, (c) => c.primaryKey())
        .addColumn('value', text, (c) => c.notNull())
        .execute()
    },
  }
}

/** Streams made by their paths: lives, closing, expiry, forks; and extents of forks, whose bytes carry another stream's id. */
function pathStreams({ text }: SchemaDialect): Migration {
  return {
    async up(db) {
      const columns: readonly [name: string, type: ColumnDataType | RawBuilder<unknown>][] = [
        ['closed_by', text],
        ['expires_at_ms', 'bigint'],
        ['idle_ttl_ms', 'bigint'],
        ['fork_source_id', 'bigint'],
        ['fork_source_name', text],
        ['fork_offset', 'bigint'],
        ['fork_sub_offset', 'bigint'],
      ]
      for (const [name, type] of columns) {
        await db.schema
          .alterTable('streams')
          .addColumn(name, type as ColumnDataType)
          .execute()
      }
      for (const [name, initially] of [
        ['life', 1],
        ['closed', 0],
      ] as const) {
        await db.schema
          .alterTable('streams')
          .addColumn(name, 'integer', (c) => c.notNull().defaultTo(initially))
          .execute()
      }
      await db.schema.alterTable('extents').addColumn('object_stream_id', 'bigint').execute()
      // Partial indexes: streams that never expire, are there, and are no forks, cost nothing.
      await db.schema
        .createIndex('streams_expires_at')
        .on('streams')
        .columns(['expires_at_ms', 'stream_id'])
        .where(sql.ref('expires_at_ms'), 'is not', null)
        .execute()
      await db.schema
        .createIndex('streams_creating')
        .on('streams')
        .column('stream_id')
        .where(sql.ref('life'), '=', sql.lit(0))
        .execute()
      await db.schema
        .createIndex('streams_fork_source')
        .on('streams')
        .column('fork_source_id')
        .where(sql.ref('fork_source_id'), 'is not', null)
        .execute()
    },
  }
}

/** Commits of WAL objects whose answers were lost. */
const walAttempts: Migration = {
  async up(db) {
    await db.schema
      .alterTable('nodes')
      .addColumn('wal_attempt', 'bigint', (c) => c.notNull().defaultTo(0))
      .execute()
  },
}

/** Since when a stream has entries that no compaction by key has looked at, and how long it may. Of what was there before, nobody knows. */
const compactionLag: Migration = {
  async up(db: Kysely<Schema>) {
    await db.schema.alterTable('streams').addColumn('max_compaction_lag_ms', 'bigint').execute()
    await db.schema.alterTable('streams').addColumn('dirty_since_ms', 'bigint').execute()
    await db.updateTable('streams').set({ dirty_since_ms: 0 }).where('packed_offset', '>', 0).execute()
    const limited = await db
      .selectFrom('streams')
      .select(['stream_id', 'config'])
      .where('config', 'like', '%max.compaction.lag.ms%')
      .where('life', '<>', lifeNumbers.gone)
      .execute()
    for (const { stream_id, config } of limited) {
      await db
        .updateTable('streams')
        .set({ max_compaction_lag_ms: maxCompactionLagMs(JSON.parse(config)) })
        .where('stream_id', '=', stream_id)
        .execute()
    }
    // A partial index: streams without a limit cost the search for due ones nothing.
    await db.schema
      .createIndex('streams_max_compaction_lag_ms')
      .on('streams')
      .column('stream_id')
      .where(sql.ref('max_compaction_lag_ms'), 'is not', null)
      .execute()
  },
}

/** Nodes that know of one another: heartbeats, streams by owner, transfers, leases. */
function cluster({ text, id }: SchemaDialect): Migration {
  return {
    async up(db) {
      await db.schema
        .alterTable('nodes')
        .addColumn('heartbeat_at_ms', 'bigint', (c) => c.notNull().defaultTo(0))
        .execute()
      await db.schema
        .createIndex('streams_owner')
        .on('streams')
        .columns(['owner_node_id', 'owner_node_epoch', 'stream_id'])
        .where(sql.ref('owner_node_id'), 'is not', null)
        .execute()
      await db.schema
        .createTable('transfers')
        .addColumn('transfer_id', id, (c) => c.primaryKey())
        .addColumn('stream_id', 'bigint', (c) => c.notNull().references('streams.stream_id').onDelete('cascade'))
        .addColumn('to_node_id', 'bigint', (c) => c.notNull())
        .addColumn('state', 'integer', (c) => c.notNull())
        .addColumn('requested_at_ms', 'bigint', (c) => c.notNull())
        .addColumn('ended_at_ms', 'bigint')
        .execute()
      await db.schema.createIndex('transfers_stream').on('transfers').column('stream_id').execute()
      await db.schema
        .createIndex('transfers_pending')
        .on('transfers')
        .column('stream_id')
        .unique()
        .where(sql.ref('state'), '=', sql.lit(0))
        .execute()
      await db.schema
        .createTable('leases')
        .addColumn('name', text, (c) => c.primaryKey())
        .addColumn('node_id', 'bigint', (c) => c.notNull())
        .addColumn('node_epoch', 'bigint', (c) => c.notNull())
        .addColumn('expires_at_ms', 'bigint', (c) => c.notNull())
        .execute()
    },
  }
}

/** Which topics changed, for those who keep what they have read of them. */
function changes({ text, changePositionType, changePosition }: SchemaDialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('changes')
        .addColumn('position', changePositionType as ColumnDataType, (c) => changePosition(c.notNull()))
        .addColumn('topic_id', text, (c) => c.notNull())
        .addColumn('at_ms', 'bigint', (c) => c.notNull())
        .execute()
      await db.schema.createIndex('changes_position').on('changes').column('position').execute()
    },
  }
}

/** Each pack updates a row of every stream that it holds. */
function roomForUpdates({ updatedOften }: SchemaDialect): Migration {
  return {
    async up(db) {
      await updatedOften?.('streams').execute(db)
    },
  }
}

/**
 * A pack of ten thousand streams spent half of its time in looking up, row by row, that the streams and the object of its extents are
 * there. It has read, updated or inserted the rows of both by then, so that a transaction that takes them away is given up for it, or it
 * for that one. `pico admin verify` looks for what refers to nothing.
 */
function cheapPacks({ updatedOften, dropReferences }: SchemaDialect): Migration {
  return {
    async up(db) {
      await updatedOften?.('streams').execute(db)
      await dropReferences?.('extents', ['stream_id', 'object_id']).execute(db)
    },
  }
}

/** A table that nothing is ever in: it is what a transaction locks that takes its turn (SqlDatabase.takeTurn). */
function objectTurns({ runsSideBySide }: SchemaDialect): Migration {
  return {
    async up(db) {
      if (runsSideBySide) await db.schema.createTable('object_turns').addColumn('turn', 'integer').execute()
    },
  }
}
