import assert from 'node:assert/strict'
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { ConnectionFailedError } from './failures.ts'

export interface PoolSettings {
  /** Connections at a time, those that listen for news not counted. */
  readonly connectionsMax: number
  readonly connectTimeoutMs: number
  /** The server ends a statement that takes longer. */
  readonly statementTimeoutMs: number
  /** The server ends a transaction that waits for us longer: a stopped process must not keep others from what it has locked. */
  readonly idleInTransactionTimeoutMs: number
  /** A connection on which the server gives no answer at all for so long is given up. Longer than a statement may take. */
  readonly answerTimeoutMs: number
  /** Connections that nobody used for so long are closed. */
  readonly idleConnectionMs: number
}

export const defaultPoolSettings: PoolSettings = {
  connectionsMax: 10,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 30_000,
  idleInTransactionTimeoutMs: 5_000,
  answerTimeoutMs: 35_000,
  idleConnectionMs: 60_000,
}

export function clientConfig(url: string, settings: PoolSettings): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'picomq',
    keepAlive: true,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    statement_timeout: settings.statementTimeoutMs,
    idle_in_transaction_session_timeout: settings.idleInTransactionTimeoutMs,
    query_timeout: settings.answerTimeoutMs,
    types: { getTypeParser: parserOf },
  }
}

/**
 * A pool of the `pg` driver as Kysely wants one. Errors are the server's own, or ConnectionFailedError, and a connection on which
 * anything but the former happened is never used again.
 */
export function openPool(
  url: string,
  settings: PoolSettings,
  onStatement: ((sql: string) => void) | undefined,
): PostgresPool {
  const pool = new pg.Pool({
    ...clientConfig(url, settings),
    max: settings.connectionsMax,
    idleTimeoutMillis: settings.idleConnectionMs,
  })
  // A connection that ends while nobody uses it is not news: the pool drops it, and the next user gets another one.
  pool.on('error', () => undefined)
  // One that ends between two statements of a transaction is met by the second one.
  pool.on('connect', (client) => client.on('error', () => undefined))
  const clients = new WeakMap<pg.PoolClient, PooledClient>()
  return {
    options: pool.options,
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw asFailure(error)
      })
      const pooled = clients.get(client) ?? new PooledClient(client, onStatement)
      clients.set(client, pooled)
      return pooled
    },
    end: () => pool.end(),
  }
}

class PooledClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  readonly #onStatement: ((sql: string) => void) | undefined
  #isBroken = false

  constructor(client: pg.PoolClient, onStatement: ((sql: string) => void) | undefined) {
    this.#client = client
    this.#onStatement = onStatement
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R>(
    given: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    assert(typeof given === 'string', 'nothing here streams: it reads in pages')
    return this.#run(given, parameters) as Promise<PostgresQueryResult<R>>
  }

  async #run(sql: string, parameters: readonly unknown[]): Promise<unknown> {
    this.#onStatement?.(sql)
    try {
      return await this.#client.query(sql, [...parameters])
    } catch (error) {
      const failure = asFailure(error)
      this.#isBroken ||= failure instanceof ConnectionFailedError
      throw failure
    }
  }

  release(destroy = false): void {
    this.#client.release(destroy || this.#isBroken)
  }
}

function asFailure(error: unknown): unknown {
  if (error instanceof pg.DatabaseError || error instanceof assert.AssertionError) return error
  return new ConnectionFailedError(error)
}

/** int8, and numeric, which is what sums of int8 are. */
const integerTypes = new Set([20, 1700])

const bytesType = 17

function parserOf(oid: number): (value: string) => unknown {
  if (integerTypes.has(oid)) return safeInteger
  const parse = pg.types.getTypeParser(oid, 'text') as (value: string) => unknown
  return oid === bytesType ? (value) => plainBytes(parse(value)) : parse
}

/** Without what a Buffer adds, so that it is the same as in the other database. */
function plainBytes(value: unknown): Uint8Array {
  assert(value instanceof Uint8Array, 'bytea is bytes')
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}

function safeInteger(text: string): number {
  const value = Number(text)
  assert(Number.isSafeInteger(value), `${text} is not a safe integer`)
  return value
}
