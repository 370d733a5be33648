import { array, bytes, int32, int64, string, uuid } from '../field.ts'
import { type MessageOf, message } from '../message.ts'

/**
 * The records of `__consumer_offsets` that concern classic groups. A key begins with the type of the record (int16),
 * a value with the version of its schema (int16); a null value deletes what the key names. See `encodeVersioned`.
 */

/** Number in front of the key. Type 0 is an older form of 1 with the same key, still found in old logs. */
export const groupRecordTypes = { legacyOffsetCommit: 0, offsetCommit: 1, groupMetadata: 2 } as const

/** Key of a committed offset. */
export const offsetCommitKey = message({
  name: 'OffsetCommitKey',
  versions: [0, 0],
  fields: { group: string(), topic: string(), partition: int32() },
})

/** Value of a committed offset. Kafka 4.4 writes v3, or v4 if it knows the topic's id. */
export const offsetCommitValue = message({
  name: 'OffsetCommitValue',
  versions: [0, 4],
  flexibleFrom: 4,
  fields: {
    offset: int64(),
    /** Of the last record that was consumed. */
    leaderEpoch: int32({ versions: '3+', default: -1, ignorable: true }),
    metadata: string(),
    /** When the commit was written, in milliseconds since 1970. */
    commitTimestamp: int64(),
    /** When the offset expires; later versions leave that to the retention of the broker. */
    expireTimestamp: int64({ versions: '1', default: -1n, ignorable: true }),
    topicId: uuid({ versions: '4+', tag: 0, ignorable: true }),
  },
})

/** Key of a group's state. */
export const groupMetadataKey = message({
  name: 'GroupMetadataKey',
  versions: [0, 0],
  fields: { group: string() },
})

/** Value of a group's state: its generation, members and assignments. */
export const groupMetadataValue = message({
  name: 'GroupMetadataValue',
  versions: [0, 4],
  flexibleFrom: 4,
  fields: {
    protocolType: string(),
    generation: int32(),
    protocol: string({ nullable: '0+' }),
    /** Member id of the leader. */
    leader: string({ nullable: '0+' }),
    currentStateTimestamp: int64({ versions: '2+', default: -1n, ignorable: true }),
    members: array({
      memberId: string(),
      groupInstanceId: string({ versions: '3+', nullable: '3+', default: null, ignorable: true }),
      clientId: string(),
      clientHost: string(),
      /** In milliseconds, as is `sessionTimeout`. */
      rebalanceTimeout: int32({ versions: '1+', default: -1, ignorable: true }),
      sessionTimeout: int32(),
      subscription: bytes(),
      assignment: bytes(),
    }),
  },
})

export type OffsetCommitKey = MessageOf<typeof offsetCommitKey>
export type OffsetCommitValue = MessageOf<typeof offsetCommitValue>
export type GroupMetadataKey = MessageOf<typeof groupMetadataKey>
export type GroupMetadataValue = MessageOf<typeof groupMetadataValue>
