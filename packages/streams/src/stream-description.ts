import type { StreamRecord } from '@pico/metadata'
import type { OpenPartition } from './open-partition.ts'
import type { StreamDescription } from './path-streams.ts'
import { expiryOf } from './stream-expiry.ts'
import type { Leader } from './topic.ts'

/** A stream as its row says; where it is open here, as it is. `expectedLeader`: see Placement. */
export function describeStream(
  record: StreamRecord,
  open: OpenPartition | undefined,
  expectedLeader: (record: StreamRecord) => Leader,
): StreamDescription {
  const { streamId, name, topic, topicId: incarnation, contentType, createdAtMs, fork } = record
  return {
    streamId,
    name,
    topic,
    incarnation,
    contentType,
    config: open?.config.overrides ?? record.config,
    expiry: expiryOf(record),
    createdAtMs,
    closed: open?.closed ?? record.isClosed,
    startOffset: open?.startOffset ?? record.startOffset,
    nextOffset: open?.highWatermark ?? Math.max(record.packedOffset, record.startOffset),
    sizeBytes: open?.sizeBytes ?? record.packedBytes,
    fork: fork === null ? null : { source: fork.sourceName, offset: fork.offset, subOffset: fork.subOffset },
    ownerNodeId: record.owner?.nodeId ?? null,
    leaderEpoch: open?.leaderEpoch ?? expectedLeader(record).leaderEpoch,
  }
}
