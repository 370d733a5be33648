import { groupErrorCodes } from './error-codes.ts'
import type { GroupRequest } from './events.ts'
import { commitResponse } from './offset-commit.ts'
import type { Reply } from './replies.ts'
import { joinError, syncError } from './transition.ts'

/**
 * The answer to a request that no group is there to take: NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, or
 * COORDINATOR_LOAD_IN_PROGRESS while the log is read. Of the last, two requests may not be told: a heartbeat is
 * answered as if all were well, and a sync with REBALANCE_IN_PROGRESS, since older clients give up on a code they
 * do not expect there and would have to join again in any case.
 */
export function refusal(request: GroupRequest, errorCode: number): Reply {
  const { requestToken, kind } = request
  const isLoading = errorCode === groupErrorCodes.coordinatorLoadInProgress
  switch (kind) {
    case 'join':
      return { requestToken, kind, response: joinError(errorCode, request.memberId) }
    case 'sync':
      return { requestToken, kind, response: syncError(isLoading ? groupErrorCodes.rebalanceInProgress : errorCode) }
    case 'heartbeat':
      return { requestToken, kind, response: { errorCode: isLoading ? groupErrorCodes.none : errorCode } }
    case 'leave':
      return { requestToken, kind, response: { errorCode, members: [] } }
    case 'offsetCommit':
      return { requestToken, kind, response: commitResponse(request, () => errorCode) }
    case 'offsetFetch':
      return { requestToken, kind, response: { errorCode, topics: [] } }
    case 'deleteGroup':
      return { requestToken, kind, response: { errorCode } }
    case 'deleteOffsets':
      return { requestToken, kind, response: { errorCode, topics: [] } }
  }
}
