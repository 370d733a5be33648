import pg from 'pg'

/**
 * The connection to the server could not be made, or ended, or gave no answer in time. What was being done on it may have happened.
 * Every error of the driver that is not the server's own word becomes one.
 */
export class ConnectionFailedError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error && cause.message !== '' ? cause.message : 'the connection failed', { cause })
    this.name = 'ConnectionFailedError'
  }
}

/**
 * What to do about a failure, by the server's SQLSTATE (PostgreSQL's documentation, appendix A).
 *
 * - `conflict`: rolled back because of what others did at the same time; doing it again will help.
 * - `raced`: a key that a transaction looked for and did not find was there after all: another one had inserted it in between. Doing it
 *   again will find it, unless the transaction is wrong.
 * - `gone`: the connection is, or will be in a moment; the server may be back soon.
 * - `unavailable`: the server cannot do it now, and a moment will not change that.
 * - `mistake`: a statement or a value of ours is wrong, or the error is not of the database at all.
 */
export type FailureKind = 'conflict' | 'raced' | 'gone' | 'unavailable' | 'mistake'

export function failureKind(error: unknown): FailureKind {
  if (error instanceof ConnectionFailedError) return 'gone'
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return 'mistake'
  return kinds[error.code] ?? kinds[error.code.slice(0, 2)] ?? 'mistake'
}

const kinds: Readonly<Record<string, FailureKind>> = {
  '08': 'gone', // connection exceptions
  '25': 'unavailable', // read-only transaction: a standby
  '25P03': 'gone', // idle in transaction for too long: the connection is terminated, the transaction rolled back
  '25P04': 'gone', // transaction timeout
  '28': 'unavailable', // refused to log in
  '3D': 'unavailable', // no such database
  '40': 'conflict',
  '40003': 'gone', // statement completion unknown
  '23503': 'raced', // foreign key
  '23505': 'raced', // unique key
  '53': 'unavailable', // out of disk, memory
  '53300': 'gone', // too many connections
  '55': 'unavailable',
  '57': 'unavailable', // a statement that was cancelled because it took too long, among others
  '57P01': 'gone', // administrator shutdown
  '57P02': 'gone', // crash shutdown
  '57P03': 'gone', // starting up
  '57P05': 'gone', // idle for too long
  '58': 'unavailable', // its disk
  XX: 'unavailable', // its own faults
}
