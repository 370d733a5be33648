import { type GroupState, never } from './group-state.ts'
import type { Member } from './member.ts'

/**
 * Timers are deadlines in the state, and one bound for all of them: `nextDeadlineMs`. Arming lowers the bound, moving
 * a deadline away leaves it alone; only `tick` looks at them all. So a heartbeat costs nothing, and a group of members
 * that all heartbeat ticks about once a session timeout in vain.
 */
export function armSession(
  group: GroupState,
  member: Member,
  nowMs: number,
  timeoutMs = member.sessionTimeoutMs,
): void {
  member.sessionDueMs = nowMs + timeoutMs
  lower(group, member.sessionDueMs)
}

export function armPending(group: GroupState, memberId: string, dueMs: number): void {
  group.pendingMembers.set(memberId, dueMs)
  lower(group, dueMs)
}

export function armJoin(group: GroupState, dueMs: number): void {
  group.joinDueMs = dueMs
  lower(group, dueMs)
}

export function armSync(group: GroupState, dueMs: number): void {
  group.syncDueMs = dueMs
  lower(group, dueMs)
}

/** Looks for expired offsets at `dueMs`, or earlier if that was planned already. */
export function armExpiryCheck(group: GroupState, dueMs: number): void {
  group.expiryCheckDueMs = Math.min(group.expiryCheckDueMs, dueMs)
  lower(group, dueMs)
}

/** The earliest deadline, found by looking at every one. */
export function earliestDeadlineMs(group: GroupState): number {
  let earliestMs = Math.min(group.joinDueMs, group.syncDueMs, group.expiryCheckDueMs)
  for (const dueMs of group.pendingMembers.values()) earliestMs = Math.min(earliestMs, dueMs)
  for (const member of group.members.values()) earliestMs = Math.min(earliestMs, member.sessionDueMs)
  return earliestMs
}

export function disarmAll(group: GroupState): void {
  group.joinDueMs = never
  group.syncDueMs = never
  group.expiryCheckDueMs = never
  group.nextDeadlineMs = never
}

function lower(group: GroupState, dueMs: number): void {
  group.nextDeadlineMs = Math.min(group.nextDeadlineMs, dueMs)
}
