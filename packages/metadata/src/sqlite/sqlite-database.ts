import type { Kysely, Transaction } from 'kysely'
import { MetadataUnavailableError } from '../errors.ts'
import type { SqlDatabase } from '../sql/database.ts'
import type { Schema } from '../sql/schema.ts'

export class SqliteDatabase implements SqlDatabase {
  readonly #kysely: Kysely<Schema>
  readonly #running = new Set<Promise<unknown>>()
  #closed: Promise<void> | null = null

  constructor(kysely: Kysely<Schema>) {
    this.#kysely = kysely
  }

  read<T>(doing: string, statements: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    return this.#run(doing, () => statements(this.#kysely))
  }

  write<T>(doing: string, statements: (tx: Transaction<Schema>) => Promise<T>): Promise<T> {
    // One connection, one transaction at a time: SQLite never has to give up an attempt.
    return this.#run(doing, () => this.#kysely.transaction().execute(statements))
  }

  close(): Promise<void> {
    this.#closed ??= Promise.allSettled(this.#running).then(() => this.#kysely.destroy())
    return this.#closed
  }

  async #run<T>(doing: string, task: () => Promise<T>): Promise<T> {
    if (this.#closed !== null) throw new MetadataUnavailableError(doing, { cause: new Error('it is closed') })
    const running = task()
    this.#running.add(running)
    try {
      return await running
    } catch (error) {
      throw isSqliteError(error) && !isOurMistake(error) ? new MetadataUnavailableError(doing, { cause: error }) : error
    } finally {
      this.#running.delete(running)
    }
  }
}

/** An error that SQLite itself reported, as `node:sqlite` throws it. */
export interface SqliteError extends Error {
  readonly code: 'ERR_SQLITE_ERROR'
  /** SQLite's extended result code. */
  readonly errcode: number
}

export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
}

/** SQLITE_ERROR (a statement that does not compile), CONSTRAINT, MISMATCH, MISUSE, RANGE: trying again would not help. */
const mistakes = new Set([1, 19, 20, 21, 25])

function isOurMistake(error: SqliteError): boolean {
  return mistakes.has(error.errcode & 0xff)
}
