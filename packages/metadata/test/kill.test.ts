import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteMetadata } from '../src/sqlite.ts'
import { story } from './kill/story.ts'

const folder = mkdtempSync(join(tmpdir(), 'pico-metadata-kill-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a process killed between two statements', () => {
  /** All rows after so many steps of the story. */
  const rowsAfter: string[] = []
  let statements = 0

  beforeAll(async () => {
    for (let steps = 0; steps <= story.length; steps++) {
      const path = join(folder, `whole-${steps}.db`)
      const metadata = await openSqliteMetadata({ path, nowMs: () => 0 })
      for (const step of story.slice(0, steps)) await step(metadata)
      await metadata.close()
      rowsAfter.push(rowsOf(path))
    }
    expect(new Set(rowsAfter).size).toBe(story.length + 1)
    const { stdout } = live(join(folder, 'count.db'), 'never')
    statements = Number(/statements (\d+)/.exec(stdout)?.[1])
    expect(statements).toBeGreaterThan(100)
  }, 60_000)

  // The first ones fall into the migration.
  it.each(Array.from({ length: 6 }, (_, index) => index / 6))(
    'leaves every transaction whole or not there at all (%f of the way through)',
    async (part) => {
      const path = join(folder, `killed-${part}.db`)
      const { stdout, signal } = live(path, String(Math.max(3, Math.round(part * statements))))
      expect(signal).toBe('SIGKILL')
      const done = stdout.split('\n').filter((line) => line.startsWith('done')).length
      await (await openSqliteMetadata({ path })).close()
      const rows = rowsOf(path)
      const steps = rowsAfter.indexOf(rows)
      expect(steps, rows).not.toBe(-1)
      // What resolved is there; the one under way may have been committed.
      expect([done, done + 1]).toContain(steps)
    },
    60_000,
  )
})

function live(path: string, statement: string) {
  const script = join(import.meta.dirname, 'kill/live-and-die.ts')
  return spawnSync(process.execPath, [script, path, statement], { encoding: 'utf8' })
}

function rowsOf(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true })
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' and name not like 'kysely_%' order by name")
    .all()
  const rows = tables.map(({ name }) => [name, database.prepare(`select * from ${name} order by 1, 2`).all()])
  database.close()
  return JSON.stringify(rows, (_, value) => (value instanceof Uint8Array ? [...value] : value), 1)
}
