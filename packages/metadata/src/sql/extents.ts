import assert from 'node:assert/strict'
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Extent, NewExtent } from '../log-index.ts'
import { idChunks } from './chunks.ts'
import type { SqlDatabase } from './database.ts'
import type { DataObjectsTable, ExtentsTable, Schema } from './schema.ts'

type ExtentRow = Omit<Selectable<ExtentsTable>, 'aged_from_ms'> &
  Pick<Selectable<DataObjectsTable>, 'object_key'> & { object_bytes: number }

/** Extents of each stream that has any, ascending. */
export async function extentsOfStreams(
  db: Kysely<Schema>,
  streamIds: readonly number[],
): Promise<Map<number, Extent[]>> {
  const extents = new Map<number, Extent[]>()
  for (const chunk of idChunks(streamIds)) {
    const rows = await selectExtents(db)
      .where('extents.stream_id', 'in', chunk)
      .orderBy('extents.stream_id')
      .orderBy('extents.base_offset')
      .execute()
    for (const row of rows) {
      const list = extents.get(row.stream_id)
      if (list === undefined) extents.set(row.stream_id, [extent(row)])
      else list.push(extent(row))
    }
  }
  return extents
}

/** Extents that point into an object, by stream, ascending. */
export async function extentsOfObject(db: Kysely<Schema>, objectId: number): Promise<Extent[]> {
  const rows = await selectExtents(db)
    .where('extents.object_id', '=', objectId)
    .orderBy('extents.stream_id')
    .orderBy('extents.base_offset')
    .execute()
  return rows.map(extent)
}

function selectExtents(db: Kysely<Schema>) {
  return db
    .selectFrom('extents')
    .innerJoin('data_objects', 'data_objects.object_id', 'extents.object_id')
    .select([
      'extents.stream_id',
      'extents.base_offset',
      'extents.end_offset',
      'extents.object_id',
      'extents.position',
      'extents.length_bytes',
      'extents.max_timestamp_ms',
      'extents.crc32c',
      'extents.object_stream_id',
      'data_objects.object_key',
      'data_objects.length_bytes as object_bytes',
    ])
}

function extent(row: ExtentRow): Extent {
  return {
    streamId: row.stream_id,
    baseOffset: row.base_offset,
    endOffset: row.end_offset,
    objectId: row.object_id,
    objectKey: row.object_key,
    objectBytes: row.object_bytes,
    position: row.position,
    lengthBytes: row.length_bytes,
    maxTimestampMs: row.max_timestamp_ms,
    crc32c: row.crc32c,
    objectStreamId: row.object_stream_id ?? row.stream_id,
  }
}

/** What a row says of an extent, but for whose it is. */
export const extentColumns = [
  'base_offset',
  'end_offset',
  'object_id',
  'position',
  'length_bytes',
  'max_timestamp_ms',
  'aged_from_ms',
  'crc32c',
] as const
const newExtentColumns = ['stream_id', ...extentColumns] as const

export async function insertExtents(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  extents: readonly (NewExtent & { readonly agedFromMs: number })[],
): Promise<void> {
  for (const extent of extents) assertWellFormed(extent)
  const rows = extents.map((extent) => ({
    stream_id: extent.streamId,
    base_offset: extent.baseOffset,
    end_offset: extent.endOffset,
    object_id: extent.objectId,
    position: extent.position,
    length_bytes: extent.lengthBytes,
    max_timestamp_ms: extent.maxTimestampMs,
    aged_from_ms: extent.agedFromMs,
    crc32c: extent.crc32c,
  }))
  for (const table of database.integerTables(rows, newExtentColumns)) {
    await tx
      .with(`given(${newExtentColumns.join(', ')})`, () => table)
      .insertInto('extents')
      .columns(newExtentColumns)
      .expression((eb) => eb.selectFrom('given').select(newExtentColumns))
      .execute()
  }
}

function assertWellFormed(extent: NewExtent): void {
  const { streamId, baseOffset, endOffset, position, lengthBytes } = extent
  const integers = [streamId, baseOffset, endOffset, extent.objectId, position, lengthBytes, extent.maxTimestampMs]
  assert(
    integers.every(Number.isSafeInteger) &&
      0 <= baseOffset &&
      baseOffset < endOffset &&
      position >= 0 &&
      lengthBytes > 0,
    `extent [${baseOffset}, ${endOffset}) of stream ${streamId} at ${position}+${lengthBytes} is malformed`,
  )
}
