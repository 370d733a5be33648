import type { Transaction } from 'kysely'
import type { NewObject } from '../log-index.ts'
import { idChunks, rowChunks } from './chunks.ts'
import type { Schema } from './schema.ts'
import { integerRows } from './values-table.ts'

/** What extents come to, per object: the change of their number and their bytes. */
export class ObjectUsage {
  readonly #changes = new Map<number, { extents: number; bytes: number }>()

  add(objectId: number, extents: number, bytes: number): void {
    const change = this.#changes.get(objectId)
    if (change === undefined) this.#changes.set(objectId, { extents, bytes })
    else {
      change.extents += extents
      change.bytes += bytes
    }
  }

  /** Brings the rows of objects that are there up to date. */
  async apply(tx: Transaction<Schema>): Promise<void> {
    const changes = [...this.#changes].map(([id, { extents, bytes }]) => ({ id, extents, bytes }))
    for (const chunk of rowChunks(changes)) {
      await tx
        .with('change(id, extents, bytes)', () => integerRows(chunk, ['id', 'extents', 'bytes']))
        .updateTable('data_objects')
        .from('change')
        .set((eb) => ({
          extent_count: eb('data_objects.extent_count', '+', eb.ref('change.extents')),
          live_bytes: eb('data_objects.live_bytes', '+', eb.ref('change.bytes')),
        }))
        .whereRef('data_objects.object_id', '=', 'change.id')
        .execute()
    }
  }

  /** Applies the changes, takes away the rows of objects that nothing points into any more, and returns their keys. */
  async settle(tx: Transaction<Schema>): Promise<string[]> {
    await this.apply(tx)
    const keys: string[] = []
    for (const chunk of idChunks([...this.#changes.keys()])) {
      const rows = await tx
        .deleteFrom('data_objects')
        .where('object_id', 'in', chunk)
        .where('extent_count', '=', 0)
        .returning('object_key')
        .execute()
      for (const row of rows) keys.push(row.object_key)
    }
    return keys
  }
}

/**
 * Changes the rows of those of `keys` that are there, to what they were: a trim that takes one of them away, because nothing points into it
 * any more, and what the caller is about to take away from the WAL come one after the other, so that the later one finds nothing left that
 * names the object, and dooms it.
 */
export async function touchObjects(tx: Transaction<Schema>, keys: readonly string[]): Promise<void> {
  for (const chunk of idChunks(keys)) {
    await tx
      .updateTable('data_objects')
      .set((eb) => ({ extent_count: eb.ref('extent_count') }))
      .where('object_key', 'in', chunk)
      .execute()
  }
}

/** Inserts objects that nothing points into yet; the usage of their extents is to be applied in the same transaction. */
export async function insertObjects(tx: Transaction<Schema>, objects: readonly NewObject[]): Promise<void> {
  const rows = objects.map((object) => ({
    object_id: object.objectId,
    object_key: object.key,
    length_bytes: object.lengthBytes,
    live_bytes: 0,
    extent_count: 0,
  }))
  for (const chunk of rowChunks(rows)) await tx.insertInto('data_objects').values(chunk).execute()
}
