import type { GroupState } from './group-state.ts'
import type { GroupRecord, GroupWrite } from './records.ts'
import type { JoinResponse, Reply, SyncResponse } from './replies.ts'

/** One call of `step`: the group, the time, and what comes out. Lives until the call returns. */
export interface Transition {
  readonly group: GroupState
  readonly nowMs: number
  readonly replies: Reply[]
  readonly writes: GroupWrite[]
}

const noBytes = new Uint8Array(0)

export function replyToJoin(t: Transition, requestToken: number, response: JoinResponse): void {
  t.replies.push({ requestToken, kind: 'join', response })
}

export function replyToSync(t: Transition, requestToken: number, response: SyncResponse): void {
  t.replies.push({ requestToken, kind: 'sync', response })
}

export function joinError(errorCode: number, memberId: string): JoinResponse {
  return {
    errorCode,
    memberId,
    generationId: -1,
    protocolType: null,
    protocolName: null,
    leader: '',
    skipAssignment: false,
    members: [],
  }
}

export function syncError(errorCode: number): SyncResponse {
  return { errorCode, protocolType: null, protocolName: null, assignment: noBytes }
}

/**
 * Asks the caller to append `records`; `reply` goes out when they are durable, or its failing twin when they are not.
 * The records take effect here only then, by the code that also replays them, so that memory and log cannot differ.
 */
export function issueWrite(t: Transition, records: readonly GroupRecord[], reply: Reply | null): void {
  const writeToken = t.group.nextWriteToken++
  t.group.pendingWrites.set(writeToken, { records, reply, fetches: [], outcome: null })
  t.group.isLogged = true
  t.writes.push({ writeToken, records })
}
