import { deleteGroups } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * DeleteGroups 0-2 (kafka-compat 2.8): answered when the end of the group is durable, so that none comes back. A group named twice is
 * deleted and answered once, as in Kafka. Left out: v3, which adds a message.
 */

export function deleteGroupsHandler({ groups }: Dependencies): Handler {
  return handler({
    api: deleteGroups,
    versions: [0, 2],
    async handle({ groupsNames }) {
      const results = [...new Set(groupsNames)].map(async (groupId) => {
        const { errorCode } = await groups.ask(groupId, { kind: 'deleteGroup' })
        return { groupId, errorCode }
      })
      return { throttleTimeMs: 0, results: await Promise.all(results) }
    },
    fail: ({ groupsNames }, errorCode) => ({
      throttleTimeMs: 0,
      results: [...new Set(groupsNames)].map((groupId) => ({ groupId, errorCode })),
    }),
  })
}
