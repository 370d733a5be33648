import { type RawBuilder, sql } from 'kysely'

/** Safe integers by column. */
export type IntegerRow = Record<string, number | null>

/**
 * Rows of integers as a table expression, for statements that set each of many rows to its own values:
 * `with d(a, b) as (values (…), (…))`. The dialects name the columns of a bare VALUES differently, so they get names in the CTE.
 */
export function integerRows<R extends IntegerRow>(
  rows: readonly R[],
  columns: readonly (keyof R & string)[],
): RawBuilder<R> {
  // One flat template: nesting one per row and value costs Kysely four times as long.
  const strings: string[] = []
  const values: (number | null | undefined)[] = []
  let before = '(values ('
  for (const [index, row] of rows.entries()) {
    // Nothing else gives these parameters a type, which Postgres asks for; the first row's is everybody's.
    const [open, close] = index === 0 ? ['cast(', ' as bigint)'] : ['', '']
    for (const column of columns) {
      strings.push(before + open)
      values.push(row[column])
      before = `${close}, `
    }
    before = `${close}), (`
  }
  strings.push(before.replace(/, \($/, ')'))
  return sql<R>(Object.assign(strings, { raw: strings }), ...values)
}
