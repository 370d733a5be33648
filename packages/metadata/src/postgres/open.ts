import { Kysely, PostgresDialect, sql } from 'kysely'
import { MetadataUnavailableError } from '../errors.ts'
import type { Metadata } from '../metadata.ts'
import { migrate, requireMigrated, type SchemaDialect } from '../sql/migrations.ts'
import type { Schema } from '../sql/schema.ts'
import { sqlMetadata } from '../sql/sql-metadata.ts'
import { ChangeListener } from './change-listener.ts'
import { clientConfig, defaultPoolSettings, openPool, type PoolSettings } from './pool.ts'
import { channelExpression, PostgresChangeLog } from './postgres-change-log.ts'
import { defaultRetrySettings, PostgresDatabase, type RetrySettings } from './postgres-database.ts'

export interface PostgresMetadataSettings extends Partial<PoolSettings>, Partial<RetrySettings> {
  /** `postgres://user:password@host:port/database`; whatever else libpq understands after `?`. */
  readonly url: string
  /** Called with the text of every statement before it is sent, transaction control included: each is a round trip. */
  readonly onStatement?: (sql: string) => void
  /** Refuses tables that are not there, or not up to date, rather than making or changing them. */
  readonly asItIs?: boolean
}

export const postgresSchemaDialect: SchemaDialect = {
  id: 'bigint',
  bytes: 'bytea',
  text: sql`text collate "C"`,
  clustered: null,
  runsSideBySide: true,
  // One transaction may update every row of a page, and none of the old ones makes room before it has ended. The next one that comes by
  // clears them away, so that vacuuming for them finds nothing to do; and what statistics say of the rows has hardly changed.
  updatedOften: (table) =>
    sql`alter table ${sql.table(table)} set
      (fillfactor = 45, autovacuum_vacuum_scale_factor = 1, autovacuum_analyze_scale_factor = 4)`,
  dropReferences: (table, columns) => {
    const constraints = columns.map((column) => sql`drop constraint ${sql.ref(`${table}_${column}_fkey`)}`)
    return sql`alter table ${sql.table(table)} ${sql.join(constraints)}`
  },
  changePositionType: sql`xid8`,
  changePosition: (column) => column.defaultTo(sql`pg_current_xact_id()`),
}

/**
 * Opens the metadata that any number of processes share, and brings its tables up to date, one process at a time.
 * @throws MetadataUnavailableError when the database cannot be reached or used
 */
export async function openPostgresMetadata(settings: PostgresMetadataSettings): Promise<Metadata> {
  const poolSettings = { ...defaultPoolSettings, ...settings }
  const pool = openPool(settings.url, poolSettings, settings.onStatement)
  const kysely = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  try {
    await requireUnicode(kysely)
    if (settings.asItIs) await requireMigrated(kysely, postgresSchemaDialect)
    else await migrate(kysely, postgresSchemaDialect)
  } catch (error) {
    await kysely.destroy()
    throw new MetadataUnavailableError('opening the database', { cause: error })
  }
  const listener = new ChangeListener({
    client: clientConfig(settings.url, poolSettings),
    channel: channelExpression,
    onStatement: settings.onStatement,
  })
  const retry = { ...defaultRetrySettings, ...settings }
  return sqlMetadata(new PostgresDatabase(kysely, new PostgresChangeLog(listener), retry))
}

/** Names are any Unicode text, and are compared byte by byte. */
async function requireUnicode(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(db)
  const encoding = rows[0]?.server_encoding
  if (encoding !== 'UTF8') throw new Error(`the database is encoded as ${encoding}; it has to be UTF8`)
}
