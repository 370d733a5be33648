import { strict as assert } from 'node:assert'
import { groupErrorCodes } from './error-codes.ts'
import type { JoinEvent, Protocol } from './events.ts'
import type { GroupState } from './group-state.ts'
import { type Member, ownProtocols, timeouts } from './member.ts'
import { joinError, replyToJoin, replyToSync, syncError, type Transition } from './transition.ts'

/**
 * Who may speak as this member: 0 or an error code. An instance id must be known and belong to this very member id:
 * a static member that has been replaced is fenced whatever it asks for (KIP-345).
 */
export function memberErrorCode(group: GroupState, memberId: string, groupInstanceId: string | null): number {
  if (groupInstanceId !== null) {
    const current = group.staticMemberIds.get(groupInstanceId)
    if (current === undefined) return groupErrorCodes.unknownMemberId
    if (current !== memberId) return groupErrorCodes.fencedInstanceId
  }
  return group.members.has(memberId) ? groupErrorCodes.none : groupErrorCodes.unknownMemberId
}

/** A group without members takes any type; otherwise the type must be the same and one protocol supported by all. */
export function supportsProtocols(group: GroupState, protocolType: string, protocols: readonly Protocol[]): boolean {
  if (protocolType === '' || protocols.length === 0) return false
  if (group.members.size === 0) return true
  return protocolType === group.protocolType && protocols.some(({ name }) => isSupportedByAll(group, name))
}

export function addMember(group: GroupState, member: Member, protocolType: string): void {
  if (group.members.size === 0) group.protocolType = protocolType
  group.members.set(member.memberId, member)
  group.pendingMembers.delete(member.memberId)
  group.leaderId ??= member.memberId
  countProtocols(group, member, 1)
  if (member.groupInstanceId !== null) {
    assert(!group.staticMemberIds.has(member.groupInstanceId), 'a static instance has one member at a time')
    group.staticMemberIds.set(member.groupInstanceId, member.memberId)
  }
}

/** What the member last said of itself. */
export function updateMember(group: GroupState, member: Member, event: JoinEvent): void {
  countProtocols(group, member, -1)
  member.protocols = ownProtocols(event.protocols)
  Object.assign(member, timeouts(event))
  countProtocols(group, member, 1)
}

/** Forgets a member, pending or real. Its parked requests are answered: it may be alive, and will join again. */
export function removeMember(t: Transition, memberId: string): void {
  const { group } = t
  group.pendingMembers.delete(memberId)
  group.pendingSync.delete(memberId)
  const member = group.members.get(memberId)
  if (member === undefined) return
  answerParked(t, member, groupErrorCodes.unknownMemberId, '')
  group.members.delete(memberId)
  countProtocols(group, member, -1)
  if (member.groupInstanceId !== null) group.staticMemberIds.delete(member.groupInstanceId)
  if (group.leaderId === memberId) group.leaderId = group.members.keys().next().value ?? null
}

/** Parks a JoinGroup until the join phase ends. An earlier one of the same member lost its connection: it is answered. */
export function parkJoin(t: Transition, member: Member, requestToken: number): void {
  if (member.joinToken === null) t.group.parkedJoins++
  else replyToJoin(t, member.joinToken, joinError(groupErrorCodes.rebalanceInProgress, member.memberId))
  member.joinToken = requestToken
}

/** The token of a parked JoinGroup, which is parked no longer; null if there was none. */
export function takeJoin(group: GroupState, member: Member): number | null {
  const token = member.joinToken
  if (token !== null) group.parkedJoins--
  member.joinToken = null
  return token
}

/** Answers whatever the member has parked with an error. */
export function answerParked(t: Transition, member: Member, errorCode: number, memberId: string): void {
  const joinToken = takeJoin(t.group, member)
  if (joinToken !== null) replyToJoin(t, joinToken, joinError(errorCode, memberId))
  if (member.syncToken !== null) replyToSync(t, member.syncToken, syncError(errorCode))
  member.syncToken = null
}

/** A group waits for its slowest member (KIP-62). 0 without members. */
export function rebalanceTimeoutMs(group: GroupState): number {
  let longestMs = 0
  for (const member of group.members.values()) longestMs = Math.max(longestMs, member.rebalanceTimeoutMs)
  return longestMs
}

/**
 * The protocol of the next generation: each member votes for the first of its list that all support; most votes win.
 * Where votes are equal (Kafka: in no particular order), the one that the earliest member voted for.
 */
export function selectProtocol(group: GroupState): string {
  const votes = new Map<string, number>()
  for (const { protocols } of group.members.values()) {
    const vote = protocols.find(({ name }) => isSupportedByAll(group, name))?.name
    assert(vote !== undefined, 'no member was let in without a protocol that all support')
    votes.set(vote, (votes.get(vote) ?? 0) + 1)
  }
  let selected: string | undefined
  for (const [name, count] of votes) {
    if (selected === undefined || count > (votes.get(selected) ?? 0)) selected = name
  }
  assert(selected !== undefined, 'a group without members has no protocol')
  return selected
}

function isSupportedByAll(group: GroupState, protocolName: string): boolean {
  return (group.protocolCounts.get(protocolName) ?? 0) === group.members.size
}

function countProtocols(group: GroupState, member: Member, by: 1 | -1): void {
  for (const { name } of member.protocols) {
    const count = (group.protocolCounts.get(name) ?? 0) + by
    if (count === 0) group.protocolCounts.delete(name)
    else group.protocolCounts.set(name, count)
  }
}
