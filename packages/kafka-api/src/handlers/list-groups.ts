import { isListed } from '@pico/group-coordinator'
import { listGroups } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * ListGroups 0-5 (kafka-compat 2.8): every group that exists, in memory or not, with members or only with offsets. v4: filter by state
 * (KIP-518). v5: filter by type (KIP-848): all of ours are classic.
 */

export function listGroupsHandler({ groups, explain }: Dependencies): Handler {
  return handler({
    api: listGroups,
    versions: [0, 5],
    largeAnswer: true,
    async handle({ statesFilter, typesFilter }) {
      try {
        const found = await groups.list()
        if (!('picture' in found)) return refused(found.errorCode)
        const listed = found.picture.filter((group) => isListed(group, statesFilter, typesFilter))
        return { throttleTimeMs: 0, errorCode: 0, groups: listed }
      } catch (error) {
        return refused(explain(error, 'coordinate'))
      }
    },
    fail: (_, errorCode) => refused(errorCode),
  })
}

function refused(errorCode: number) {
  return { throttleTimeMs: 0, errorCode, groups: [] }
}
