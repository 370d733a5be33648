import { describe, expect, it } from 'vitest'
import { bytes, GroupDriver } from './driver.ts'

const delayed = { groupInitialRebalanceDelayMs: 3_000 }

describe('the first join of an empty group', () => {
  it('is answered after the initial delay, together with those that came meanwhile', () => {
    const group = new GroupDriver(delayed)
    const first = group.join()
    group.advance(2_999)
    expect(group.isAnswered(first)).toBe(false)
    group.advance(1)
    expect(group.reply(first, 'join')).toMatchObject({ errorCode: 0, generationId: 1 })
  })

  it('waits one delay more for every round in which somebody came', () => {
    const group = new GroupDriver(delayed)
    const first = group.join()
    group.advance(1_000)
    const second = group.join()
    group.advance(2_000)
    expect(group.isAnswered(first)).toBe(false)
    group.advance(3_000)
    expect(group.reply(first, 'join').members).toHaveLength(2)
    expect(group.reply(second, 'join').generationId).toBe(1)
  })

  it('waits no longer than the rebalance timeout of the first member', () => {
    const group = new GroupDriver(delayed)
    const first = group.join({ rebalanceTimeoutMs: 7_000 })
    for (let ms = 0; ms < 6_999; ms += 1_000) {
      expect(group.isAnswered(first)).toBe(false)
      group.advance(1_000)
      group.join()
    }
    group.advance(0)
    expect(group.reply(first, 'join').generationId).toBe(1)
  })

  it('is not cut short when all who are there have joined', () => {
    const group = new GroupDriver(delayed)
    const first = group.join()
    const second = group.join()
    group.advance(2_000)
    expect([first, second].map((token) => group.isAnswered(token))).toEqual([false, false])
  })

  it('does not wait where the delay is 0', () => {
    const group = new GroupDriver()
    expect(group.reply(group.join(), 'join').generationId).toBe(1)
  })

  it('waits again after the group has become empty', () => {
    const group = new GroupDriver(delayed)
    const [memberId = ''] = group.stable({})
    group.leave({ memberId })
    expect(group.state.phase).toBe('Empty')
    const later = group.join()
    expect(group.isAnswered(later)).toBe(false)
    group.advance(3_000)
    expect(group.reply(later, 'join').generationId).toBe(3)
  })
})

describe('the join barrier', () => {
  it('parks a new member until every known member has joined again', () => {
    const group = new GroupDriver()
    const [a = '', b = ''] = group.stable({}, {})
    const joining = group.join()
    expect(group.isAnswered(joining)).toBe(false)
    expect(group.heartbeat(a)).toBe(27)
    const second = group.join({ memberId: a })
    expect(group.isAnswered(joining)).toBe(false)
    group.join({ memberId: b })
    expect(group.reply(joining, 'join').generationId).toBe(3)
    expect(group.reply(second, 'join').members).toHaveLength(3)
  })

  it('opens at the longest rebalance timeout, without the dynamic members that are missing', () => {
    const group = new GroupDriver()
    const [a = '', b = ''] = group.stable({ rebalanceTimeoutMs: 20_000 }, { rebalanceTimeoutMs: 40_000 })
    const rejoin = group.join({ memberId: a, rebalanceTimeoutMs: 20_000 })
    for (let ms = 0; ms < 39_000; ms += 3_000) {
      group.advance(3_000)
      if (!group.isAnswered(rejoin)) expect(group.heartbeat(b)).toBe(27)
    }
    group.advance(1_000)
    expect(group.reply(rejoin, 'join').members.map(({ memberId }) => memberId)).toEqual([a])
    expect(group.heartbeat(b)).toBe(25)
  })

  it('opens as soon as the session of the last missing member ends', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({}, { sessionTimeoutMs: 6_000 })
    const rejoin = group.join({ memberId: a })
    group.advance(5_999)
    expect(group.isAnswered(rejoin)).toBe(false)
    group.advance(1)
    expect(group.reply(rejoin, 'join').members).toHaveLength(1)
  })

  it('takes the session timeout for the rebalance timeout of a v0 client', () => {
    const group = new GroupDriver()
    const v0 = { rebalanceTimeoutMs: -1, sessionTimeoutMs: 15_000 }
    const [a = '', b = ''] = group.stable(v0, v0)
    const rejoin = group.join({ ...v0, memberId: a })
    group.advance(10_000)
    expect(group.heartbeat(b)).toBe(27)
    expect(group.isAnswered(rejoin)).toBe(false)
    group.join({ ...v0, memberId: b })
    expect(group.reply(rejoin, 'join').members).toHaveLength(2)
  })

  it('does not expire a member whose join is parked longer than its session', () => {
    const group = new GroupDriver()
    const [a = '', b = ''] = group.stable({}, {})
    const rejoin = group.join({ memberId: a })
    for (let i = 0; i < 10; i++) {
      group.advance(3_000)
      expect(group.heartbeat(b)).toBe(27)
    }
    group.join({ memberId: b })
    expect(group.reply(rejoin, 'join').members).toHaveLength(2)
  })

  it('gives up a new member that is parked for five minutes', () => {
    const group = new GroupDriver()
    const long = { rebalanceTimeoutMs: 600_000 }
    const [a = ''] = group.stable(long)
    const joining = group.join(long)
    for (let i = 0; i < 60; i++) {
      expect(group.heartbeat(a)).toBe(27)
      expect(group.isAnswered(joining)).toBe(false)
      group.advance(5_000)
    }
    expect(group.reply(joining, 'join')).toMatchObject({ errorCode: 25, memberId: '' })
  })

  it('opens without a member whose session had ended first, even if one late tick fires both', () => {
    const group = new GroupDriver()
    const [a = '', late = ''] = group.stable({}, { groupInstanceId: 'i', sessionTimeoutMs: 50_000 })
    const rejoin = group.join({ memberId: a })
    group.nowMs += 70_000
    group.send({ kind: 'tick' })
    expect(group.reply(rejoin, 'join').members.map(({ memberId }) => memberId)).toEqual([a])
    expect(group.state.members.has(late)).toBe(false)
  })

  it('starts sessions that a deadline from before it opened does not end, even if one late tick has both', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({ sessionTimeoutMs: 65_000 }, { sessionTimeoutMs: 65_000 })
    const rejoin = group.join({ memberId: a, sessionTimeoutMs: 65_000 })
    group.nowMs += 70_000
    group.send({ kind: 'tick' })
    expect(group.reply(rejoin, 'join').generationId).toBe(3)
    expect(group.heartbeat(a)).toBe(0)
  })

  it('starts a session when it opens: an answer that is never read does not keep a member for ever', () => {
    const group = new GroupDriver()
    group.join({ sessionTimeoutMs: 8_000 })
    group.advance(8_000)
    expect(group.state.phase).toBe('Empty')
  })

  it('leaves an empty group when everybody is gone', () => {
    const group = new GroupDriver()
    group.stable({}, {})
    group.advance(10_000)
    expect(group.state).toMatchObject({ phase: 'Empty', leaderId: null, protocolName: null })
    expect(group.state.members.size).toBe(0)
  })
})

describe('the leader', () => {
  it('is the first to join', () => {
    const group = new GroupDriver()
    const [a] = group.stable({}, {}, {})
    expect(group.state.leaderId).toBe(a)
  })

  it('that leaves is followed by the next oldest member', () => {
    const group = new GroupDriver()
    const [a = '', b = '', c = ''] = group.stable({}, {}, {})
    group.leave({ memberId: a })
    const token = group.join({ memberId: c })
    group.join({ memberId: b })
    expect(group.reply(token, 'join').leader).toBe(b)
  })

  it('that does not come back in time is followed by the first that has, if it is static and stays a member', () => {
    const group = new GroupDriver()
    const [a = '', b = ''] = group.stable({ groupInstanceId: 'i', sessionTimeoutMs: 1_000_000 }, {})
    const changed = [{ name: 'range', metadata: bytes('changed') }]
    const token = group.join({ memberId: b, protocols: changed })
    group.advance(60_000)
    expect(group.reply(token, 'join')).toMatchObject({ errorCode: 0, leader: b })
    expect(group.state.members.has(a)).toBe(true)
  })
})

describe('the protocol of a generation', () => {
  const listing = (...names: string[]) => ({ protocols: names.map((name) => ({ name, metadata: bytes(name) })) })

  it.each([
    [
      'the only one that all support',
      [
        ['a', 'b'],
        ['b', 'c'],
        ['b', 'a'],
      ],
      'b',
    ],
    [
      'the one that most put first',
      [
        ['a', 'b'],
        ['b', 'a'],
        ['b', 'a'],
      ],
      'b',
    ],
    [
      'that of the oldest member where votes are equal',
      [
        ['b', 'a'],
        ['a', 'b'],
      ],
      'b',
    ],
    [
      'a vote among the common ones only',
      [
        ['x', 'a', 'b'],
        ['x', 'a', 'b'],
        ['b', 'a'],
      ],
      'a',
    ],
    [
      'named once even if a member lists it twice',
      [
        ['a', 'a', 'b'],
        ['b', 'a'],
        ['b', 'a'],
      ],
      'b',
    ],
  ])('is %s', (_, lists, selected) => {
    const group = new GroupDriver()
    group.stable(...lists.map((names) => listing(...names)))
    expect(group.state.protocolName).toBe(selected)
  })

  it('is selected anew when a member leaves', () => {
    const group = new GroupDriver()
    const [a = '', b = '', c = ''] = group.stable(listing('a', 'b'), listing('b', 'a'), listing('b', 'a'))
    expect(group.state.protocolName).toBe('b')
    group.leave({ memberId: b }, { memberId: c })
    group.join({ memberId: a, ...listing('a', 'b') })
    expect(group.state.protocolName).toBe('a')
  })
})

describe('the generation', () => {
  it('grows by one with every rebalance, that to an empty group included', () => {
    const group = new GroupDriver()
    const [memberId = ''] = group.stable({})
    expect(group.state.generationId).toBe(1)
    group.join({ memberId })
    expect(group.state.generationId).toBe(2)
    group.leave({ memberId })
    expect(group.state).toMatchObject({ phase: 'Empty', generationId: 3 })
  })
})
