import type { Metadata } from '@pico/metadata'
import { openPostgresMetadata, type PostgresMetadataSettings } from '@pico/metadata/postgres'
import pg from 'pg'
import type { PostgresServer } from './postgres.ts'

/** Metadata on databases without a row. They are emptied and used again: to make one takes a hundred times as long. */
export class EmptyDatabases {
  readonly #server: PostgresServer
  readonly #free: string[] = []
  readonly #open = new Set<Metadata>()

  constructor(server: PostgresServer) {
    this.#server = server
  }

  async open(settings: Omit<PostgresMetadataSettings, 'url'>): Promise<Metadata> {
    const url = this.#free.pop() ?? (await this.#server.createDatabase())
    const metadata = await openPostgresMetadata({ connectionsMax: 4, ...settings, url })
    let closed: Promise<void> | null = null
    const close = async () => {
      await metadata.close()
      await emptyTables(url)
      this.#free.push(url)
      this.#open.delete(opened)
    }
    const opened: Metadata = {
      ...metadata,
      close() {
        closed ??= close()
        return closed
      },
    }
    this.#open.add(opened)
    return opened
  }

  async closeAll(): Promise<void> {
    for (const metadata of [...this.#open]) await metadata.close()
  }
}

async function emptyTables(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ tablename: string }>(
      "select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely_%'",
    )
    await client.query(`truncate ${rows.map((row) => row.tablename).join(', ')}`)
  } finally {
    await client.end()
  }
}
