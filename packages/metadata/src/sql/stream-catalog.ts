import type { StreamCatalog } from '../stream-catalog.ts'
import { compactionDue, recordCompacted } from './compaction-lag.ts'
import type { SqlDatabase } from './database.ts'
import { retentionDue } from './retention.ts'
import { setStreamConfig, setTopicConfig } from './stream-config.ts'
import { createStreams } from './stream-creation.ts'
import { forkStream } from './stream-fork.ts'
import { closeStream, expiredStreams, renewStreams, revealStreams, streamsBeingCreated } from './stream-life.ts'
import {
  listStreams,
  listTopics,
  streamsById,
  streamsByName,
  streamsByTopic,
  streamsByTopicId,
} from './stream-lookup.ts'
import { leaderEpochs, openStreams, releaseStreams } from './stream-ownership.ts'
import { ownedCounts, StreamPlacer, streamsOwnedBy } from './stream-placement.ts'
import { deleteStreams, trimStream } from './stream-removal.ts'
import { lifeNumbers } from './stream-rows.ts'

export function sqlStreamCatalog(database: SqlDatabase): StreamCatalog {
  const placer = new StreamPlacer(database)
  return {
    create: (streams, nowMs) => database.write('creating streams', (tx) => createStreams(database, tx, streams, nowMs)),
    byName: (names) => database.read('looking up streams by name', (db) => streamsByName(db, names)),
    byTopic: (topics) => database.read('looking up streams by topic', (db) => streamsByTopic(db, topics)),
    byTopicId: (topicIds) => database.read('looking up streams by topic id', (db) => streamsByTopicId(db, topicIds)),
    byStreamId: (streamIds) => database.read('looking up streams by id', (db) => streamsById(db, streamIds)),
    listTopics: (page) => database.read('listing topics', (db) => listTopics(db, page)),
    list: (page) => database.read('listing streams', (db) => listStreams(db, page)),
    count: () =>
      database.read('counting streams', async (db) => {
        const row = await db
          .selectFrom('streams')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('life', '=', lifeNumbers.live)
          .executeTakeFirstOrThrow()
        return row.count
      }),
    open: (node, streamIds) => database.write('opening streams', (tx) => openStreams(tx, node, streamIds), 'harmless'),
    place: (streamIds, nowMs) => placer.place(streamIds, nowMs),
    release: (node, streamIds) =>
      database.write('releasing streams', (tx) => releaseStreams(tx, node, streamIds), 'harmless'),
    ownedCounts: () => database.read('counting streams of nodes', (db) => ownedCounts(db)),
    ownedBy: (node, page) => database.read('listing streams of a node', (db) => streamsOwnedBy(db, node, page)),
    leaderEpochs: (streamId) => database.read('reading leader epochs', (db) => leaderEpochs(db, streamId)),
    setTopicConfig: (topicId, change) =>
      database.write(`configuring topic ${topicId}`, (tx) => setTopicConfig(database, tx, topicId, change)),
    fork: (fork, nowMs) => database.write('forking a stream', (tx) => forkStream(tx, fork, nowMs)),
    reveal: (node, streams) => database.write('revealing streams', (tx) => revealStreams(tx, node, streams)),
    creating: (page) => database.read('listing streams being created', (db) => streamsBeingCreated(db, page)),
    close: (node, streamId, closedBy) =>
      database.write(`closing stream ${streamId}`, (tx) => closeStream(tx, node, streamId, closedBy), 'harmless'),
    renew: (ends) => database.write('renewing streams', (tx) => renewStreams(database, tx, ends), 'harmless'),
    expired: (nowMs, limit) => database.read('finding expired streams', (db) => expiredStreams(db, nowMs, limit)),
    setConfig: (streamId, config) =>
      database.write(
        `configuring stream ${streamId}`,
        (tx) => setStreamConfig(database, tx, streamId, config),
        'harmless',
      ),
    trim: (node, streamId, startOffset, nowMs) =>
      database.write(
        `trimming stream ${streamId}`,
        (tx) => trimStream(tx, node, streamId, startOffset, nowMs),
        'harmless',
      ),
    delete: (streamIds, nowMs) =>
      database.write('deleting streams', (tx) => deleteStreams(database, tx, streamIds, nowMs)),
    compactionDue: (of, nowMs, limit) =>
      database.read('finding streams whose compaction is due', (db) => compactionDue(db, of, nowMs, limit)),
    recordCompacted: (node, streamId, compactedTo) =>
      database.write(
        `recording a compaction of stream ${streamId}`,
        (tx) => recordCompacted(tx, node, streamId, compactedTo),
        'harmless',
      ),
    retentionDue: (of, nowMs, limit) =>
      database.read('finding streams whose retention is due', (db) => retentionDue(db, of, nowMs, limit)),
  }
}
