import type { Kysely, Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * How the statements of this folder reach a database; each dialect brings its own. Failures of the database itself reject with
 * MetadataUnavailableError, whatever else `statements` throws passes through, and a write that rejects left nothing behind.
 */
export interface SqlDatabase {
  /** Reads. Statements of one call may see different moments. */
  read<T>(doing: string, statements: (db: Kysely<Schema>) => Promise<T>): Promise<T>
  /**
   * One transaction, durable when it resolves, isolated as if writes ran one after another. `statements` may be run again when the
   * dialect had to give up an attempt (a serialization failure): it must have no effect but its statements.
   */
  write<T>(doing: string, statements: (tx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Lets what is under way finish, then closes. Calls from here on reject. */
  close(): Promise<void>
}
