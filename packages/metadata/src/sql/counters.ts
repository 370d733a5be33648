import assert from 'node:assert/strict'
import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** Takes `count` consecutive numbers of a counter and returns the first; counters start at 1. */
export async function reserveNumbers(tx: Kysely<Schema>, counter: string, count: number): Promise<number> {
  assert(Number.isSafeInteger(count) && count > 0, `cannot reserve ${count} numbers`)
  const row = await tx
    .insertInto('counters')
    .values({ name: counter, next: 1 + count })
    .onConflict((conflict) => conflict.column('name').doUpdateSet((eb) => ({ next: eb('counters.next', '+', count) })))
    .returning('next')
    .executeTakeFirstOrThrow()
  return row.next - count
}
