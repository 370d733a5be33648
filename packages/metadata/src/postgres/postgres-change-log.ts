import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { ChangeKind } from '../changes.ts'
import { type ChangeLog, type ChangeRow, forgottenFact, told } from '../sql/change-log.ts'
import type { Schema } from '../sql/schema.ts'
import type { ChangeListener } from './change-listener.ts'

/** The channel of this schema's tables, wherever the search path finds them. */
export const channelExpression = "'pico_changes_' || 'changes'::regclass::oid"

/**
 * The position of a change is the id of its transaction, and a cursor is a snapshot (`pg_snapshot`): told is what the asking statement
 * sees and that snapshot did not, so that a transaction which began long ago and commits late is told like any other.
 */
export class PostgresChangeLog implements ChangeLog {
  readonly #listener: ChangeListener

  constructor(listener: ChangeListener) {
    this.#listener = listener
  }

  /** Delivered by the server at the commit. Commits that notify wait for one another, which is why appends do not. */
  async tell(tx: Transaction<Schema>, kind: ChangeKind): Promise<void> {
    await sql`select pg_notify(${sql.raw(channelExpression)}, ${kind})`.execute(tx)
  }

  watch(onChange: (kind: ChangeKind) => void): () => void {
    return this.#listener.watch(onChange)
  }

  close(): Promise<void> {
    return this.#listener.close()
  }

  async since(db: Kysely<Schema>, cursor: string | null, limit: number) {
    const then = sql`cast(${cursor} as pg_snapshot)`
    const now = sql`pg_current_snapshot()`
    // A cursor, or a fact, from beyond all transactions is of another server, whose tables were copied here.
    const forgotten = sql`
      select value::xid8 from facts where name = ${forgottenFact} and value::xid8 < pg_snapshot_xmax(${now})`
    const { rows } = await sql<ChangeRow>`
      select ${now}::text as cursor, (
        pg_snapshot_xmax(${then}) <= pg_snapshot_xmax(${now})
        and coalesce((${forgotten}) < pg_snapshot_xmin(${then}), true)
      )::integer as is_known, topic_id
      from (select 1) as state
      left join (
        select distinct topic_id from changes
        where position >= pg_snapshot_xmin(${then}) and not pg_visible_in_snapshot(position, ${then})
        limit ${limit}
      ) as told on true`.execute(db)
    return told(rows)
  }

  /** Only what is older than every transaction under way: then no cursor given out from now on can be in doubt about it. */
  async forget(tx: Transaction<Schema>, olderThanMs: number, nowMs: RawBuilder<number>): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      with forgotten as (
        delete from changes
        where at_ms < ${nowMs} - ${olderThanMs}::bigint and position < pg_snapshot_xmin(pg_current_snapshot())
        returning position
      ), remembered as (
        insert into facts (name, value)
        select ${forgottenFact}, position::text from forgotten order by position desc limit 1
        on conflict (name) do update set value = excluded.value
        where excluded.value::xid8 > facts.value::xid8
          or facts.value::xid8 >= pg_snapshot_xmax(pg_current_snapshot())
      )
      select count(*) as count from forgotten`.execute(tx)
    return rows[0]?.count ?? 0
  }
}
