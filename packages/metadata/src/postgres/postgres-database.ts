import { setTimeout as sleep } from 'node:timers/promises'
import { type IsolationLevel, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { MetadataUnavailableError } from '../errors.ts'
import { CallsUnderWay } from '../sql/calls-under-way.ts'
import type { Repeats, SqlDatabase } from '../sql/database.ts'
import type { Schema } from '../sql/schema.ts'
import type { IntegerRow } from '../sql/values-table.ts'
import { type FailureKind, failureKind } from './failures.ts'
import type { PostgresChangeLog } from './postgres-change-log.ts'

export interface RetrySettings {
  /** How long a call is tried again while the server is gone (it restarts, a connection ended) before it is unavailable. */
  readonly retryForMs: number
}

export const defaultRetrySettings: RetrySettings = { retryForMs: 15_000 }

/** Waits between attempts double from the one to the other, and are drawn at random so that those who collided part ways. */
const firstWaitMs = 4
const lastWaitMs = 500
const tableRowsMax = 4096
/** A key that is always there already is a mistake of ours. */
const racesMax = 5

/** Any number of connections: writes are serializable transactions, but for `writeMany`, done again when the server gave one up for another. */
export class PostgresDatabase implements SqlDatabase {
  readonly writesInCtes = true
  readonly changeLog: PostgresChangeLog
  readonly #kysely: Kysely<Schema>
  readonly #settings: RetrySettings
  readonly #calls = new CallsUnderWay()

  constructor(kysely: Kysely<Schema>, changeLog: PostgresChangeLog, settings: RetrySettings) {
    this.#kysely = kysely
    this.changeLog = changeLog
    this.#settings = settings
  }

  /** When the statement runs, not when its transaction began. */
  nowMs(): RawBuilder<number> {
    return sql<number>`cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)`
  }

  /** An array for each column: a parameter for each number takes the server longer to read than what is done with it. */
  *integerTables<R extends IntegerRow>(
    rows: readonly R[],
    columns: readonly (keyof R & string)[],
  ): Generator<RawBuilder<R>> {
    for (let at = 0; at < rows.length; at += tableRowsMax) {
      const some = rows.slice(at, at + tableRowsMax)
      const arrays = columns.map((column) => {
        const array = `{${some.map((row) => row[column] ?? 'null').join(',')}}`
        return sql`cast(${array} as bigint[])`
      })
      yield sql<R>`(select * from unnest(${sql.join(arrays)}))`
    }
  }

  read<T>(doing: string, statements: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    return this.#attempts(
      doing,
      () => statements(this.#kysely),
      (kind) => isRepeatable(kind, true),
    )
  }

  write<T>(
    doing: string,
    statements: (tx: Transaction<Schema>) => Promise<T>,
    repeats: Repeats = 'unsafe',
  ): Promise<T> {
    return this.#write('serializable', doing, statements, repeats)
  }

  writeMany<T>(
    doing: string,
    statements: (tx: Transaction<Schema>) => Promise<T>,
    repeats: Repeats = 'unsafe',
  ): Promise<T> {
    return this.#write('repeatable read', doing, statements, repeats)
  }

  #write<T>(
    isolation: IsolationLevel,
    doing: string,
    statements: (tx: Transaction<Schema>) => Promise<T>,
    repeats: Repeats,
  ): Promise<T> {
    // Until the commit is sent nothing can have happened.
    let isCommitting = false
    const attempt = () => {
      isCommitting = false
      const transaction = this.#kysely.transaction().setIsolationLevel(isolation)
      return transaction.execute(async (tx) => {
        const result = await statements(tx)
        isCommitting = true
        return result
      })
    }
    return this.#attempts(doing, attempt, (kind) => isRepeatable(kind, !isCommitting || repeats === 'harmless'))
  }

  /** LOCK is no query: what the transaction sees is what is there once it has its turn. */
  async takeTurn(tx: Transaction<Schema>): Promise<void> {
    await sql`lock table object_turns in exclusive mode`.execute(tx)
  }

  writeOne<T>(doing: string, statement: (db: Kysely<Schema>) => Promise<T>, repeats: Repeats = 'unsafe'): Promise<T> {
    return this.#attempts(
      doing,
      () => statement(this.#kysely),
      (kind) => isRepeatable(kind, repeats === 'harmless'),
    )
  }

  close(): Promise<void> {
    return this.#calls.close(async () => {
      await this.changeLog.close()
      await this.#kysely.destroy()
    })
  }

  #attempts<T>(doing: string, attempt: () => Promise<T>, mayRepeat: (kind: FailureKind) => boolean): Promise<T> {
    return this.#calls.run(doing, async () => {
      const deadline = performance.now() + this.#settings.retryForMs
      let races = 0
      for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, lastWaitMs)) {
        try {
          return await attempt()
        } catch (error) {
          const kind = failureKind(error)
          if (kind === 'raced') races += 1
          if (kind === 'mistake' || races > racesMax) throw error
          const isOver = performance.now() >= deadline || (kind === 'gone' && this.#calls.isClosed)
          if (isOver || !mayRepeat(kind)) throw new MetadataUnavailableError(doing, { cause: error })
        }
        await sleep(waitMs * Math.random())
      }
    })
  }
}

/** What was given up was rolled back for certain; of what was under way when a connection ended nobody knows. */
function isRepeatable(kind: FailureKind, isHarmless: boolean): boolean {
  return kind === 'conflict' || kind === 'raced' || (kind === 'gone' && isHarmless)
}
