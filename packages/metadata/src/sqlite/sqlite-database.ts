import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { MetadataUnavailableError } from '../errors.ts'
import { CallsUnderWay } from '../sql/calls-under-way.ts'
import { rowChunks } from '../sql/chunks.ts'
import type { SqlDatabase } from '../sql/database.ts'
import type { Schema } from '../sql/schema.ts'
import { type IntegerRow, integerRows } from '../sql/values-table.ts'
import { SqliteChangeLog } from './sqlite-change-log.ts'

/** One connection, one transaction at a time: SQLite never has to give up an attempt, and always knows what happened. */
export class SqliteDatabase implements SqlDatabase {
  readonly writesInCtes = false
  readonly changeLog = new SqliteChangeLog()
  readonly #kysely: Kysely<Schema>
  readonly #calls = new CallsUnderWay()

  readonly #clock: () => number

  /** @param clock Milliseconds since the epoch: there is no clock but that of the process. */
  constructor(kysely: Kysely<Schema>, clock: () => number) {
    this.#kysely = kysely
    this.#clock = clock
  }

  nowMs(): RawBuilder<number> {
    return sql<number>`cast(${Math.trunc(this.#clock())} as integer)`
  }

  *integerTables<R extends IntegerRow>(
    rows: readonly R[],
    columns: readonly (keyof R & string)[],
  ): Generator<RawBuilder<R>> {
    for (const chunk of rowChunks(rows)) yield integerRows(chunk, columns)
  }

  read<T>(doing: string, statements: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    return this.#run(doing, () => statements(this.#kysely))
  }

  write<T>(doing: string, statements: (tx: Transaction<Schema>) => Promise<T>): Promise<T> {
    return this.#run(doing, () => this.changeLog.transaction(this.#kysely, statements))
  }

  writeMany<T>(doing: string, statements: (tx: Transaction<Schema>) => Promise<T>): Promise<T> {
    return this.write(doing, statements)
  }

  /** Every transaction has its turn. */
  async takeTurn(): Promise<void> {}

  writeOne<T>(doing: string, statement: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    return this.#run(doing, () => statement(this.#kysely))
  }

  close(): Promise<void> {
    return this.#calls.close(() => {
      this.changeLog.close()
      return this.#kysely.destroy()
    })
  }

  async #run<T>(doing: string, task: () => Promise<T>): Promise<T> {
    try {
      return await this.#calls.run(doing, task)
    } catch (error) {
      throw isSqliteError(error) && !isOurMistake(error) ? new MetadataUnavailableError(doing, { cause: error }) : error
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
