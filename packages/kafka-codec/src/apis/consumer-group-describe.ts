import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, string, struct, uuid } from '../field.ts'

const topicPartitions = {
  topicId: uuid(),
  topicName: string(),
  partitions: array(int32()),
}

const assignment = {
  topicPartitions: array(topicPartitions),
}

/**
 * Describes consumer groups of the new protocol (KIP-848).
 *
 * - v1 adds the type of the member: classic or consumer (KIP-1099).
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
 * INVALID_REQUEST, INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, TOPIC_AUTHORIZATION_FAILED.
 */
export const consumerGroupDescribe = api({
  key: 69,
  name: 'ConsumerGroupDescribe',
  versions: [0, 1],
  flexibleFrom: 0,
  request: {
    groupIds: array(string()),
    includeAuthorizedOperations: boolean(),
  },
  response: {
    throttleTimeMs: int32(),
    groups: array({
      errorCode: int16(),
      errorMessage: string({ nullable: '0+', default: null }),
      groupId: string(),
      groupState: string(),
      groupEpoch: int32(),
      assignmentEpoch: int32(),
      assignorName: string(),
      members: array({
        memberId: string(),
        instanceId: string({ nullable: '0+', default: null }),
        rackId: string({ nullable: '0+', default: null }),
        memberEpoch: int32(),
        clientId: string(),
        clientHost: string(),
        subscribedTopicNames: array(string()),
        subscribedTopicRegex: string({ nullable: '0+', default: null }),
        assignment: struct(assignment),
        targetAssignment: struct(assignment),
        /** -1 for unknown. 0 for classic member. +1 for consumer member. */
        memberType: int8({ versions: '1+', default: -1, ignorable: true }),
      }),
      /** 32-bit bitfield to represent authorized operations for this group. */
      authorizedOperations: int32({ default: -2147483648 }),
    }),
  },
})

export type ConsumerGroupDescribeRequest = RequestOf<typeof consumerGroupDescribe>
export type ConsumerGroupDescribeResponse = ResponseOf<typeof consumerGroupDescribe>
