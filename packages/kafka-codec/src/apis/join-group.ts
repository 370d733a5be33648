import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, bytes, int16, int32, string } from '../field.ts'

/**
 * Enters a classic consumer group, or comes back after a rebalance: answered when all members are in.
 *
 * - v1 adds the rebalance timeout, apart from the session timeout.
 * - v2 adds the throttle time.
 * - v4: a new member is first sent away with MEMBER_ID_REQUIRED and an id, and joins again with it (KIP-394).
 * - v5 adds the instance id of static members (KIP-345).
 * - v7 returns the protocol type (KIP-559).
 * - v8 adds the reason for joining (KIP-800).
 * - v9 lets the coordinator tell the leader to assign nothing (KIP-814).
 */
export const joinGroup = api({
  key: 11,
  name: 'JoinGroup',
  versions: [0, 9],
  flexibleFrom: 6,
  request: {
    groupId: string(),
    /**
     * The coordinator considers the consumer dead if it receives no heartbeat after this timeout in milliseconds.
     */
    sessionTimeoutMs: int32(),
    /**
     * The maximum time in milliseconds that the coordinator will wait for each member to rejoin when rebalancing the
     * group.
     */
    rebalanceTimeoutMs: int32({ versions: '1+', default: -1, ignorable: true }),
    memberId: string(),
    /** The unique identifier of the consumer instance provided by end user. */
    groupInstanceId: string({ versions: '5+', nullable: '5+', default: null }),
    /** The unique name the for class of protocols implemented by the group we want to join. */
    protocolType: string(),
    protocols: array({
      name: string(),
      metadata: bytes(),
    }),
    reason: string({ versions: '8+', nullable: '8+', default: null, ignorable: true }),
  },
  response: {
    throttleTimeMs: int32({ versions: '2+', ignorable: true }),
    errorCode: int16(),
    generationId: int32({ default: -1 }),
    protocolType: string({ versions: '7+', nullable: '7+', default: null, ignorable: true }),
    protocolName: string({ nullable: '7+' }),
    leader: string(),
    /** True if the leader must skip running the assignment. */
    skipAssignment: boolean({ versions: '9+', default: false }),
    memberId: string(),
    members: array({
      memberId: string(),
      /** The unique identifier of the consumer instance provided by end user. */
      groupInstanceId: string({ versions: '5+', nullable: '5+', default: null, ignorable: true }),
      metadata: bytes(),
    }),
  },
})

export type JoinGroupRequest = RequestOf<typeof joinGroup>
export type JoinGroupResponse = ResponseOf<typeof joinGroup>
