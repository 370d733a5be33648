import assert from 'node:assert/strict'
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { ChangeKind } from '../changes.ts'
import { type ChangeLog, type ChangeRow, forgottenFact, told } from '../sql/change-log.ts'
import type { Schema } from '../sql/schema.ts'

/** Transactions run one after another, so that positions ascend in the order of commits: the last one is the cursor. */
export class SqliteChangeLog implements ChangeLog {
  readonly #watchers = new Set<(kind: ChangeKind) => void>()
  readonly #told = new WeakMap<Transaction<Schema>, Set<ChangeKind>>()

  /** Runs a transaction's statements and, once it has committed, calls back whoever watches what it changed. */
  async transaction<T>(db: Kysely<Schema>, statements: (tx: Transaction<Schema>) => Promise<T>): Promise<T> {
    const kinds = new Set<ChangeKind>()
    const result = await db.transaction().execute((tx) => {
      this.#told.set(tx, kinds)
      return statements(tx)
    })
    for (const kind of kinds) {
      for (const onChange of this.#watchers) onChange(kind)
    }
    return result
  }

  async tell(tx: Transaction<Schema>, kind: ChangeKind): Promise<void> {
    const kinds = this.#told.get(tx)
    assert(kinds !== undefined, 'changes are told in a transaction')
    kinds.add(kind)
  }

  watch(onChange: (kind: ChangeKind) => void): () => void {
    // Wrapped, so that who watches twice has to end both.
    const watcher = (kind: ChangeKind) => onChange(kind)
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  close(): void {
    this.#watchers.clear()
  }

  async since(db: Kysely<Schema>, cursor: string | null, limit: number) {
    const after = cursor === null ? null : Number(cursor)
    assert(after === null || Number.isSafeInteger(after), `${cursor} is no cursor of changes`)
    const forgotten = sql`coalesce((select cast(value as integer) from facts where name = ${forgottenFact}), 0)`
    const last = sql`max(${forgotten}, coalesce((select max(position) from changes), 0))`
    const { rows } = await sql<ChangeRow>`
      select cast(state.last as text) as cursor, ${after} between state.forgotten and state.last as is_known, topic_id
      from (select ${forgotten} as forgotten, ${last} as last) as state
      left join (select distinct topic_id from changes where position > ${after} limit ${limit}) on true`.execute(db)
    return told(rows)
  }

  async forget(tx: Transaction<Schema>, olderThanMs: number, nowMs: RawBuilder<number>): Promise<number> {
    const old = sql`at_ms < ${nowMs} - ${olderThanMs}`
    const { rows } = await sql<{ last: number | null; count: number }>`
      select max(position) as last, count(*) as count from changes where ${old}`.execute(tx)
    const [{ last, count } = { last: null, count: 0 }] = rows
    if (last === null) return 0
    // By position, and not by time: what is left has to be all that came later, whatever the clock did.
    await sql`delete from changes where position <= ${last}`.execute(tx)
    await sql`
      insert into facts (name, value) values (${forgottenFact}, ${String(last)})
      on conflict (name) do update set value = excluded.value`.execute(tx)
    return count
  }
}
