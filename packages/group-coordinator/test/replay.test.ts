import { describe, expect, it } from 'vitest'
import {
  defaultGroupSettings,
  type GroupRecord,
  type GroupState,
  groupErrorCodes,
  isForgettable,
  newGroup,
  refusal,
  replay,
  snapshot,
} from '../src/index.ts'
import { GroupDriver } from './driver.ts'
import { subscription } from './subscription.ts'

const replayed = (records: readonly GroupRecord[]): GroupState =>
  records.reduce(replay, newGroup('g', defaultGroupSettings))

/** What is durable of a group, as another coordinator would know it. */
const durable = ({ phase, protocolType, emptySinceMs, offsets }: GroupState) => ({
  phase,
  protocolType,
  emptySinceMs,
  offsets,
})

describe('a coordinator that replays the log of a group', () => {
  it('knows the offsets with everything that was committed', () => {
    const group = new GroupDriver()
    group.commit({ t: 5 })
    group.commit({ t: 6, u: 1 })
    group.restart()
    expect(group.offsets()).toEqual({ t: 6, u: 1 })
  })

  it('knows no members: to them it is an ordinary rebalance', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.commit({ t: 5 }, { memberId: a, generationId: 1 })
    group.restart()
    expect(group.heartbeat(a)).toBe(25)
    expect(group.reply(group.join({ memberId: a }), 'join').errorCode).toBe(25)
    expect(group.reply(group.join(), 'join').errorCode).toBe(0)
    expect(group.offsets()).toEqual({ t: 5 })
  })

  it('refuses a commit of a member of the last coordinator', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.commit({ t: 5 }, { memberId: a, generationId: 1 })
    group.restart()
    expect(group.commitCode(group.commit({ t: 6 }, { memberId: a, generationId: 1 }))).toBe(25)
  })

  it('owes a log that ends in a deletion nothing more', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    group.deleteGroup()
    group.restart()
    const [a = ''] = group.stable({})
    group.leave({ memberId: a })
    group.deleteGroup()
    expect(group.log.map(({ kind }) => kind)).toEqual(['offsetCommit', 'groupDeleted'])
  })

  it('finds the state that the log went through, whatever was written', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({ protocols: [{ name: 'range', metadata: subscription('t') }] })
    group.commit({ t: 5, u: 6 }, { memberId: a, generationId: 1 })
    group.deleteOffsets('u')
    group.leave({ memberId: a })
    group.commit({ v: 7 })
    group.send({ kind: 'topicsDeleted', topics: ['t'] })
    expect(durable(replayed(group.log))).toEqual(durable(group.state))
  })

  it('refuses the records of another group, and records of a group that is served', () => {
    const record: GroupRecord = { kind: 'groupDeleted', groupId: 'other' }
    expect(() => replay(newGroup('g', defaultGroupSettings), record)).toThrow(/one group/)
    const served = new GroupDriver()
    served.stable({})
    expect(() => replay(served.state, { kind: 'groupDeleted', groupId: 'g' })).toThrow(/before it is served/)
  })
})

describe('a group', () => {
  it('without offsets writes nothing, however often it rebalances', () => {
    const group = new GroupDriver()
    const ids = group.stable({}, {}, {})
    for (const memberId of ids) group.leave({ memberId })
    expect(group.log).toEqual([])
  })

  it('with offsets writes its type with the first of them, and when it becomes empty or has members again', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    const commit = (memberId: string) => group.commit({ t: 1 }, { memberId, generationId: group.state.generationId })
    commit(a)
    commit(a)
    expect(group.log.map(({ kind }) => kind)).toEqual(['groupMetadata', 'offsetCommit', 'offsetCommit'])
    group.leave({ memberId: a })
    const metadata = { kind: 'groupMetadata', groupId: 'g', protocolType: 'consumer' }
    expect(group.log.at(-1)).toEqual({ ...metadata, emptySinceMs: group.nowMs })
    const [b = ''] = group.stable({})
    expect(group.log.at(-1)).toEqual({ ...metadata, emptySinceMs: null })
    const writtenBefore = group.log.length
    group.join({ memberId: b })
    expect(group.log).toHaveLength(writtenBefore)
  })

  it('writes its type again when it does not know that the last time succeeded', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.holdWrites = true
    group.commit({ t: 1 }, { memberId: a, generationId: 1 })
    group.failWrite(15)
    group.commit({ t: 1 }, { memberId: a, generationId: 1 })
    expect(group.held[0]?.records.map(({ kind }) => kind)).toEqual(['groupMetadata', 'offsetCommit'])
  })

  it('can be forgotten when it is dead and nothing is on its way', () => {
    const group = new GroupDriver()
    expect(isForgettable(group.state)).toBe(true)
    group.holdWrites = true
    group.commit({ t: 1 })
    expect(isForgettable(group.state)).toBe(false)
    group.completeWrite()
    expect(isForgettable(group.state)).toBe(false)
    group.deleteGroup()
    expect(isForgettable(group.state)).toBe(false)
    group.completeWrite()
    expect(isForgettable(group.state)).toBe(true)
  })
})

describe('a snapshot', () => {
  it('replays to what the whole log replays to', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    for (let i = 0; i < 50; i++) {
      group.commit({ [`t${i % 7}`]: i }, { memberId: a, generationId: group.state.generationId })
    }
    group.deleteOffsets('t0')
    group.leave({ memberId: a })
    group.send({ kind: 'topicsDeleted', topics: ['t3'] })
    const records = snapshot(group.state)
    expect(records).toHaveLength(1 + 6)
    expect(durable(replayed(records))).toEqual(durable(replayed(group.log)))
  })

  it('includes what is on its way: it is appended after it', () => {
    const group = new GroupDriver()
    group.commit({ t: 1, u: 1 })
    group.holdWrites = true
    group.commit({ t: 2 })
    group.deleteOffsets('u')
    const records = snapshot(group.state)
    group.completeWrite()
    group.completeWrite()
    expect(durable(replayed(records))).toEqual(durable(replayed(group.log)))
    expect(durable(replayed([...group.log, ...records]))).toEqual(durable(replayed(group.log)))
  })

  it('of a group that is being deleted, or is dead, is empty', () => {
    const group = new GroupDriver()
    expect(snapshot(group.state)).toEqual([])
    group.commit({ t: 1 })
    group.holdWrites = true
    group.deleteGroup()
    expect(snapshot(group.state)).toEqual([])
  })

  it('bounds the replay of 100,000 commits', () => {
    const group = new GroupDriver()
    for (let i = 0; i < 100_000; i++) group.commit({ t: i })
    expect(snapshot(group.state)).toHaveLength(1)
    expect(replayed(snapshot(group.state)).offsets.get('t')?.get(0)?.offset).toBe(99_999)
  })
})

describe('a group that moves away', () => {
  it('answers everybody who waits, and whoever asks afterwards', () => {
    const group = new GroupDriver()
    const [a = '', b = ''] = group.stable({}, {})
    const join = group.join({ memberId: a })
    group.holdWrites = true
    const commit = group.commit({ t: 1 }, { memberId: b, generationId: 2 })
    const fetch = group.fetch()
    const [write] = group.held
    group.send({ kind: 'unload', errorCode: groupErrorCodes.notCoordinator })
    expect(group.reply(join, 'join')).toMatchObject({ errorCode: 16, memberId: a })
    expect(group.commitCode(commit)).toBe(16)
    expect(group.reply(fetch, 'offsetFetch')).toEqual({ errorCode: 16, topics: [] })
    expect(group.heartbeat(b)).toBe(16)
    expect(group.commitCode(group.commit({ t: 1 }))).toBe(16)
    expect(group.state.nextDeadlineMs).toBe(Number.POSITIVE_INFINITY)
    group.send({ kind: 'writeCompleted', writeToken: write?.writeToken ?? 0 })
    group.send({ kind: 'tick' })
    expect(group.state.offsets.size).toBe(0)
  })

  it('answers a parked sync', () => {
    const group = new GroupDriver()
    const { memberId: a } = group.reply(group.join(), 'join')
    const second = group.join()
    group.join({ memberId: a })
    const parked = group.sync({ memberId: group.reply(second, 'join').memberId })
    group.send({ kind: 'unload', errorCode: groupErrorCodes.coordinatorNotAvailable })
    expect(group.reply(parked, 'sync').errorCode).toBe(15)
  })
})

describe('a request that finds its group still loading', () => {
  const loading = groupErrorCodes.coordinatorLoadInProgress
  const member = { requestToken: 1, memberId: 'm', groupInstanceId: null, generationId: 1 }

  it('is told so, except a heartbeat, which is well, and a sync, which must join again', () => {
    expect(refusal({ kind: 'offsetFetch', requestToken: 1, topics: null }, loading)).toMatchObject({
      response: { errorCode: 14 },
    })
    expect(refusal({ kind: 'heartbeat', ...member }, loading)).toMatchObject({ response: { errorCode: 0 } })
    const sync = { kind: 'sync', ...member, protocolType: null, protocolName: null, assignments: [] } as const
    expect(refusal(sync, loading)).toMatchObject({ response: { errorCode: 27 } })
    expect(refusal(sync, groupErrorCodes.notCoordinator)).toMatchObject({ response: { errorCode: 16 } })
  })
})
