import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int16, int32, string, struct, uuid } from '../field.ts'

const topicPartitions = {
  topicId: uuid(),
  topicName: string(),
  partitions: array(int32()),
}

const assignment = {
  topicPartitions: array(topicPartitions),
}

/**
 * Describes share groups (KIP-932).
 *
 * - v1 is the first stable version.
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
 * INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, INVALID_REQUEST; from v1 TOPIC_AUTHORIZATION_FAILED.
 */
export const shareGroupDescribe = api({
  key: 77,
  name: 'ShareGroupDescribe',
  versions: [1, 1],
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
        rackId: string({ nullable: '0+', default: null }),
        memberEpoch: int32(),
        clientId: string(),
        clientHost: string(),
        subscribedTopicNames: array(string()),
        assignment: struct(assignment),
      }),
      /** 32-bit bitfield to represent authorized operations for this group. */
      authorizedOperations: int32({ default: -2147483648 }),
    }),
  },
})

export type ShareGroupDescribeRequest = RequestOf<typeof shareGroupDescribe>
export type ShareGroupDescribeResponse = ResponseOf<typeof shareGroupDescribe>
