import { uuidFromBytes, uuidToBytes, zeroUuid } from '@pico/binary'
import type { GroupMetadataRecord, GroupRecord, OffsetCommitRecord } from '@pico/group-coordinator'
import {
  decodeGroupRecordKey,
  decodeVersioned,
  encodeGroupMetadataKey,
  encodeOffsetCommitKey,
  encodeVersioned,
  groupMetadataValue,
  type OffsetCommitKey,
  offsetCommitValue,
} from '@pico/kafka-codec'
import type { RecordInput, RecordView } from '@pico/record-batch'
import { nearestSafeInteger } from '../int64.ts'

/*
 * A group's records in Kafka's own schemas, as `__consumer_offsets` has them. Of a group's metadata only the type of protocol and the
 * time since it is empty are told: members live in memory. Like Kafka 4.4, an offset is written in version 4, which names its topic by
 * id too, so that the offsets of a topic that was deleted and made again are known to be of the former; in version 1 if it has a time
 * of its own to expire, and then the topic's id is in a header.
 */

const topicIdHeader = 'topic-id'

export interface LoggedGroupRecord {
  readonly record: GroupRecord
  /** Of an offset: the topic that it was committed for; null where that was not known. */
  readonly topicId: string | null
}

export function encodeGroupRecord(
  record: GroupRecord,
  topicIds: ReadonlyMap<string, string>,
  timestamp: number,
): RecordInput {
  const { groupId: group } = record
  switch (record.kind) {
    case 'offsetCommit':
      return { timestamp, key: offsetKey(record), ...offsetValue(record, topicIds.get(record.topic) ?? null) }
    case 'offsetTombstone':
      return { timestamp, key: offsetKey(record), value: null }
    case 'groupMetadata':
      return { timestamp, key: encodeGroupMetadataKey({ group }), value: metadataValue(record) }
    case 'groupDeleted':
      return { timestamp, key: encodeGroupMetadataKey({ group }), value: null }
  }
}

/** @throws CodecError for what is no record of a group */
export function decodeGroupRecord({ key, value, headers }: RecordView): LoggedGroupRecord | null {
  const decoded = decodeGroupRecordKey(key ?? noBytes)
  switch (decoded.kind) {
    case 'offsetCommit':
      return decodeOffset(decoded, value, headers)
    case 'groupMetadata':
      return { record: decodeMetadata(decoded.group, value), topicId: null }
    case 'other': // Written by a later version, for something that this one does not do.
      return null
  }
}

const noBytes = new Uint8Array(0)

function offsetKey({ groupId: group, topic, partition }: { groupId: string; topic: string; partition: number }) {
  return encodeOffsetCommitKey({ group, topic, partition })
}

function offsetValue(record: OffsetCommitRecord, topicId: string | null): Pick<RecordInput, 'value' | 'headers'> {
  const { metadata, leaderEpoch, expireTimestampMs } = record
  const offset = BigInt(record.offset)
  const commitTimestamp = BigInt(record.commitTimestampMs)
  const common = { offset, metadata, commitTimestamp }
  if (expireTimestampMs !== null) {
    const value = encodeVersioned(offsetCommitValue, 1, { ...common, expireTimestamp: BigInt(expireTimestampMs) })
    return { value, headers: topicId === null ? [] : [{ key: topicIdHeader, value: uuidToBytes(topicId) }] }
  }
  if (topicId === null) return { value: encodeVersioned(offsetCommitValue, 3, { ...common, leaderEpoch }) }
  return { value: encodeVersioned(offsetCommitValue, 4, { ...common, leaderEpoch, topicId }) }
}

function metadataValue({ protocolType, emptySinceMs }: GroupMetadataRecord): Uint8Array {
  const currentStateTimestamp = BigInt(emptySinceMs ?? -1)
  const withoutMembers = { generation: 0, protocol: null, leader: null, members: [] }
  return encodeVersioned(groupMetadataValue, 3, { protocolType, currentStateTimestamp, ...withoutMembers })
}

function decodeOffset(
  { group: groupId, topic, partition }: OffsetCommitKey,
  bytes: Uint8Array | null,
  headers: RecordView['headers'],
): LoggedGroupRecord {
  if (bytes === null) return { record: { kind: 'offsetTombstone', groupId, topic, partition }, topicId: null }
  const { value } = decodeVersioned(offsetCommitValue, bytes, { newerAsLast: true })
  const { metadata, leaderEpoch } = value
  const expireTimestampMs = nearestSafeInteger(value.expireTimestamp)
  const record: GroupRecord = {
    kind: 'offsetCommit',
    groupId,
    topic,
    partition,
    offset: nearestSafeInteger(value.offset),
    leaderEpoch,
    metadata,
    commitTimestampMs: nearestSafeInteger(value.commitTimestamp),
    expireTimestampMs: expireTimestampMs === -1 ? null : expireTimestampMs,
  }
  const header = headers.find(({ key }) => Buffer.from(key).toString() === topicIdHeader)?.value ?? null
  const topicId = header === null ? value.topicId : uuidFromBytes(header)
  return { record, topicId: topicId === zeroUuid ? null : topicId }
}

function decodeMetadata(groupId: string, bytes: Uint8Array | null): GroupRecord {
  if (bytes === null) return { kind: 'groupDeleted', groupId }
  const { value } = decodeVersioned(groupMetadataValue, bytes, { newerAsLast: true })
  const since = nearestSafeInteger(value.currentStateTimestamp)
  return {
    kind: 'groupMetadata',
    groupId,
    protocolType: value.protocolType,
    emptySinceMs: since === -1 ? null : since,
  }
}
