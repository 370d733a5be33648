/** Whatever clients send, in whatever order: no exception, one answer each, and a state that agrees with itself. */
import { describe, expect, it } from 'vitest'
import {
  defaultGroupSettings,
  type GroupEvent,
  type GroupRecord,
  type GroupState,
  type GroupWrite,
  newGroup,
  replay,
  snapshot,
  step,
} from '../src/index.ts'
import { bytes } from './driver.ts'
import { promise } from './model/promises.ts'
import { Random } from './model/random.ts'
import { subscription } from './subscription.ts'

const runs = Number(process.env['PICO_MODEL_SEEDS'] ?? 100)
const eventsPerRun = 250

describe('a group', () => {
  it(`takes any input in any order (${runs} runs)`, { timeout: 600_000 }, () => {
    for (let seed = 1; seed <= runs; seed++) {
      try {
        abuse(new Random(seed))
      } catch (cause) {
        throw new Error(`seed ${seed}: ${(cause as Error).message}`, { cause })
      }
    }
  })

  it('does the same for the same events', () => {
    expect(abuse(new Random(7))).toEqual(abuse(new Random(7)))
  })
})

function abuse(random: Random): unknown[] {
  const settings = {
    ...defaultGroupSettings,
    groupInitialRebalanceDelayMs: random.pick([0, 3_000]) ?? 0,
    groupMaxSize: random.pick([2, 100]) ?? 100,
    groupMaxPendingMembers: 3,
    offsetMetadataMaxBytes: 5,
    offsetsRetentionMs: random.pick([20_000, 600_000]) ?? 20_000,
    offsetsRetentionCheckIntervalMs: random.pick([0, 10_000]) ?? 0,
  }
  let state = newGroup('g', settings)
  let nowMs = 1_000_000
  const log: GroupRecord[] = []
  const inFlight: GroupWrite[] = []
  const outstanding = new Set<number>()
  const trace: unknown[] = []

  const send = (event: GroupEvent) => {
    if ('requestToken' in event) outstanding.add(event.requestToken)
    const result = step(state, event, nowMs)
    state = result.state
    inFlight.push(...result.writes)
    for (const { requestToken } of result.replies) {
      promise(outstanding.delete(requestToken), `one answer to ${requestToken}`)
    }
    trace.push(event.kind, result.replies, result.nextDeadlineMs)
    checkItself(state)
  }

  for (let token = 1; token <= eventsPerRun; token++) {
    if (random.chance(0.2)) nowMs += random.pick([1, 900, 4_000, 12_000, 70_000]) ?? 1
    if (random.chance(0.4) && state.nextDeadlineMs <= nowMs) send({ kind: 'tick' })
    if (random.chance(0.3) && inFlight.length > 0) {
      const [{ writeToken, records }] = inFlight.splice(0, 1) as [GroupWrite]
      if (random.chance(0.9)) {
        log.push(...records)
        send({ kind: 'writeCompleted', writeToken })
      } else {
        send({ kind: 'writeFailed', writeToken, errorCode: 15 })
      }
    }
    send(anyRequest(random, state, token))
  }

  for (const { writeToken, records } of inFlight.splice(0)) {
    log.push(...records)
    send({ kind: 'writeCompleted', writeToken })
  }
  const replayed = (records: readonly GroupRecord[]) => records.reduce(replay, newGroup('g', settings)).offsets
  expect(replayed(log)).toEqual(state.offsets)
  expect(replayed(snapshot(state))).toEqual(state.offsets)
  send({ kind: 'unload', errorCode: 16 })
  expect([...outstanding]).toEqual([])
  return trace
}

function anyRequest(random: Random, state: GroupState, requestToken: number): GroupEvent {
  const instanceId = () => (random.chance(0.6) ? null : (random.pick(['i', 'j', '']) ?? null))
  const memberId = () => random.pick(['', 'stranger', ...state.members.keys(), ...state.pendingMembers.keys()]) ?? ''
  const member = () => ({ memberId: memberId(), groupInstanceId: instanceId() })
  const generationId = random.chance(0.8) ? state.generationId : random.int(-2, 5)
  const topics = [{ topic: random.pick(['t', 'u']) ?? 't', partitions: [random.int(0, 2)] }]
  switch (random.int(0, 11)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return {
        kind: 'join',
        requestToken,
        ...member(),
        freshUuid: `${requestToken}`,
        clientId: random.pick(['', 'c']) ?? '',
        clientHost: '/',
        sessionTimeoutMs: random.pick([0, 6_000, 30_000, 1_800_000, -1]) ?? 0,
        rebalanceTimeoutMs: random.pick([-1, 0, 1, 5_000, 60_000, 2 ** 31 - 1]) ?? 0,
        protocolType: random.pick(['consumer', 'consumer', 'consumer', 'connect', '']) ?? '',
        protocols: (random.pick([['a'], ['a', 'b'], ['b', 'a'], ['a', 'a'], []]) ?? []).map((name) => ({
          name,
          metadata: random.pick([bytes(''), bytes('garbage'), subscription('t'), subscription()]) ?? bytes(''),
        })),
        requireKnownMemberId: random.chance(0.3),
        supportsSkippingAssignment: random.chance(0.5),
      }
    case 4:
    case 5: {
      const protocolName = random.pick([null, 'a', state.protocolName]) ?? null
      const assignments = [{ memberId: memberId(), assignment: bytes('x') }]
      const leaderId = random.chance(0.5) ? state.leaderId : null
      const who = leaderId === null ? member() : { memberId: leaderId, groupInstanceId: null }
      return { kind: 'sync', requestToken, ...who, generationId, protocolType: null, protocolName, assignments }
    }
    case 6:
      return { kind: 'heartbeat', requestToken, ...member(), generationId }
    case 7:
      return {
        kind: 'leave',
        requestToken,
        members: random.chance(0.1) ? [] : [member(), member()].slice(random.int(0, 1)),
      }
    case 8:
    case 9: {
      const metadata = random.pick([null, '', 'long metadata']) ?? null
      const partition = { partition: random.int(0, 2), offset: random.int(-1, 99), leaderEpoch: -1, metadata }
      return {
        kind: 'offsetCommit',
        requestToken,
        ...member(),
        generationId,
        retentionTimeMs: random.pick([null, 0, 5_000]) ?? null,
        unknownGroupErrorCode: 22,
        topics: random.chance(0.1) ? [] : [{ topic: 't', partitions: [partition, partition] }],
      }
    }
    case 10:
      return { kind: 'offsetFetch', requestToken, topics: random.chance(0.5) ? null : topics }
    default:
      if (random.chance(0.3)) return { kind: 'topicsDeleted', topics: ['t'] }
      return random.chance(0.5)
        ? { kind: 'deleteGroup', requestToken }
        : { kind: 'deleteOffsets', requestToken, topics }
  }
}

/** What the fields of a group say of each other. Plain checks: they run a hundred thousand times. */
function checkItself(state: GroupState): void {
  const members = [...state.members.values()]
  const { phase, pendingSync, pendingMembers } = state
  const never = Number.POSITIVE_INFINITY
  const isTrue = (condition: boolean, what: string) => promise(condition, `${what}, while ${phase}`)

  isTrue(state.parkedJoins === members.filter(({ joinToken }) => joinToken !== null).length, 'parked joins are counted')
  const statics = members.filter(({ groupInstanceId }) => groupInstanceId !== null)
  isTrue(state.staticMemberIds.size === statics.length, 'every static member is known by its instance')
  for (const { groupInstanceId, memberId } of statics) {
    isTrue(state.staticMemberIds.get(groupInstanceId ?? '') === memberId, 'an instance names its member')
  }
  const names = members.flatMap(({ protocols }) => protocols.map(({ name }) => name))
  isTrue(state.protocolCounts.size === new Set(names).size, 'every protocol is counted')
  for (const [name, count] of state.protocolCounts) {
    isTrue(names.filter((other) => other === name).length === count, 'protocols are counted right')
  }
  isTrue(
    members.length === 0 || names.some((name) => state.protocolCounts.get(name) === members.length),
    'one is common',
  )
  const { leaderId } = state
  isTrue(leaderId === null ? members.length === 0 : state.members.has(leaderId), 'the leader is a member')
  isTrue(
    [...pendingSync].every((memberId) => state.members.has(memberId)),
    'who owes a sync is a member',
  )
  isTrue(![...pendingMembers.keys()].some((memberId) => state.members.has(memberId)), 'a reserved id is no member')

  const isSettled = phase === 'Stable' || phase === 'CompletingRebalance'
  isTrue(!isSettled || members.length > 0, 'a generation has members')
  isTrue((phase !== 'Empty' && phase !== 'Dead') || members.length === 0, 'an empty group has none')
  isTrue((phase === 'PreparingRebalance') === state.joinDueMs < never, 'a join phase has a deadline')
  isTrue(phase === 'PreparingRebalance' || state.parkedJoins === 0, 'joins are parked in the join phase')
  isTrue(
    phase === 'CompletingRebalance' || members.every(({ syncToken }) => syncToken === null),
    'syncs when it is over',
  )
  isTrue(state.syncDueMs < never === pendingSync.size > 0, 'owed syncs have a deadline')

  const deadlines = members.map(({ sessionDueMs }) => sessionDueMs).concat(...pendingMembers.values())
  const earliestMs = Math.min(state.joinDueMs, state.syncDueMs, state.expiryCheckDueMs, ...deadlines)
  isTrue(state.nextDeadlineMs <= earliestMs, 'no deadline is missed')
  // Whoever waits is waited for by a timer of the group; everybody else has one of its own.
  for (const { sessionDueMs, joinToken, syncToken } of members) {
    isTrue(joinToken !== null || syncToken !== null || sessionDueMs < never, 'a member has a deadline')
  }
}
