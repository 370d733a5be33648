import { type RawBuilder, sql } from 'kysely'

/**
 * Rows of integers as a table expression, for statements that set each of many rows to its own values:
 * `with d(a, b) as (values (…), (…))`. Both dialects name the columns of a bare VALUES differently, so they get names in the CTE;
 * the casts tell Postgres the type of parameters that nothing else gives one.
 */
export function integerRows<R extends Record<string, number>>(
  rows: readonly R[],
  columns: readonly (keyof R & string)[],
) {
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => sql`cast(${row[column]} as bigint)`))})`)
  return sql`(values ${sql.join(values)})` as RawBuilder<R>
}
