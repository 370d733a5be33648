import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  RawNode,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'

/** Distinct statements kept prepared; what this package runs is fewer. */
const maxPrepared = 256

export interface NodeSqliteSettings {
  /** Called before each statement, transaction control included. */
  readonly onStatement?: (sql: string) => void
  /** A transaction that has kept the event loop this long gives it a turn before its next statement. */
  readonly maxBlockMs: number
}

/** Kysely over the SQLite built into Node. Kysely's own dialect asks for better-sqlite3; this one adds no dependency. */
export function nodeSqliteDialect(database: DatabaseSync, settings: NodeSqliteSettings): Dialect {
  return {
    createAdapter: () => new TransactionalDdlAdapter(),
    createDriver: () => new NodeSqliteDriver(database, settings),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** SQLite rolls back DDL like anything else; without this, Kysely would leave half a migration behind when killed. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true
  }
}

/** There is one connection; Kysely itself queues whoever wants it (the adapter says there is only one). */
class NodeSqliteDriver implements Driver {
  readonly #database: DatabaseSync
  readonly #connection: NodeSqliteConnection

  constructor(database: DatabaseSync, settings: NodeSqliteSettings) {
    this.#database = database
    this.#connection = new NodeSqliteConnection(database, settings)
  }

  async init() {}

  async acquireConnection() {
    return this.#connection
  }

  async beginTransaction() {
    this.#connection.begin()
  }

  async commitTransaction() {
    this.#connection.end('commit')
  }

  async rollbackTransaction() {
    // Some failures (a full disk, an I/O error) have rolled back by themselves. Node before 22.16 cannot tell.
    if (this.#database.isTransaction !== false) this.#connection.end('rollback')
  }

  async releaseConnection() {}

  async destroy() {
    this.#database.close()
  }
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #settings: NodeSqliteSettings
  readonly #prepared = new Map<string, StatementSync>()
  /** When the running transaction last let the event loop turn; null outside of one. */
  #turnStartedAtMs: number | null = null

  constructor(database: DatabaseSync, settings: NodeSqliteSettings) {
    this.#database = database
    this.#settings = settings
  }

  begin() {
    this.#run('begin immediate')
    this.#turnStartedAtMs = performance.now()
  }

  end(sql: 'commit' | 'rollback') {
    this.#turnStartedAtMs = null
    this.#run(sql)
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#turnStartedAtMs !== null && performance.now() - this.#turnStartedAtMs >= this.#settings.maxBlockMs) {
      await setImmediate()
      this.#turnStartedAtMs = performance.now()
    }
    this.#settings.onStatement?.(query.sql)
    const statement = this.#prepare(query.sql)
    const parameters = query.parameters as readonly SQLInputValue[]
    if (returnsRows(query)) return { rows: statement.all(...parameters) as R[] }
    return { rows: [], numAffectedRows: BigInt(statement.run(...parameters).changes) }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator; nothing here streams.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('streaming is not supported: read in pages')
  }

  #run(sql: string) {
    this.#settings.onStatement?.(sql)
    this.#prepare(sql).run()
  }

  #prepare(sql: string): StatementSync {
    const known = this.#prepared.get(sql)
    if (known !== undefined) {
      // Back to the young end: the map's order is the order of use.
      this.#prepared.delete(sql)
      this.#prepared.set(sql, known)
      return known
    }
    const statement = this.#database.prepare(sql)
    if (this.#prepared.size >= maxPrepared) {
      for (const oldest of this.#prepared.keys()) {
        this.#prepared.delete(oldest)
        break
      }
    }
    this.#prepared.set(sql, statement)
    return statement
  }
}

/** `run` gives the number of changes but no rows, `all` the rows but no number. */
function returnsRows({ query }: CompiledQuery): boolean {
  return SelectQueryNode.is(query) || RawNode.is(query) || ('returning' in query && query.returning !== undefined)
}
