import type { DescribedGroup } from '@pico/group-coordinator'
import { describeGroups, kafkaErrors } from '@pico/kafka-codec'
import { allGroupOperations, operationsNotAsked } from '../authorized-operations.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * DescribeGroups 0-6 (kafka-compat 2.8): a group that does not exist is Dead, and an error only since v6 (KIP-1043). What members said
 * of themselves is told while the group is Stable, what they were given last at any time. v3: authorized operations. v4: instance ids.
 */

const firstWithGroupIdNotFound = 6

export function describeGroupsHandler({ groups }: Dependencies): Handler {
  return handler({
    api: describeGroups,
    versions: [0, 6],
    largeAnswer: true,
    async handle(request, { apiVersion }) {
      const authorizedOperations = request.includeAuthorizedOperations ? allGroupOperations : operationsNotAsked
      const described = request.groups.map(async (groupId) => {
        const found = await groups.describe(groupId)
        if (!('picture' in found)) return refused(groupId, found.errorCode)
        const { picture } = found
        if (picture.groupState === 'Dead' && apiVersion >= firstWithGroupIdNotFound) return notFound(groupId)
        return {
          groupId,
          errorCode: 0,
          errorMessage: null,
          ...picture,
          members: membersOf(picture),
          authorizedOperations,
        }
      })
      return { throttleTimeMs: 0, groups: await Promise.all(described) }
    },
    fail: (request, errorCode) => ({
      throttleTimeMs: 0,
      groups: request.groups.map((groupId) => refused(groupId, errorCode)),
    }),
  })
}

function refused(groupId: string, errorCode: number) {
  return { groupId, errorCode, errorMessage: null, groupState: '', protocolType: '', protocolData: '', members: [] }
}

function notFound(groupId: string) {
  const errorMessage = `Group ${groupId} not found.`
  return { ...refused(groupId, kafkaErrors.groupIdNotFound.code), errorMessage, groupState: 'Dead' }
}

function membersOf({ members }: DescribedGroup) {
  return members.map((member) => ({ ...member }))
}
