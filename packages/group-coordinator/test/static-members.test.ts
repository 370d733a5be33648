import { describe, expect, it } from 'vitest'
import { bytes, GroupDriver, text } from './driver.ts'

const one = { groupInstanceId: 'one' }
const two = { groupInstanceId: 'two' }
const v9 = { supportsSkippingAssignment: true }

describe('a static member that comes back without its member id', () => {
  it('to a stable group gets its old assignment under a new id, and nobody else notices', () => {
    const group = new GroupDriver()
    const [, b = '', c = ''] = group.stable({}, one, two)
    const back = group.reply(group.join(one), 'join')
    expect(back).toMatchObject({ errorCode: 0, generationId: 3, members: [], skipAssignment: false })
    expect(back.memberId).not.toBe(b)
    expect(group.state.phase).toBe('Stable')
    expect(group.heartbeat(c, 'two')).toBe(0)
    const synced = group.reply(group.sync({ memberId: back.memberId, groupInstanceId: 'one' }), 'sync')
    expect(text(synced.assignment)).toBe(`part of ${b}`)
  })

  it('begins a new session', () => {
    const group = new GroupDriver()
    group.stable(one)
    group.advance(9_000)
    const { memberId } = group.reply(group.join(one), 'join')
    group.advance(9_000)
    expect(group.heartbeat(memberId, 'one')).toBe(0)
  })

  it('as leader stays leader, though it is no longer the oldest member, when another leaves', () => {
    const group = new GroupDriver()
    const [, b = '', c = ''] = group.stable(one, {}, {})
    const { memberId } = group.reply(group.join(one), 'join')
    group.leave({ memberId: b })
    expect(group.state.members.keys().next().value).toBe(c)
    expect(group.state.leaderId).toBe(memberId)
  })

  it('as leader since v9 is told the members and to skip the assignment', () => {
    const group = new GroupDriver()
    group.stable(one, two)
    const back = group.reply(group.join({ ...one, ...v9 }), 'join')
    expect(back).toMatchObject({ errorCode: 0, leader: back.memberId, skipAssignment: true })
    expect(back.members).toHaveLength(2)
  })

  it('as leader before v9 is told of its own former id as leader, so that it assigns nothing', () => {
    const group = new GroupDriver()
    const [a] = group.stable(one, two)
    const back = group.reply(group.join(one), 'join')
    expect(back).toMatchObject({ errorCode: 0, leader: a, skipAssignment: false, members: [] })
    expect(group.state.leaderId).toBe(back.memberId)
  })

  it('as follower since v9 is not told to skip anything', () => {
    const group = new GroupDriver()
    const [a] = group.stable(one, two)
    const back = group.reply(group.join({ ...two, ...v9 }), 'join')
    expect(back).toMatchObject({ leader: a, skipAssignment: false, members: [] })
  })

  it('with other metadata for the same protocol starts no rebalance, as in Kafka', () => {
    const group = new GroupDriver()
    group.stable(one, two)
    const back = group.join({ ...two, protocols: [{ name: 'range', metadata: bytes('other topics') }] })
    expect(group.reply(back, 'join').generationId).toBe(2)
    expect(group.state.phase).toBe('Stable')
  })

  it('with a preference that changes the selected protocol starts a rebalance', () => {
    const group = new GroupDriver()
    const listing = (...names: string[]) => ({ protocols: names.map((name) => ({ name, metadata: bytes(name) })) })
    group.stable({ ...one, ...listing('a', 'b') })
    expect(group.state.protocolName).toBe('a')
    const back = group.reply(group.join({ ...one, ...listing('b', 'a') }), 'join')
    expect(back).toMatchObject({ generationId: 2, protocolName: 'b', skipAssignment: false })
  })

  it('while the group completes a rebalance starts another, because the leader knows only the old id', () => {
    const group = new GroupDriver()
    const { memberId: a } = group.reply(group.join(), 'join')
    const second = group.join(one)
    group.join({ memberId: a })
    const old = group.reply(second, 'join').memberId
    const parked = group.sync({ memberId: old, ...one })
    const back = group.join(one)
    expect(group.reply(parked, 'sync').errorCode).toBe(82)
    expect(group.isAnswered(back)).toBe(false)
    group.join({ memberId: a })
    expect(group.reply(back, 'join')).toMatchObject({ errorCode: 0, generationId: 3 })
  })

  it('while members join takes the place of the parked join of its former self, which is fenced', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    const former = group.join(one)
    const back = group.join(one)
    expect(group.reply(former, 'join')).toMatchObject({ errorCode: 82, memberId: 'one-u2' })
    expect(group.state.parkedJoins).toBe(1)
    group.join({ memberId: a })
    expect(group.reply(back, 'join')).toMatchObject({ errorCode: 0, memberId: 'one-u3' })
    expect(group.state.members.size).toBe(2)
  })

  it('before it had synced is still waited for, under its new id', () => {
    const group = new GroupDriver()
    const fast = { rebalanceTimeoutMs: 7_000 }
    const { memberId: a } = group.reply(group.join(fast), 'join')
    group.join({ ...one, ...fast })
    group.join({ memberId: a, ...fast })
    group.sync({ memberId: a, assignments: {} })
    const back = group.reply(group.join({ ...one, ...fast }), 'join')
    expect([...group.state.pendingSync]).toEqual([back.memberId])
    group.sync({ memberId: back.memberId, groupInstanceId: 'one' })
    group.advance(7_000)
    expect(group.state.phase).toBe('Stable')
  })
})

describe('a static member that has been replaced', () => {
  const replaced = () => {
    const group = new GroupDriver()
    const [old = ''] = group.stable(one, {})
    const { memberId } = group.reply(group.join(one), 'join')
    return { group, old, memberId }
  }

  it('is fenced whatever it asks for', () => {
    const { group, old } = replaced()
    expect(group.heartbeat(old, 'one')).toBe(82)
    expect(group.reply(group.join({ memberId: old, ...one }), 'join').errorCode).toBe(82)
    expect(group.reply(group.sync({ memberId: old, groupInstanceId: 'one' }), 'sync').errorCode).toBe(82)
    expect(group.leave({ memberId: old, groupInstanceId: 'one' }).members[0]?.errorCode).toBe(82)
    const commit = group.commit({ t: 5 }, { memberId: old, groupInstanceId: 'one', generationId: 2 })
    expect(group.commitCode(commit)).toBe(82)
  })

  it('is unknown if it does not say which instance it is', () => {
    const { group, old } = replaced()
    expect(group.heartbeat(old)).toBe(25)
    expect(group.commitCode(group.commit({ t: 5 }, { memberId: old, generationId: 2 }))).toBe(25)
  })

  it('leaves the new one undisturbed', () => {
    const { group, old, memberId } = replaced()
    group.heartbeat(old, 'one')
    expect(group.heartbeat(memberId, 'one')).toBe(0)
    expect(group.state.phase).toBe('Stable')
  })
})

describe('a static member that is late', () => {
  it('stays in the group when the rebalance timeout ends the join phase, and its session starts there', () => {
    const group = new GroupDriver()
    const [a = '', late = ''] = group.stable({}, { ...one, sessionTimeoutMs: 100_000 })
    const rejoin = group.join({ memberId: a })
    group.advance(60_000)
    expect(group.reply(rejoin, 'join').members).toHaveLength(2)
    expect(group.heartbeat(late, 'one')).toBe(0)
  })

  it('and alone is waited for again and again until its session ends', () => {
    const group = new GroupDriver()
    const long = { sessionTimeoutMs: 200_000, rebalanceTimeoutMs: 30_000 }
    const [a = ''] = group.stable({ ...one, ...long }, { ...two, ...long })
    group.leave({ memberId: a, groupInstanceId: 'one' })
    for (let i = 0; i < 6; i++) {
      expect(group.state.joinDueMs).toBe(group.nowMs + 30_000)
      group.advance(30_000)
    }
    group.advance(19_999)
    expect(group.state).toMatchObject({ phase: 'PreparingRebalance', generationId: 2 })
    group.advance(1)
    expect(group.state).toMatchObject({ phase: 'Empty', generationId: 3 })
  })

  it('and alone can be joined by another, who becomes leader at the next rebalance timeout', () => {
    const group = new GroupDriver()
    const long = { sessionTimeoutMs: 200_000, rebalanceTimeoutMs: 30_000 }
    const [a = ''] = group.stable({ ...one, ...long }, { ...two, ...long })
    group.leave({ memberId: a, groupInstanceId: 'one' })
    group.advance(45_000)
    const joining = group.join(long)
    group.advance(15_000)
    const joined = group.reply(joining, 'join')
    expect(joined).toMatchObject({ errorCode: 0, leader: joined.memberId })
    expect(joined.members).toHaveLength(2)
  })
})

describe('an instance id', () => {
  it('of another member is FENCED_INSTANCE_ID, an unknown one UNKNOWN_MEMBER_ID', () => {
    const group = new GroupDriver()
    const [a = '', b = ''] = group.stable(one, {})
    expect(group.heartbeat(b, 'one')).toBe(82)
    expect(group.heartbeat(a, 'two')).toBe(25)
    expect(group.heartbeat(a, 'one')).toBe(0)
  })
})
