import type { Kysely, RawBuilder, Transaction } from 'kysely'
import type { ChangeLog } from './change-log.ts'
import type { Schema } from './schema.ts'
import type { IntegerRow } from './values-table.ts'

/**
 * How the statements of this folder reach a database; each dialect brings its own. Failures of the database itself reject with
 * MetadataUnavailableError, whatever else `statements` throws passes through, and a write that rejects left nothing behind, unless
 * it rejects with MetadataUnavailableError: then it may have happened, and whoever asked reads back.
 */
export interface SqlDatabase {
  /** Whether one statement may write to several tables (`with … as (insert …)`), which is one round trip instead of four. */
  readonly writesInCtes: boolean
  readonly changeLog: ChangeLog
  /** The time by the database's clock, in milliseconds since the epoch, as an expression. */
  nowMs(): RawBuilder<number>
  /**
   * Rows as table expressions, of as many rows as a statement is to have: `with d(a, b) as (…)` names their columns, in the order of
   * `columns`. The price of a statement over thousands of rows is that of these.
   */
  integerTables<R extends IntegerRow>(
    rows: readonly R[],
    columns: readonly (keyof R & string)[],
  ): Iterable<RawBuilder<R>>
  /** Reads. Statements of one call may see different moments. */
  read<T>(doing: string, statements: (db: Kysely<Schema>) => Promise<T>): Promise<T>
  /**
   * One transaction, durable when it resolves, isolated as if writes ran one after another. `statements` may be run again when the
   * dialect had to give up an attempt (a serialization failure): it must have no effect but its statements.
   */
  write<T>(doing: string, statements: (tx: Transaction<Schema>) => Promise<T>, repeats?: Repeats): Promise<T>
  /**
   * As `write`, but isolated only in that nobody else has changed a row that it changes since the moment that it sees (snapshot isolation).
   * For transactions over thousands of rows: as a serializable one, which nobody else may have changed the pages of, such a one hardly ever
   * comes to its end while streams are made and opened. What it concludes from rows that it does not change has to stay right whatever
   * becomes of them.
   */
  writeMany<T>(doing: string, statements: (tx: Transaction<Schema>) => Promise<T>, repeats?: Repeats): Promise<T>
  /**
   * The first statement of a transaction that changes which objects there are: it begins when no other such is under way. On small or
   * growing tables they would all be given up for one another, since each reads pages that the others write to.
   */
  takeTurn(tx: Transaction<Schema>): Promise<void>
  /**
   * A single statement that is a transaction by itself, on a row or two that it locks: as `write`, without the price of a transaction.
   * It sees what was committed when it gets its locks, so that its conditions have to be on the rows it changes.
   */
  writeOne<T>(doing: string, statement: (db: Kysely<Schema>) => Promise<T>, repeats?: Repeats): Promise<T>
  /** Lets what is under way finish, then closes. Calls from here on reject. */
  close(): Promise<void>
}

/**
 * What a database may do when it cannot tell whether a write happened (its connection died in the commit). `harmless`: doing it twice
 * does no more than doing it once, and it is done again. `unsafe`: whoever asked is told that it is not known.
 */
export type Repeats = 'harmless' | 'unsafe'
