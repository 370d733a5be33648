import type { GroupEvent, GroupPhase, GroupRequest, GroupState, JoinEvent, Reply } from '../../src/index.ts'
import { promise } from './promises.ts'

interface KnownMember {
  readonly instanceId: string | null
  sessionTimeoutMs: number
  rebalanceTimeoutMs: number
  /** In no generation yet. */
  isNew: boolean
  /** When its session last began. */
  heardMs: number
  joinIsParked: boolean
  syncIsParked: boolean
  /** Since when its SyncGroup is due; null = it has come. */
  owesSyncSinceMs: number | null
}

const newMemberJoinTimeoutMs = 300_000
const fencedCodes = [82, 25, 14, 15, 16]

/**
 * In one life of a coordinator nobody is thrown out who gave no cause, no generation starts while somebody is missing,
 * and who has been replaced is refused. Deadlines are read as lower bounds: a tick may be late, never early.
 */
export class MemberPromises {
  readonly #members = new Map<string, KnownMember>()
  readonly #superseded = new Set<string>()
  /** Requests that were in the name of a superseded member when they came. */
  readonly #mustBeRefused = new Set<number>()
  #phase: GroupPhase = 'Dead'
  #generationId = 0
  #preparingSinceMs = 0
  #staticIds: ReadonlyMap<string, string> = new Map()

  before(state: GroupState, event: GroupEvent): void {
    this.#phase = state.phase
    this.#generationId = state.generationId
    this.#staticIds = event.kind === 'join' ? new Map(state.staticMemberIds) : new Map()
    const isFenced = 'memberId' in event && event.groupInstanceId !== null && this.#superseded.has(event.memberId)
    if (isFenced) this.#mustBeRefused.add(event.requestToken)
  }

  /** Whose place this join has taken. */
  replacedBy(state: GroupState, event: GroupEvent): { instanceId: string; formerId: string; memberId: string } | null {
    if (event.kind !== 'join' || event.groupInstanceId === null) return null
    const formerId = this.#staticIds.get(event.groupInstanceId)
    const memberId = state.staticMemberIds.get(event.groupInstanceId)
    if (formerId === undefined || memberId === undefined || formerId === memberId) return null
    this.#superseded.add(formerId)
    return { instanceId: event.groupInstanceId, formerId, memberId }
  }

  after(state: GroupState, event: GroupEvent, replies: readonly Reply[], nowMs: number): void {
    for (const [memberId, member] of this.#members) {
      if (state.members.has(memberId)) continue
      const why = `${memberId} is out of the group after a ${event.kind} in ${this.#phase} and gave no cause`
      promise(this.#gaveCause(memberId, member, event, nowMs), why)
      this.#members.delete(memberId)
    }
    if (event.kind === 'join') this.#joined(state, event, replies, nowMs)
    if (event.kind === 'heartbeat') this.#heard(event.memberId, replies, [0, 27], nowMs)
    if (event.kind === 'sync') this.#synced(event.memberId, replies, nowMs)
    this.#entered(state, nowMs)
  }

  replied(request: GroupRequest, reply: Reply): void {
    if (!this.#mustBeRefused.delete(request.requestToken)) return
    const codes = codesOf(reply)
    const isRefused = codes.length > 0 && codes.every((code) => fencedCodes.includes(code))
    promise(isRefused, `a fenced static member never acts: its ${request.kind} was answered ${codes}`)
  }

  #gaveCause(memberId: string, member: KnownMember, event: GroupEvent, nowMs: number): boolean {
    const { instanceId, rebalanceTimeoutMs } = member
    if (this.#superseded.has(memberId)) return true
    if (event.kind === 'leave') {
      return event.members.some(
        (one) => one.memberId === memberId || (instanceId !== null && one.groupInstanceId === instanceId),
      )
    }
    const isParked = member.joinIsParked || member.syncIsParked
    const silentMs = nowMs - member.heardMs
    if (member.isNew) return silentMs >= newMemberJoinTimeoutMs
    if (!isParked && silentMs >= member.sessionTimeoutMs) return true
    const isLate = this.#phase === 'PreparingRebalance' && !member.joinIsParked && instanceId === null
    if (isLate && nowMs - this.#preparingSinceMs >= rebalanceTimeoutMs) return true
    return member.owesSyncSinceMs !== null && nowMs - member.owesSyncSinceMs >= rebalanceTimeoutMs
  }

  #joined(state: GroupState, event: JoinEvent, replies: readonly Reply[], nowMs: number): void {
    const reply = replies.find(({ requestToken }) => requestToken === event.requestToken)
    const errorCode = reply?.kind === 'join' ? reply.response.errorCode : null
    if (errorCode !== null && errorCode !== 0) return
    const { sessionTimeoutMs } = event
    const joinIsParked = errorCode === null || this.#startsGeneration(state)
    const rebalanceTimeoutMs = event.rebalanceTimeoutMs < 0 ? sessionTimeoutMs : event.rebalanceTimeoutMs
    for (const memberId of state.members.keys()) {
      const known = this.#members.get(memberId)
      if (known === undefined) {
        const instanceId = event.groupInstanceId
        const isNew = instanceId === null || !this.#staticIds.has(instanceId)
        const waits = { joinIsParked, syncIsParked: false, owesSyncSinceMs: null }
        this.#members.set(memberId, {
          instanceId,
          sessionTimeoutMs,
          rebalanceTimeoutMs,
          isNew,
          heardMs: nowMs,
          ...waits,
        })
      } else if (memberId === event.memberId && joinIsParked) {
        Object.assign(known, { joinIsParked: true, sessionTimeoutMs, rebalanceTimeoutMs })
      }
    }
  }

  #heard(memberId: string, replies: readonly Reply[], codes: readonly number[], nowMs: number): void {
    const member = this.#members.get(memberId)
    const isWell = replies.some((reply) => codesOf(reply).some((code) => codes.includes(code)))
    if (member !== undefined && isWell) member.heardMs = nowMs
  }

  #synced(memberId: string, replies: readonly Reply[], nowMs: number): void {
    const member = this.#members.get(memberId)
    if (member === undefined) return
    const isRefused = replies.some((reply) => reply.kind === 'sync' && ![0, 27].includes(reply.response.errorCode))
    if (isRefused || this.#phase === 'PreparingRebalance') return
    member.owesSyncSinceMs = null
    if (this.#phase === 'Stable') member.heardMs = nowMs
    else member.syncIsParked = true
  }

  #startsGeneration({ phase, generationId }: GroupState): boolean {
    return phase === 'CompletingRebalance' && generationId !== this.#generationId
  }

  /** A step may pass through several phases; what counts is where it began and where it ended. */
  #entered(state: GroupState, nowMs: number): void {
    const { phase } = state
    const startsGeneration = this.#startsGeneration(state)
    const leavesGeneration = phase !== this.#phase || startsGeneration
    if (this.#phase !== 'PreparingRebalance' && leavesGeneration && phase !== 'Stable') this.#preparingSinceMs = nowMs
    for (const [memberId, member] of this.#members) {
      if (this.#phase === 'CompletingRebalance' && leavesGeneration) {
        if (member.syncIsParked) member.heardMs = nowMs
        member.syncIsParked = false
        if (phase !== 'Stable') member.owesSyncSinceMs = null
      }
      if (this.#phase === 'Stable' && leavesGeneration) member.owesSyncSinceMs = null
      if (!startsGeneration) continue
      const waited = nowMs - this.#preparingSinceMs >= member.rebalanceTimeoutMs
      const mayBeMissing = member.instanceId !== null && waited
      promise(member.joinIsParked || mayBeMissing, `a generation starts without ${memberId}, which was not waited for`)
      Object.assign(member, { joinIsParked: false, isNew: false, heardMs: nowMs, owesSyncSinceMs: nowMs })
    }
  }
}

function codesOf(reply: Reply): number[] {
  switch (reply.kind) {
    case 'leave':
      return reply.response.members.map(({ errorCode }) => errorCode)
    case 'offsetCommit':
      return reply.response.topics.flatMap(({ partitions }) => partitions.map(({ errorCode }) => errorCode))
    default:
      return [reply.response.errorCode]
  }
}
