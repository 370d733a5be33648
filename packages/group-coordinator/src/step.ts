import { deleteGroup, deleteOffsets, topicsDeleted } from './deletion.ts'
import type { GroupEvent } from './events.ts'
import type { GroupState } from './group-state.ts'
import { heartbeat } from './heartbeat.ts'
import { join } from './join.ts'
import { leave } from './leave.ts'
import { offsetCommit } from './offset-commit.ts'
import { offsetFetch } from './offset-fetch.ts'
import { endWrite } from './pending-writes.ts'
import type { GroupWrite } from './records.ts'
import { refusal } from './refusal.ts'
import type { Reply } from './replies.ts'
import { sync } from './sync.ts'
import { tick } from './tick.ts'
import type { Transition } from './transition.ts'
import { unload } from './unload.ts'

export interface StepResult {
  /** The group after the event: the one passed in, changed. Use this one, keep no other. */
  readonly state: GroupState
  /** To send, in this order. */
  readonly replies: readonly Reply[]
  /** To append to the group's log, in this order, each as one unit. */
  readonly writes: readonly GroupWrite[]
  /** When to send a `tick` at the latest, in the clock of `nowMs`; `Infinity` = never. Replaces what was said before. */
  readonly nextDeadlineMs: number
}

/**
 * One thing happens to one group. Deterministic: the same state, event and time give the same result. Changes `state` in
 * place and touches nothing else. `nowMs` is milliseconds since the epoch, because commits carry it; a clock that is set
 * back makes timers late, no more.
 */
export function step(state: GroupState, event: GroupEvent, nowMs: number): StepResult {
  const t: Transition = { group: state, nowMs, replies: [], writes: [] }
  if (state.unloadedErrorCode === null) take(t, event)
  else if ('requestToken' in event) t.replies.push(refusal(event, state.unloadedErrorCode))
  return { state, replies: t.replies, writes: t.writes, nextDeadlineMs: state.nextDeadlineMs }
}

function take(t: Transition, event: GroupEvent): void {
  switch (event.kind) {
    case 'join':
      join(t, event)
      break
    case 'sync':
      sync(t, event)
      break
    case 'heartbeat':
      heartbeat(t, event)
      break
    case 'leave':
      leave(t, event)
      break
    case 'offsetCommit':
      offsetCommit(t, event)
      break
    case 'offsetFetch':
      offsetFetch(t, event)
      break
    case 'deleteGroup':
      deleteGroup(t, event)
      break
    case 'deleteOffsets':
      deleteOffsets(t, event)
      break
    case 'topicsDeleted':
      topicsDeleted(t, event)
      break
    case 'writeCompleted':
    case 'writeFailed':
      endWrite(t, event)
      break
    case 'tick':
      tick(t)
      break
    case 'unload':
      unload(t, event.errorCode)
      break
  }
}
