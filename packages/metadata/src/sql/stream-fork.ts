import type { Transaction } from 'kysely'
import { sql } from 'kysely'
import type { ExtentCut, NewFork, StreamRecord } from '../stream-catalog.ts'
import { setDirtySince } from './compaction-lag.ts'
import { reserveNumbers } from './counters.ts'
import { extentColumns } from './extents.ts'
import { ObjectUsage } from './object-usage.ts'
import type { Schema } from './schema.ts'
import { requireBoundSchemas } from './schema-bindings.ts'
import { newRecord, newRow, refuseTaken } from './stream-creation.ts'
import { streamColumns, streamRecord } from './stream-rows.ts'

export async function forkStream(
  tx: Transaction<Schema>,
  fork: NewFork,
  nowMs: number,
): Promise<StreamRecord | 'source-missing' | 'source-gone' | 'source-changed'> {
  const { sourceStreamId, sharedEnd, cut } = fork
  const row = await tx
    .selectFrom('streams')
    .select(streamColumns)
    .where('stream_id', '=', sourceStreamId)
    .executeTakeFirst()
  if (row === undefined) return 'source-missing'
  const source = streamRecord(row)
  if (source.life !== 'live') return source.life === 'gone' ? 'source-gone' : 'source-missing'
  if (!(await isAsSeen(tx, source, sharedEnd, cut))) return 'source-changed'
  await refuseTaken(tx, [fork.stream])
  await requireBoundSchemas(tx, [fork.stream.config])

  const streamId = await reserveNumbers(tx, 'streamId', 1)
  const record = {
    ...newRecord(fork.stream, streamId, nowMs),
    fork: { sourceStreamId, sourceName: source.name, offset: fork.offset, subOffset: fork.subOffset },
    leaderEpoch: source.leaderEpoch,
    startOffset: Math.min(source.startOffset, fork.offset),
    packedOffset: sharedEnd,
  }
  await tx.insertInto('streams').values(newRow(record)).execute()
  await copyLeaderEpochs(tx, sourceStreamId, streamId, sharedEnd)
  await copyExtents(tx, sourceStreamId, streamId, sharedEnd)
  if (cut !== null) await copyCut(tx, sourceStreamId, streamId, sharedEnd, cut)
  await setDirtySince(tx, streamId, 0)
  return { ...record, packedBytes: await countIn(tx, streamId) }
}

/** Whether what lies across `sharedEnd` is what was seen there. */
async function isAsSeen(
  tx: Transaction<Schema>,
  source: StreamRecord,
  sharedEnd: number,
  cut: ExtentCut | null,
): Promise<boolean> {
  const across = await tx
    .selectFrom('extents')
    .select(['base_offset', 'object_id', 'position'])
    .where('stream_id', '=', source.streamId)
    .where('base_offset', '<', sharedEnd)
    .where('end_offset', '>', sharedEnd)
    .executeTakeFirst()
  // Below the trim watermark there is nothing to share.
  if (across === undefined || sharedEnd <= source.startOffset) {
    return cut === null && (source.packedOffset >= sharedEnd || sharedEnd <= source.startOffset)
  }
  return (
    cut !== null &&
    across.base_offset === cut.extent.baseOffset &&
    across.object_id === cut.extent.objectId &&
    across.position === cut.extent.position
  )
}

async function copyLeaderEpochs(tx: Transaction<Schema>, from: number, to: number, sharedEnd: number): Promise<void> {
  await tx
    .insertInto('stream_epochs')
    .columns(['stream_id', 'leader_epoch', 'start_offset'])
    .expression((eb) =>
      eb
        .selectFrom('stream_epochs')
        .select((it) => [it.cast<number>(it.val(to), 'bigint').as('stream_id'), 'leader_epoch', 'start_offset'])
        .where('stream_id', '=', from)
        .where('start_offset', '<', sharedEnd),
    )
    .execute()
}

const copiedColumns = ['stream_id', 'object_stream_id', ...extentColumns] as const

async function copyExtents(tx: Transaction<Schema>, from: number, to: number, sharedEnd: number): Promise<void> {
  await tx
    .insertInto('extents')
    .columns(copiedColumns)
    .expression((eb) =>
      eb
        .selectFrom('extents')
        .select((it) => [
          it.cast<number>(it.val(to), 'bigint').as('stream_id'),
          it.fn.coalesce('object_stream_id', 'stream_id').as('object_stream_id'),
          ...extentColumns,
        ])
        .where('stream_id', '=', from)
        .where('end_offset', '<=', sharedEnd),
    )
    .execute()
}

async function copyCut(
  tx: Transaction<Schema>,
  from: number,
  to: number,
  sharedEnd: number,
  { extent, lengthBytes, maxTimestampMs, crc32c }: ExtentCut,
): Promise<void> {
  const bigint = (value: number) => sql<number>`cast(${value} as bigint)`
  await tx
    .insertInto('extents')
    .columns(copiedColumns)
    .expression((eb) =>
      eb
        .selectFrom('extents')
        .select((it) => [
          bigint(to).as('stream_id'),
          it.fn.coalesce('object_stream_id', 'stream_id').as('object_stream_id'),
          'base_offset',
          bigint(sharedEnd).as('end_offset'),
          'object_id',
          'position',
          bigint(lengthBytes).as('length_bytes'),
          bigint(maxTimestampMs).as('max_timestamp_ms'),
          // Where no record has a timestamp it is the commit's time, which stays.
          it.fn
            .coalesce(sql<number | null>`cast(${maxTimestampMs < 0 ? null : maxTimestampMs} as bigint)`, 'aged_from_ms')
            .as('aged_from_ms'),
          sql<number | null>`cast(${crc32c} as bigint)`.as('crc32c'),
        ])
        .where('stream_id', '=', from)
        .where('base_offset', '=', extent.baseOffset),
    )
    .execute()
}

/** Counts the stream's extents among those of their objects, and returns the bytes of all. */
async function countIn(tx: Transaction<Schema>, streamId: number): Promise<number> {
  const objects = await tx
    .selectFrom('extents')
    .select(({ fn }) => ['object_id', fn.countAll<number>().as('extents'), fn.sum<number>('length_bytes').as('bytes')])
    .where('stream_id', '=', streamId)
    .groupBy('object_id')
    .execute()
  const usage = new ObjectUsage()
  for (const { object_id, extents, bytes } of objects) usage.add(object_id, extents, bytes)
  await usage.apply(tx)
  const packedBytes = objects.reduce((sum, { bytes }) => sum + bytes, 0)
  await tx.updateTable('streams').set({ packed_bytes: packedBytes }).where('stream_id', '=', streamId).execute()
  return packedBytes
}
