import type { Transaction } from 'kysely'
import type { LogIndex } from '../log-index.ts'
import { commitCompaction, compactionCandidates } from './compaction.ts'
import type { SqlDatabase } from './database.ts'
import { doomedObjects, knownKeys, mark, unmark } from './doomed-objects.ts'
import { replaceExtents } from './extent-replacement.ts'
import { extentsOfObject } from './extents.ts'
import { commitPack } from './pack.ts'
import type { Schema } from './schema.ts'
import { packedOffsets } from './stream-lookup.ts'
import { statesOfStreams } from './stream-states.ts'
import {
  closeWalSegment,
  commitWalObjects,
  createWalSegment,
  settleWalCommit,
  unadoptedNodes,
  walObjects,
  walSegments,
} from './wal.ts'

export function sqlLogIndex(database: SqlDatabase): LogIndex {
  const writeInTurn = <T>(doing: string, statements: (tx: Transaction<Schema>) => Promise<T>) => {
    const inTurn = (tx: Transaction<Schema>) => database.takeTurn(tx).then(() => statements(tx))
    return database.write(doing, inTurn, 'harmless')
  }
  return {
    commitWalObjects: (node, objects, attempt = 0) => commitWalObjects(database, node, objects, attempt),
    settleWalCommit: (node, sequence, attempt) =>
      database.writeOne(
        'settling a commit of WAL objects',
        (db) => settleWalCommit(db, node, sequence, attempt),
        'harmless',
      ),
    walObjects: (nodeId) => database.read('listing WAL objects', (db) => walObjects(db, nodeId)),
    unadoptedNodes: () => database.read('looking for WAL to adopt', (db) => unadoptedNodes(db)),
    createWalSegment: (node, segment) =>
      database.write(
        `recording WAL segment ${segment.segmentId}`,
        (tx) => createWalSegment(tx, node, segment),
        'harmless',
      ),
    closeWalSegment: (node, segmentId, committedBytes) =>
      database.write(
        `closing WAL segment ${segmentId}`,
        (tx) => closeWalSegment(tx, node, segmentId, committedBytes),
        'harmless',
      ),
    walSegments: (nodeId) => database.read('listing WAL segments', (db) => walSegments(db, nodeId)),
    announceUpload: (key, dueAtMs) =>
      database.writeOne(`announcing object ${key}`, (tx) => mark(tx, [key], dueAtMs), 'harmless'),
    commitPack: (node, pack, nowMs) =>
      database.writeMany(
        'committing a pack',
        async (tx) => {
          await database.takeTurn(tx)
          return commitPack(database, tx, node, pack, nowMs)
        },
        'harmless',
      ),
    streamStates: (streamIds) => database.read('reading stream states', (db) => statesOfStreams(db, streamIds)),
    packedOffsets: (streamIds) => database.read('reading packed offsets', (db) => packedOffsets(db, streamIds)),
    compactionCandidates: (limits) =>
      database.read('choosing objects to compact', (db) => compactionCandidates(db, limits)),
    extentsOfObject: (objectId) =>
      database.read(`reading the extents of object ${objectId}`, (db) => extentsOfObject(db, objectId)),
    replaceExtents: (node, replacement, nowMs) =>
      writeInTurn('replacing extents', (tx) => replaceExtents(database, tx, node, replacement, nowMs)),
    commitCompaction: (node, compaction, nowMs) =>
      writeInTurn('committing a compaction', (tx) => commitCompaction(database, tx, node, compaction, nowMs)),
    doomed: (beforeMs, limit) => database.read('listing doomed objects', (db) => doomedObjects(db, beforeMs, limit)),
    forgetDoomed: (keys) => database.write('forgetting deleted objects', (tx) => unmark(tx, keys), 'harmless'),
    knownKeys: (keys) => database.read('looking up object keys', (db) => knownKeys(db, keys)),
    totals: () =>
      database.read('counting objects', async (db) => {
        const objects = await db
          .selectFrom('data_objects')
          .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number | null>('length_bytes').as('bytes')])
          .executeTakeFirstOrThrow()
        const doomed = await db
          .selectFrom('doomed_objects')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        return { objects: objects.count, lengthBytes: objects.bytes ?? 0, doomed: doomed.count }
      }),
  }
}
