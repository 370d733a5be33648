import type { Metadata } from '../../src/metadata.ts'

const node = { nodeId: 1, nodeEpoch: 1 }
const farMs = 8e12

function stream(topic: string) {
  const topicId = `00000000-0000-4000-8000-${topic.padStart(12, '0')}`
  return { name: `/${topic}`, topic, partition: 0, topicId, contentType: 'text/plain', config: {} }
}

function extent(streamId: number, baseOffset: number, endOffset: number, objectId: number) {
  const place = { position: baseOffset * 10, lengthBytes: (endOffset - baseOffset) * 10 }
  return { streamId, baseOffset, endOffset, objectId, ...place, maxTimestampMs: endOffset, crc32c: null }
}

function pack(objectId: number, base: number, end: number, sequence: number) {
  return {
    objects: [{ objectId, key: `data/${objectId}`, lengthBytes: 10_000 }],
    extents: [1, 2, 3].map((streamId) => extent(streamId, base, end, objectId)),
    states: [1, 2, 3].map((streamId) => ({ streamId, state: Uint8Array.of(end) })),
    walObjects: [{ node, sequence }],
    walSegments: [],
  }
}

/** A database's life, one transaction a step; every run of it leaves the same rows. */
export const story: readonly ((metadata: Metadata) => Promise<unknown>)[] = [
  ({ nodes }) => nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1),
  ({ nodes }) => nodes.clusterId('cluster'),
  ({ streams }) => streams.create(['1', '2', '3'].map(stream), 2),
  ({ streams }) => streams.open(node, [1, 2, 3]),
  ({ log }) =>
    log.commitWalObjects(
      node,
      [1, 2, 3].map((sequence) => ({ sequence, key: `wal/${sequence}`, lengthBytes: 9, index: Uint8Array.of(1) })),
    ),
  ({ log }) => log.createWalSegment(node, { segmentId: 1, key: 'wal/s1', sizeBytes: 64 }),
  ({ nodes }) => nodes.reserve('objectId', 7),
  ({ log }) => log.announceUpload('data/1', farMs),
  ({ log }) => log.commitPack(node, pack(1, 0, 10, 1), 3),
  ({ log }) => log.announceUpload('data/2', farMs),
  ({ log }) => log.commitPack(node, pack(2, 10, 20, 2), 4),
  ({ streams }) => streams.trim(node, 1, 12, 5),
  ({ log }) => log.announceUpload('data/3', farMs),
  ({ log }) =>
    log.commitCompaction(
      node,
      {
        object: { objectId: 3, key: 'data/3', lengthBytes: 10_000 },
        replaced: [1, 2],
        extents: [1, 2, 3].map((streamId) => ({
          ...extent(streamId, 0, 20, 3),
          cuts: [0, 10].map((baseOffset) => ({ baseOffset, position: baseOffset * 10 })),
        })),
      },
      6,
    ),
  ({ streams }) =>
    streams.fork(
      {
        stream: { ...stream('4'), life: 'creating', expiresAtMs: 100, idleTtlMs: 50 },
        ...{ sourceStreamId: 3, offset: 15, subOffset: 0, sharedEnd: 15 },
        cut: {
          extent: { baseOffset: 0, objectId: 3, position: 0 },
          ...{ lengthBytes: 150, maxTimestampMs: 15, crc32c: null },
        },
      },
      6,
    ),
  ({ streams }) => streams.open(node, [4]),
  ({ streams }) => streams.reveal(node, [{ streamId: 4, isClosed: false }]),
  ({ streams }) => streams.renew([{ streamId: 4, expiresAtMs: 200 }]),
  ({ streams }) => streams.close(node, 4, '{"by":"p"}'),
  ({ streams }) => streams.delete([3], 6),
  ({ streams }) => streams.delete([4], 6),
  ({ log }) => log.closeWalSegment(node, 1, 32),
  ({ streams }) => streams.delete([2], 7),
  ({ log }) => log.forgetDoomed(['data/1', 'wal/1']),
  ({ nodes }) => nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 8),
]
