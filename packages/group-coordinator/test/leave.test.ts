import { describe, expect, it } from 'vitest'
import { GroupDriver } from './driver.ts'

describe('LeaveGroup', () => {
  it('of one member starts a rebalance at once', () => {
    const group = new GroupDriver()
    const [a = '', b = ''] = group.stable({}, {})
    expect(group.leave({ memberId: b })).toEqual({
      errorCode: 0,
      members: [{ memberId: b, groupInstanceId: null, errorCode: 0 }],
    })
    expect(group.heartbeat(a)).toBe(27)
  })

  it('of the last member empties the group', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.leave({ memberId: a })
    expect(group.state.phase).toBe('Empty')
  })

  it('of several gives each its own result and rebalances once', () => {
    const group = new GroupDriver()
    const [a = '', b = '', c = ''] = group.stable({}, { groupInstanceId: 'one' }, { groupInstanceId: 'two' })
    const left = group.leave(
      { memberId: '', groupInstanceId: 'one' },
      { memberId: 'stranger' },
      { memberId: a, groupInstanceId: 'two' },
      { memberId: '', groupInstanceId: 'three' },
      { memberId: c, groupInstanceId: 'two' },
      { memberId: c, groupInstanceId: 'two' },
      { memberId: '' },
    )
    expect(left.errorCode).toBe(0)
    expect(left.members.map(({ errorCode }) => errorCode)).toEqual([0, 25, 82, 25, 0, 25, 25])
    expect([...group.state.members.keys()]).toEqual([a])
    expect(group.state.members.has(b)).toBe(false)
    expect(group.reply(group.join({ memberId: a }), 'join').generationId).toBe(4)
  })

  it('in a group that does not exist is UNKNOWN_MEMBER_ID for each', () => {
    const left = new GroupDriver().leave({ memberId: 'm' }, { memberId: 'n' })
    expect(left.errorCode).toBe(0)
    expect(left.members.map(({ errorCode }) => errorCode)).toEqual([25, 25])
  })

  it('with an empty group id is INVALID_GROUP_ID', () => {
    expect(new GroupDriver({}, '').leave({ memberId: 'm' })).toEqual({ errorCode: 24, members: [] })
  })

  it('of a member whose id is only reserved gives the id up, and disturbs a stable group not at all', () => {
    const group = new GroupDriver()
    group.stable({})
    const { memberId } = group.reply(group.join({ requireKnownMemberId: true }), 'join')
    expect(group.leave({ memberId }).members[0]?.errorCode).toBe(0)
    expect(group.state.phase).toBe('Stable')
    expect(group.reply(group.join({ memberId }), 'join').errorCode).toBe(25)
  })

  it('of the one that was waited for opens the join barrier', () => {
    const group = new GroupDriver()
    const [a = '', b = ''] = group.stable({}, {})
    const rejoin = group.join({ memberId: a })
    group.leave({ memberId: b })
    expect(group.reply(rejoin, 'join').members).toHaveLength(1)
  })

  it('answers what the member had parked', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({}, {})
    const parked = group.join({ memberId: a })
    group.leave({ memberId: a })
    expect(group.reply(parked, 'join')).toMatchObject({ errorCode: 25, memberId: '' })
  })

  it('of a member by its instance needs no member id, however it came by it', () => {
    const group = new GroupDriver()
    group.stable({ groupInstanceId: 'one' }, {})
    expect(group.leave({ memberId: '', groupInstanceId: 'one' }).members[0]?.errorCode).toBe(0)
    expect(group.state.staticMemberIds.size).toBe(0)
  })
})
