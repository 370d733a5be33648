import assert from 'node:assert/strict'
import type { Transaction } from 'kysely'
import type { NewExtent, NewObject, PackCommit } from '../log-index.ts'
import type { NodeIdentity } from '../node-registry.ts'
import { idChunks } from './chunks.ts'
import type { SqlDatabase } from './database.ts'
import { doomUnreferenced, referencedKeys, requireAnnounced, unmark } from './doomed-objects.ts'
import { insertExtents } from './extents.ts'
import { requireCurrent } from './node-registry.ts'
import { insertObjects, ObjectUsage, touchObjects } from './object-usage.ts'
import { selectPlacement, takeExtents } from './pack-placement.ts'
import type { Schema } from './schema.ts'
import { replaceStates } from './stream-states.ts'
import { releaseWal } from './wal.ts'

/**
 * On one moment's view, beside whatever others do (SqlDatabase.writeMany), but for packs, adoptions and merges, which take turns. Whoever
 * opens, gives up, trims or deletes a stream changes its row, as does this where it adds to it; where it adds nothing, nothing it has read
 * of the stream matters. That `node` is fenced meanwhile means that this came before. What refers to an object may change: see touchObjects.
 */
export async function commitPack(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  node: NodeIdentity,
  pack: PackCommit,
  nowMs: number,
): Promise<{ skippedStreamIds: number[] }> {
  await requireCurrent(tx, node)
  const byStream = Map.groupBy(pack.extents, (extent) => extent.streamId)
  for (const { streamId } of pack.states) {
    assert(byStream.has(streamId), `a state of stream ${streamId} without extents has no offset it is true at`)
  }
  const placement = await selectPlacement(database, tx, node, [...byStream.keys()])
  const skippedStreamIds: number[] = []
  const advances: Advance[] = []
  const inserts: NewExtent[] = []
  for (const [streamId, extents] of byStream) {
    const stream = placement.get(streamId)
    if (stream === undefined) {
      skippedStreamIds.push(streamId)
      continue
    }
    const { taken, packedOffset } = takeExtents(stream, extents)
    if (packedOffset === stream.packedOffset) continue
    for (const extent of taken) inserts.push(extent)
    const bytes = taken.reduce((sum, extent) => sum + extent.lengthBytes, 0)
    const dirtySince = Math.min(...taken.map((extent) => agedFromMs(extent, nowMs)), Number.MAX_SAFE_INTEGER)
    advances.push({ stream_id: streamId, packed_offset: packedOffset, bytes, dirty_since: dirtySince })
  }

  const unused = await placeObjects(database, tx, pack.objects, inserts, nowMs)
  await advanceStreams(database, tx, advances)
  const advanced = new Set(advances.map((advance) => advance.stream_id))
  await replaceStates(
    tx,
    pack.states.filter((state) => advanced.has(state.streamId)),
  )
  const released = await releaseWal(tx, node, pack)
  const left = [...released, ...unused]
  await touchObjects(tx, left)
  await doomUnreferenced(tx, left, nowMs)
  return { skippedStreamIds }
}

/** Inserts extents with the objects they point into; returns the keys of objects that none points into. */
async function placeObjects(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  objects: readonly NewObject[],
  extents: readonly NewExtent[],
  nowMs: number,
): Promise<string[]> {
  const given = new Map(objects.map((object) => [object.objectId, object]))
  // A WAL object whose streams are taken over one transfer at a time comes several times: it keeps the id it got first.
  const known = await selectObjectIds(tx, objects)
  const usage = new ObjectUsage()
  const used = new Set<NewObject>()
  const placed = extents.map((extent) => {
    const { streamId, lengthBytes } = extent
    const object = given.get(extent.objectId)
    assert(object !== undefined, `extent of stream ${streamId} points into object ${extent.objectId}, not of this pack`)
    assert(
      extent.position + lengthBytes <= object.lengthBytes,
      `extent of stream ${streamId} ends outside ${object.key}`,
    )
    used.add(object)
    const objectId = known.get(object.key) ?? object.objectId
    usage.add(objectId, 1, lengthBytes)
    return { ...extent, objectId, agedFromMs: agedFromMs(extent, nowMs) }
  })

  const fresh = [...used].filter((object) => !known.has(object.key))
  const freshKeys = fresh.map((object) => object.key)
  const inWal = await referencedKeys(tx, freshKeys)
  const uploaded = freshKeys.filter((key) => !inWal.has(key))
  await requireAnnounced(tx, uploaded, nowMs)
  await unmark(tx, freshKeys)
  await insertObjects(tx, fresh)
  await usage.apply(tx)
  await insertExtents(database, tx, placed)
  return objects.filter((object) => !used.has(object)).map((object) => object.key)
}

async function selectObjectIds(tx: Transaction<Schema>, objects: readonly NewObject[]): Promise<Map<string, number>> {
  const ids = new Map<string, number>()
  for (const chunk of idChunks(objects.map((object) => object.key))) {
    const rows = await tx
      .selectFrom('data_objects')
      .select(['object_id', 'object_key'])
      .where('object_key', 'in', chunk)
      .execute()
    for (const row of rows) ids.set(row.object_key, row.object_id)
  }
  return ids
}

/** What retention, and compaction by key, count from. */
function agedFromMs({ maxTimestampMs }: NewExtent, nowMs: number): number {
  return maxTimestampMs < 0 ? nowMs : maxTimestampMs
}

type Advance = Record<'stream_id' | 'packed_offset' | 'bytes' | 'dirty_since', number>

async function advanceStreams(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  advances: readonly Advance[],
): Promise<void> {
  for (const table of database.integerTables(advances, ['stream_id', 'packed_offset', 'bytes', 'dirty_since'])) {
    await tx
      .with('advance(stream_id, packed_offset, bytes, dirty_since)', () => table)
      .updateTable('streams')
      .from('advance')
      .set((eb) => ({
        packed_offset: eb.ref('advance.packed_offset'),
        packed_bytes: eb('streams.packed_bytes', '+', eb.ref('advance.bytes')),
        dirty_since_ms: eb
          .case()
          .when('streams.dirty_since_ms', '<', eb.ref('advance.dirty_since'))
          .then(eb.ref('streams.dirty_since_ms'))
          .else(eb.ref('advance.dirty_since'))
          .end(),
      }))
      .whereRef('streams.stream_id', '=', 'advance.stream_id')
      .execute()
  }
}
