import { answerParked } from './membership.ts'
import { abandonWrites } from './pending-writes.ts'
import { forget } from './replay.ts'
import type { Transition } from './transition.ts'

/** The group moves away: everybody who waits is told where not to ask, and so is whoever still asks afterwards. */
export function unload(t: Transition, errorCode: number): void {
  const { group } = t
  for (const member of group.members.values()) answerParked(t, member, errorCode, member.memberId)
  abandonWrites(t, errorCode)
  group.members.clear()
  forget(group)
  group.unloadedErrorCode = errorCode
}
