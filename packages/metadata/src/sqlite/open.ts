import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { DatabaseLockedError, MetadataUnavailableError } from '../errors.ts'
import type { Metadata } from '../metadata.ts'
import { migrate, requireMigrated, type SchemaDialect } from '../sql/migrations.ts'
import type { Schema } from '../sql/schema.ts'
import { sqlMetadata } from '../sql/sql-metadata.ts'
import { makeDurableFolder, syncFolder } from './durable-folder.ts'
import { nodeSqliteDialect } from './node-sqlite-dialect.ts'
import { isSqliteError, SqliteDatabase } from './sqlite-database.ts'
import { loadSqlite } from './sqlite-module.ts'

export interface SqliteMetadataSettings {
  /** The database file, made with its folders when missing; or `:memory:`, gone when closed. */
  readonly path: string
  /** Called with the text of every statement before it runs, transaction control included. */
  readonly onStatement?: (sql: string) => void
  /**
   * A transaction of many statements gives the event loop a turn after this many milliseconds (default 4 for a file). `Infinity` never
   * does, so that nothing depends on how fast the machine is: the default for `:memory:`, which simulations use.
   */
  readonly maxBlockMs?: number
  /** Refuses a database that is not there, or not up to date, rather than making or changing it. */
  readonly asItIs?: boolean
  /** What heartbeats and leases go by, in milliseconds since the epoch (default: the system's clock). */
  readonly nowMs?: () => number
}

const schemaDialect: SchemaDialect = {
  id: 'integer',
  bytes: 'blob',
  text: 'text',
  clustered: sql`without rowid`,
  runsSideBySide: false,
  updatedOften: null,
  dropReferences: null,
  changePositionType: 'integer',
  changePosition: (column) => column.primaryKey().autoIncrement(),
}

const sqliteBusy = 5

/**
 * Opens (or makes) the metadata of one process, brings its tables up to date and keeps the database locked until `close`.
 * Every write is synced to disk before it resolves.
 * @throws DatabaseLockedError at once when another process has it open; MetadataUnavailableError when it cannot be opened.
 */
export async function openSqliteMetadata(settings: SqliteMetadataSettings): Promise<Metadata> {
  const { path, onStatement } = settings
  const inMemory = path === ':memory:'
  const maxBlockMs = settings.maxBlockMs ?? (inMemory ? Number.POSITIVE_INFINITY : 4)
  let database: DatabaseSync | undefined
  try {
    if (settings.asItIs) await requireFile(path)
    else if (!inMemory) await makeDurableFolder(dirname(path))
    const { DatabaseSync } = loadSqlite()
    database = new DatabaseSync(path, { timeout: 0 })
    configure(database)
    const kysely = new Kysely<Schema>({
      dialect: nodeSqliteDialect(database, { maxBlockMs, ...(onStatement && { onStatement }) }),
    })
    if (settings.asItIs) await requireMigrated(kysely, schemaDialect)
    else await migrate(kysely, schemaDialect)
    // The files themselves are synced with every commit; their names are not.
    if (!inMemory) await syncFolder(dirname(path))
    return sqlMetadata(new SqliteDatabase(kysely, settings.nowMs ?? Date.now))
  } catch (error) {
    if (database?.isOpen) database.close()
    if (isSqliteError(error) && (error.errcode & 0xff) === sqliteBusy) {
      throw new DatabaseLockedError(path, { cause: error })
    }
    throw new MetadataUnavailableError(`opening database ${path}`, { cause: error })
  }
}

async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
  if (found?.isFile() !== true) throw new Error('there is no such file')
}

function configure(database: DatabaseSync): void {
  // Exclusive before the first access, so that the write-ahead log needs no shared memory file; the empty transaction takes the lock.
  database.exec('pragma locking_mode = exclusive')
  database.exec('pragma synchronous = full')
  // Only macOS knows a sync that reaches the disk as something else than fsync.
  database.exec('pragma fullfsync = on')
  database.exec('pragma checkpoint_fullfsync = on')
  database.exec('pragma journal_mode = wal')
  database.exec('pragma foreign_keys = on')
  database.exec('pragma temp_store = memory')
  database.exec('pragma cache_size = -16384')
  database.exec('begin immediate; commit')
}
