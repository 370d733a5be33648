import { PGlite } from '@electric-sql/pglite'
import { Kysely, PGliteDialect, sql } from 'kysely'
import { afterAll, afterEach, describe } from 'vitest'
import { metadataConformance } from '../src/conformance.ts'
import type { Metadata } from '../src/metadata.ts'
import { postgresSchemaDialect } from '../src/postgres/open.ts'
import { PostgresDatabase } from '../src/postgres/postgres-database.ts'
import { migrate } from '../src/sql/migrations.ts'
import type { Schema } from '../src/sql/schema.ts'
import { sqlMetadata } from '../src/sql/sql-metadata.ts'

/*
 * The statements for Postgres, on a Postgres inside of this process. It has one connection: what several do to one another, and what
 * becomes of connections, is tested with a real server (e2e/test/postgres*.test.ts).
 */
describe('the statements for Postgres, on PGlite', () => {
  const free: PGlite[] = []
  const all: PGlite[] = []
  const opened = new Set<Metadata>()

  afterEach(async () => {
    for (const metadata of [...opened]) await metadata.close()
  })
  afterAll(async () => {
    for (const pglite of all) await pglite.close()
  })

  async function open({ onStatement }: { onStatement: (text: string) => void }): Promise<Metadata> {
    const pglite = free.pop() ?? (await PGlite.create({ parsers: { 20: Number, 1700: Number } }))
    if (!all.includes(pglite)) all.push(pglite)
    // Closing takes a whole instance away; here it is used again.
    const lent = new Proxy(pglite, {
      get(target, name) {
        if (name === 'close') return async () => undefined
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    const kysely = new Kysely<Schema>({
      dialect: new PGliteDialect({ pglite: lent }),
      log: ({ query }) => onStatement(query.sql),
    })
    await migrate(kysely, postgresSchemaDialect)
    const { rows } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely_%'`.execute(
      kysely,
    )
    await sql`truncate ${sql.join(rows.map(({ name }) => sql.table(name)))}`.execute(kysely)
    const metadata = sqlMetadata(new PostgresDatabase(kysely, { retryForMs: 1000 }))
    let closed: Promise<void> | null = null
    const lentMetadata: Metadata = {
      ...metadata,
      close() {
        closed ??= metadata.close().then(() => {
          opened.delete(lentMetadata)
          free.push(pglite)
        })
        return closed
      },
    }
    opened.add(lentMetadata)
    return lentMetadata
  }

  metadataConformance(open, { historyRuns: 2 })
})
