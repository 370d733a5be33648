/** A column of a table: its head, and whether it is of numbers, which stand to the right. */
export interface Column<Row> {
  readonly head: string
  readonly isNumber?: true
  text(row: Row): string | number | null
}

/** Lines of a table whose columns are as wide as they have to be. What is null shows as a dash. */
export function tableLines<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const cells = rows.map((row) => columns.map(({ text }) => shown(text(row))))
  const widths = columns.map(({ head }, at) => Math.max(head.length, ...cells.map((line) => line[at]!.length)))
  const lineOf = (texts: readonly string[]) =>
    texts
      .map((text, at) => (columns[at]?.isNumber ? text.padStart(widths[at]!) : text.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd()
  return [columns.map(({ head }) => head), ...cells].map(lineOf)
}

/** Names and values of one thing, a line each. */
export function factLines(facts: Readonly<Record<string, string | number | boolean | null>>): string[] {
  const width = Math.max(...Object.keys(facts).map((name) => name.length))
  return Object.entries(facts).map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`)
}

/** Names may hold what would move a terminal's cursor. */
function shown(value: string | number | boolean | null): string {
  if (value === null) return '-'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return String(value).replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd')
}
