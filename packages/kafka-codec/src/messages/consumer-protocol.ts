import { array, bytes, int32, string } from '../field.ts'
import { type MessageOf, message } from '../message.ts'

/**
 * What consumers tell each other inside JoinGroup and SyncGroup, where the protocol type is `consumer`. To a broker
 * these are opaque bytes. On the wire a version (int16) stands before each: see `encodeVersioned` and
 * `decodeVersioned`, the latter with `newerAsLast`, because versions only ever add fields at the end.
 */

/**
 * What a member wants, in JoinGroup: topics, and since v1 the partitions it holds (KIP-429).
 *
 * - v2 adds the generation in which it got them (KIP-792).
 * - v3 adds the rack (KIP-881).
 */
export const consumerProtocolSubscription = message({
  name: 'ConsumerProtocolSubscription',
  versions: [0, 3],
  fields: {
    topics: array(string()),
    /** Belongs to the assignor. */
    userData: bytes({ nullable: '0+', default: null }),
    ownedPartitions: array({ topic: string(), partitions: array(int32()) }, { versions: '1+', ignorable: true }),
    generationId: int32({ versions: '2+', default: -1, ignorable: true }),
    rackId: string({ versions: '3+', nullable: '3+', default: null, ignorable: true }),
  },
})

/** What a member gets, in SyncGroup. All versions are the same. */
export const consumerProtocolAssignment = message({
  name: 'ConsumerProtocolAssignment',
  versions: [0, 3],
  fields: {
    assignedPartitions: array({ topic: string(), partitions: array(int32()) }),
    /** Belongs to the assignor. */
    userData: bytes({ nullable: '0+', default: null }),
  },
})

export type ConsumerProtocolSubscription = MessageOf<typeof consumerProtocolSubscription>
export type ConsumerProtocolAssignment = MessageOf<typeof consumerProtocolAssignment>
