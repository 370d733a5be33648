import type { Kysely, Transaction } from 'kysely'
import { UploadExpiredError } from '../errors.ts'
import type { DoomedObject } from '../log-index.ts'
import { idChunks, rowChunks } from './chunks.ts'
import type { Schema } from './schema.ts'

/** Tables whose rows keep an object alive. */
const referrers = ['data_objects', 'wal_objects', 'wal_segments'] as const

/** Dooms those of `keys` that no object, WAL object or WAL segment row names. */
export async function doomUnreferenced(tx: Transaction<Schema>, keys: readonly string[], nowMs: number): Promise<void> {
  const alive = await referencedKeys(tx, keys)
  await mark(
    tx,
    [...new Set(keys)].filter((key) => !alive.has(key)),
    nowMs,
  )
}

/** Dooms `keys` at `atMs`, now or later, whatever was said of them before. */
export async function mark(tx: Kysely<Schema>, keys: readonly string[], atMs: number): Promise<void> {
  for (const chunk of rowChunks(keys)) {
    await tx
      .insertInto('doomed_objects')
      .values(chunk.map((key) => ({ object_key: key, doomed_at_ms: atMs })))
      .onConflict((conflict) =>
        conflict.column('object_key').doUpdateSet((eb) => ({ doomed_at_ms: eb.ref('excluded.doomed_at_ms') })),
      )
      .execute()
  }
}

export async function unmark(tx: Kysely<Schema>, keys: readonly string[]): Promise<void> {
  for (const chunk of idChunks(keys)) {
    await tx.deleteFrom('doomed_objects').where('object_key', 'in', chunk).execute()
  }
}

/**
 * For objects a commit is about to name that no row names yet: their uploads were announced and are in time, or somebody may be
 * deleting their bytes at this moment.
 * @throws UploadExpiredError
 */
export async function requireAnnounced(tx: Transaction<Schema>, keys: readonly string[], nowMs: number): Promise<void> {
  const announced = new Set<string>()
  for (const chunk of idChunks(keys)) {
    const rows = await tx
      .selectFrom('doomed_objects')
      .select('object_key')
      .where('object_key', 'in', chunk)
      .where('doomed_at_ms', '>', nowMs)
      .execute()
    for (const row of rows) announced.add(row.object_key)
  }
  for (const key of keys) if (!announced.has(key)) throw new UploadExpiredError(key)
}

export async function doomedObjects(db: Kysely<Schema>, beforeMs: number, limit: number): Promise<DoomedObject[]> {
  let query = db
    .selectFrom('doomed_objects')
    .select(['object_key', 'doomed_at_ms'])
    .where('doomed_at_ms', '<=', beforeMs)
  // A commit of a WAL object leaves an announcement of its key in place, to stay one statement: such a mark is void.
  for (const table of referrers) {
    query = query.where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom(table)
            .select(`${table}.object_key`)
            .whereRef(`${table}.object_key`, '=', 'doomed_objects.object_key'),
        ),
      ),
    )
  }
  const rows = await query.orderBy('doomed_at_ms').orderBy('object_key').limit(limit).execute()
  return rows.map((row) => ({ key: row.object_key, doomedAtMs: row.doomed_at_ms }))
}

/** Those of `keys` that an object, WAL object or WAL segment row names. */
export function referencedKeys(db: Kysely<Schema>, keys: readonly string[]): Promise<Set<string>> {
  return keysIn(db, keys, referrers)
}

export function knownKeys(db: Kysely<Schema>, keys: readonly string[]): Promise<Set<string>> {
  return keysIn(db, keys, [...referrers, 'doomed_objects'])
}

async function keysIn(
  db: Kysely<Schema>,
  keys: readonly string[],
  tables: readonly ((typeof referrers)[number] | 'doomed_objects')[],
): Promise<Set<string>> {
  const known = new Set<string>()
  for (const chunk of idChunks(keys)) {
    for (const table of tables) {
      const rows = await db.selectFrom(table).select('object_key').where('object_key', 'in', chunk).execute()
      for (const row of rows) known.add(row.object_key)
    }
  }
  return known
}
