import type { Kysely, RawBuilder, Transaction } from 'kysely'
import type { ChangeKind } from '../changes.ts'
import type { Schema } from './schema.ts'

/**
 * What differs between the dialects in recording and telling changes. A row of the table `changes` gets its `position` from the
 * database; in which order transactions become visible is the dialect's to know.
 */
export interface ChangeLog {
  /** Calls back those who watch, in all processes, when the transaction has committed; not when it is rolled back. */
  tell(tx: Transaction<Schema>, kind: ChangeKind): Promise<void>
  watch(onChange: (kind: ChangeKind) => void): () => void
  /**
   * One statement. A cursor as of now; whether all that became visible after `cursor` was given out is still there; and the topics of
   * what is there of it, each once, at most `limit`.
   */
  since(
    db: Kysely<Schema>,
    cursor: string | null,
    limit: number,
  ): Promise<{ cursor: string; isKnown: boolean; topicIds: string[] }>
  /** Deletes rows that are older, and remembers that they were there. */
  forget(tx: Transaction<Schema>, olderThanMs: number, nowMs: RawBuilder<number>): Promise<number>
}

/** Row of `facts`: up to which position rows of `changes` have been forgotten. */
export const forgottenFact = 'changesForgottenTo'

/** Puts the columns of the one row that every answer begins with beside topics, of which there may be none. */
export interface ChangeRow {
  readonly cursor: string
  readonly is_known: unknown
  readonly topic_id: string | null
}

export function told(rows: readonly ChangeRow[]): { cursor: string; isKnown: boolean; topicIds: string[] } {
  const [first] = rows
  if (first === undefined) throw new Error('a state joined with whatever changed has a row')
  return {
    cursor: first.cursor,
    isKnown: Number(first.is_known) === 1,
    topicIds: rows.flatMap((row) => row.topic_id ?? []),
  }
}
