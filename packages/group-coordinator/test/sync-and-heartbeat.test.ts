import { describe, expect, it } from 'vitest'
import { bytes, GroupDriver, text } from './driver.ts'

/** Two members that have joined generation 2 and not synced. */
function completing() {
  const group = new GroupDriver()
  const a = group.reply(group.join(), 'join').memberId
  const second = group.join()
  group.join({ memberId: a })
  return { group, a, b: group.reply(second, 'join').memberId }
}

describe('SyncGroup', () => {
  it('parks the followers until the leader assigns, then answers everybody', () => {
    const { group, a, b } = completing()
    const follower = group.sync({ memberId: b })
    expect(group.isAnswered(follower)).toBe(false)
    const leader = group.sync({ memberId: a, assignments: { [a]: 'p0', [b]: 'p1' } })
    expect(text(group.reply(leader, 'sync').assignment)).toBe('p0')
    expect(group.reply(follower, 'sync')).toMatchObject({
      errorCode: 0,
      protocolType: 'consumer',
      protocolName: 'range',
    })
    expect(text(group.reply(follower, 'sync').assignment)).toBe('p1')
    expect(group.state.phase).toBe('Stable')
  })

  it('answers a follower that comes after the leader at once', () => {
    const { group, a, b } = completing()
    group.sync({ memberId: a, assignments: { [b]: 'p1' } })
    expect(text(group.reply(group.sync({ memberId: b }), 'sync').assignment)).toBe('p1')
  })

  it('gives a member that the leader forgot an empty assignment, and ignores one that it invented', () => {
    const { group, a, b } = completing()
    const leader = group.sync({ memberId: a, assignments: { [b]: 'p1', ghost: 'p2' } })
    expect(group.reply(leader, 'sync')).toMatchObject({ errorCode: 0 })
    expect(group.reply(leader, 'sync').assignment).toHaveLength(0)
  })

  it('ignores the assignments of a follower', () => {
    const { group, b } = completing()
    const follower = group.sync({ memberId: b, assignments: { [b]: 'everything' } })
    expect(group.isAnswered(follower)).toBe(false)
    expect(group.state.phase).toBe('CompletingRebalance')
  })

  it('again in a stable group answers the same assignment', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({}, {})
    expect(text(group.reply(group.sync({ memberId: a }), 'sync').assignment)).toBe(`part of ${a}`)
  })

  it('on a new connection takes the place of the parked one, which is answered', () => {
    const { group, a, b } = completing()
    const lost = group.sync({ memberId: b })
    const retried = group.sync({ memberId: b })
    expect(group.reply(lost, 'sync').errorCode).toBe(27)
    group.sync({ memberId: a, assignments: { [b]: 'p1' } })
    expect(text(group.reply(retried, 'sync').assignment)).toBe('p1')
  })

  it('keeps its own copy of the assignment, whose bytes the caller reuses', () => {
    const { group, a, b } = completing()
    const assignment = bytes('p1')
    const assignments = [{ memberId: b, assignment }]
    const fields = { groupInstanceId: null, generationId: 2, protocolType: null, protocolName: null, assignments }
    group.send({ kind: 'sync', requestToken: 900, memberId: a, ...fields })
    assignment.fill(0)
    expect(text(group.reply(group.sync({ memberId: b }), 'sync').assignment)).toBe('p1')
  })

  it('parked is told REBALANCE_IN_PROGRESS when a new rebalance starts', () => {
    const { group, b } = completing()
    const parked = group.sync({ memberId: b })
    group.join()
    expect(group.reply(parked, 'sync')).toMatchObject({ errorCode: 27, protocolType: null, protocolName: null })
    expect(group.heartbeat(b)).toBe(27)
  })

  it('parked is told UNKNOWN_MEMBER_ID when its member is made to leave', () => {
    const { group, b } = completing()
    const parked = group.sync({ memberId: b })
    group.leave({ memberId: b })
    expect(group.reply(parked, 'sync').errorCode).toBe(25)
  })

  it('removes the members that never sync within the rebalance timeout, and starts over', () => {
    const group = new GroupDriver()
    const ids = group.stable({ rebalanceTimeoutMs: 8_000 }, { rebalanceTimeoutMs: 8_000 })
    const [a = '', b = ''] = ids
    for (const memberId of ids) group.join({ memberId, rebalanceTimeoutMs: 8_000 })
    expect(group.state.phase).toBe('CompletingRebalance')
    const parked = group.sync({ memberId: b })
    group.advance(5_000)
    expect(group.heartbeat(a)).toBe(0)
    group.advance(2_999)
    expect(group.isAnswered(parked)).toBe(false)
    group.advance(1)
    expect(group.reply(parked, 'sync').errorCode).toBe(27)
    expect([...group.state.members.keys()]).toEqual([b])
    expect(group.reply(group.join({ memberId: b }), 'join')).toMatchObject({ errorCode: 0, leader: b })
  })

  it('is not missed in a group that has become empty first, even if one late tick has both', () => {
    const group = new GroupDriver()
    group.join()
    group.nowMs += 100_000
    group.send({ kind: 'tick' })
    expect(group.state).toMatchObject({ phase: 'Empty', generationId: 2 })
  })

  it('removes a follower that takes its generation and never syncs, though the leader has made the group stable', () => {
    const { group, a, b } = completing()
    group.sync({ memberId: a, assignments: {} })
    for (let ms = 0; ms < 60_000; ms += 5_000) {
      expect([group.heartbeat(a), group.heartbeat(b)]).toEqual([0, 0])
      group.advance(5_000)
    }
    expect([group.heartbeat(a), group.heartbeat(b)]).toEqual([27, 25])
  })

  it('keeps a member alive while it is parked, and starts its session when it is answered', () => {
    const { group, a, b } = completing()
    const parked = group.sync({ memberId: b })
    for (let ms = 0; ms < 30_000; ms += 5_000) {
      group.advance(5_000)
      expect(group.heartbeat(a)).toBe(0)
    }
    group.sync({ memberId: a, assignments: { [b]: 'p1' } })
    expect(text(group.reply(parked, 'sync').assignment)).toBe('p1')
    group.advance(9_999)
    expect(group.heartbeat(b)).toBe(0)
  })

  it.each([
    ['of an unknown member', { memberId: 'stranger' }, 25],
    ['of another generation', { generationId: 1 }, 22],
    ['with another protocol type', { protocolType: 'connect' }, 23],
    ['with another protocol', { protocolName: 'sticky' }, 23],
    ['with the right type and protocol', { protocolType: 'consumer', protocolName: 'range' }, 0],
    ['of an unknown instance', { groupInstanceId: 'i' }, 25],
  ])('%s is answered with its code', (_, fields, errorCode) => {
    const { group, a } = completing()
    expect(group.reply(group.sync({ memberId: a, ...fields }), 'sync').errorCode).toBe(errorCode)
  })

  it('is REBALANCE_IN_PROGRESS while members join, and UNKNOWN_MEMBER_ID in no group', () => {
    const group = new GroupDriver()
    expect(group.reply(group.sync({ memberId: 'm' }), 'sync').errorCode).toBe(25)
    const [a = ''] = group.stable({})
    group.join()
    expect(group.reply(group.sync({ memberId: a }), 'sync').errorCode).toBe(27)
  })
})

describe('Heartbeat', () => {
  it.each([
    ['in no group', (_: GroupDriver) => 'm', 25],
    [
      'of an unknown member',
      (group: GroupDriver) => {
        group.stable({})
        return 'stranger'
      },
      25,
    ],
    ['in a stable group', (group: GroupDriver) => group.stable({})[0] ?? '', 0],
    ['while the group completes a rebalance', (group: GroupDriver) => group.reply(group.join(), 'join').memberId, 0],
    [
      'while members join',
      (group: GroupDriver) => {
        const [a = ''] = group.stable({})
        group.join()
        return a
      },
      27,
    ],
  ])('%s is answered with its code', (_, memberOf, errorCode) => {
    const group = new GroupDriver()
    expect(group.heartbeat(memberOf(group))).toBe(errorCode)
  })

  it('of another generation is ILLEGAL_GENERATION and renews nothing', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.advance(9_000)
    expect(group.heartbeat(a, null, 0)).toBe(22)
    group.advance(1_000)
    expect(group.heartbeat(a)).toBe(25)
  })

  it('renews the session, and its absence ends it', () => {
    const group = new GroupDriver()
    const [a = '', b = ''] = group.stable({}, {})
    for (let i = 0; i < 4; i++) {
      group.advance(9_999)
      expect(group.heartbeat(a)).toBe(i === 0 ? 0 : 27)
    }
    expect(group.heartbeat(b)).toBe(25)
  })

  it('that comes after the deadline but before the tick saves the member of a process that stalled', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.nowMs += 25_000
    expect(group.heartbeat(a)).toBe(0)
    group.advance(0)
    expect(group.state.phase).toBe('Stable')
  })

  it('renews the session while members join too, so that the rebalance timeout decides', () => {
    const group = new GroupDriver()
    const [, b = ''] = group.stable({}, {})
    group.join()
    for (let i = 0; i < 5; i++) {
      group.advance(6_000)
      expect(group.heartbeat(b)).toBe(27)
    }
  })
})
