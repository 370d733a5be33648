import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openFileStore } from '@pico/storage/file'

/** What a pico that does not run has in its folder, and what its database says of it. */
export interface StoredObjects {
  readonly stored: readonly string[]
  /** Keys that a row of an object or of the write-ahead log names. */
  readonly named: ReadonlySet<string>
  /** Keys to be deleted from then on: of announced uploads that time lies ahead. */
  readonly doomedAtMs: ReadonlyMap<string, number>
}

export async function storedObjects(folder: string): Promise<StoredObjects> {
  const stored: string[] = []
  const store = await openFileStore(join(folder, 'objects'))
  try {
    for await (const { key } of store.list('')) stored.push(key)
  } finally {
    await store.close()
  }
  return withDatabase(folder, (database) => {
    const keys = (table: string) => database.prepare(`select object_key from ${table}`).all()
    const rows = ['data_objects', 'wal_objects', 'wal_segments'].flatMap(keys)
    const doomed = database.prepare('select object_key, doomed_at_ms from doomed_objects').all()
    return {
      stored,
      named: new Set(rows.map((row) => String(row['object_key']))),
      doomedAtMs: new Map(doomed.map((row) => [String(row['object_key']), Number(row['doomed_at_ms'])])),
    }
  })
}

/** As if a pico that does not run had not run for so long: nothing else in the database counts time that matters here. */
export function passTime(folder: string, ms: number): void {
  withDatabase(folder, (database) => database.exec(`update doomed_objects set doomed_at_ms = doomed_at_ms - ${ms}`))
}

function withDatabase<T>(folder: string, use: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(folder, 'meta.db'))
  try {
    return use(database)
  } finally {
    database.close()
  }
}
