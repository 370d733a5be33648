import { earliestDeadlineMs } from './deadlines.ts'
import { checkExpiry } from './expiry.ts'
import { never } from './group-state.ts'
import { removeMember } from './membership.ts'
import { completeJoin, endInitialDelay, maybeCompleteJoin, prepareRebalance } from './rebalance.ts'
import type { Transition } from './transition.ts'

/**
 * Fires what is due, the longest overdue first. Only here: a member whose deadline has passed but that is heard of
 * before the tick lives on, so that a process that stalled does not throw out everybody whose heartbeat it was late
 * to read.
 */
export function tick(t: Transition): void {
  // A timer that fires may make another due at once; each one fired ends a phase or removes a member, so this ends.
  while (fireDue(t));
  t.group.nextDeadlineMs = earliestDeadlineMs(t.group)
}

function fireDue(t: Transition): boolean {
  const { group, nowMs } = t
  const timers = [
    { dueMs: group.joinDueMs, fire: () => expireJoin(t) },
    { dueMs: group.syncDueMs, fire: () => expireSync(t) },
    { dueMs: group.expiryCheckDueMs, fire: () => checkExpiry(t) },
  ]
  for (const [memberId, dueMs] of group.pendingMembers) timers.push({ dueMs, fire: () => expirePending(t, memberId) })
  for (const { memberId, sessionDueMs } of group.members.values()) {
    timers.push({ dueMs: sessionDueMs, fire: () => expireSession(t, memberId) })
  }
  const due = timers.filter(({ dueMs }) => dueMs <= nowMs).sort((a, b) => a.dueMs - b.dueMs)
  for (const { fire } of due) fire()
  return due.length > 0
}

/** An earlier timer of the same tick may have moved this one, here and in the others below. */
function expireJoin(t: Transition): void {
  if (t.group.joinDueMs > t.nowMs) return
  if (t.group.initialJoin === null) completeJoin(t)
  else endInitialDelay(t)
}

/** Members that took their generation and never synced are gone; the others start over (KAFKA-13435). */
function expireSync(t: Transition): void {
  const { group } = t
  if (group.syncDueMs > t.nowMs) return
  group.syncDueMs = never
  for (const memberId of [...group.pendingSync]) removeMember(t, memberId)
  prepareRebalance(t)
}

function expirePending(t: Transition, memberId: string): void {
  if ((t.group.pendingMembers.get(memberId) ?? never) > t.nowMs) return
  removeMember(t, memberId)
  maybeCompleteJoin(t)
}

function expireSession(t: Transition, memberId: string): void {
  const { group, nowMs } = t
  const member = group.members.get(memberId)
  if (member === undefined || member.sessionDueMs > nowMs) return
  const isParked = member.joinToken !== null || member.syncToken !== null
  if (isParked && !member.isNew) {
    // It waits for us, not we for it. The session starts again with the answer.
    member.sessionDueMs = never
    return
  }
  removeMember(t, memberId)
  if (group.phase === 'Stable' || group.phase === 'CompletingRebalance') prepareRebalance(t)
  else maybeCompleteJoin(t)
}
