import { describe, expect, it } from 'vitest'
import { bytes, GroupDriver, text } from './driver.ts'

const dynamic = { requireKnownMemberId: true }

describe('JoinGroup', () => {
  it.each([
    [5_999, 26],
    [6_000, 0],
    [1_800_000, 0],
    [1_800_001, 26],
  ])('with a session timeout of %i ms is answered with code %i', (sessionTimeoutMs, errorCode) => {
    const group = new GroupDriver()
    expect(group.reply(group.join({ sessionTimeoutMs }), 'join').errorCode).toBe(errorCode)
  })

  it('with a member id in a group that does not exist is UNKNOWN_MEMBER_ID and creates none', () => {
    const group = new GroupDriver()
    expect(group.reply(group.join({ memberId: 'm' }), 'join')).toMatchObject({ errorCode: 25, memberId: 'm' })
    expect(group.state.phase).toBe('Dead')
  })

  it('with an empty group id is INVALID_GROUP_ID', () => {
    const group = new GroupDriver({}, '')
    expect(group.reply(group.join(), 'join').errorCode).toBe(24)
  })

  it.each([
    ['an empty protocol type', { protocolType: '' }],
    ['no protocol', { protocols: [] }],
  ])('with %s is INCONSISTENT_GROUP_PROTOCOL and creates no group', (_, fields) => {
    const group = new GroupDriver()
    expect(group.reply(group.join(fields), 'join').errorCode).toBe(23)
    expect(group.state.phase).toBe('Dead')
  })

  it.each([
    ['another protocol type', { protocolType: 'connect' }],
    ['no protocol in common', { protocols: [{ name: 'sticky', metadata: bytes('') }] }],
  ])('with %s than the members of the group is INCONSISTENT_GROUP_PROTOCOL', (_, fields) => {
    const group = new GroupDriver()
    group.stable({})
    expect(group.reply(group.join(fields), 'join').errorCode).toBe(23)
    expect(group.state.phase).toBe('Stable')
  })

  it('of any protocol type is taken by a group that has become empty', () => {
    const group = new GroupDriver()
    const [memberId = ''] = group.stable({})
    group.leave({ memberId })
    const joined = group.reply(group.join({ protocolType: 'connect' }), 'join')
    expect(joined).toMatchObject({ errorCode: 0, protocolType: 'connect', generationId: 3 })
  })

  it('error answers name no protocol, no leader and generation -1', () => {
    const group = new GroupDriver()
    expect(group.reply(group.join({ sessionTimeoutMs: 1 }), 'join')).toEqual({
      errorCode: 26,
      memberId: '',
      generationId: -1,
      protocolType: null,
      protocolName: null,
      leader: '',
      skipAssignment: false,
      members: [],
    })
  })

  it('gives the leader everybody with the metadata of the chosen protocol, and the others nobody', () => {
    const group = new GroupDriver()
    const protocols = (name: string) => [
      { name: 'range', metadata: bytes(`range of ${name}`) },
      { name: 'sticky', metadata: bytes(`sticky of ${name}`) },
    ]
    const first = group.join({ clientId: 'a', protocols: protocols('a') })
    const a = group.reply(first, 'join').memberId
    const second = group.join({ clientId: 'b', groupInstanceId: 'i', protocols: protocols('b') })
    const again = group.join({ memberId: a, protocols: protocols('a') })
    const leader = group.reply(again, 'join')
    const follower = group.reply(second, 'join')
    expect(leader.members.map(({ metadata, ...rest }) => ({ ...rest, metadata: text(metadata) }))).toEqual([
      { memberId: a, groupInstanceId: null, metadata: 'range of a' },
      { memberId: follower.memberId, groupInstanceId: 'i', metadata: 'range of b' },
    ])
    expect(follower).toMatchObject({ leader: a, members: [], generationId: 2, protocolName: 'range' })
  })

  it('keeps its own copy of the metadata, whose bytes the caller reuses', () => {
    const group = new GroupDriver()
    const metadata = bytes('mine')
    const token = group.join({ protocols: [{ name: 'range', metadata }] })
    metadata.fill(0)
    expect(text(group.reply(token, 'join').members[0]?.metadata ?? metadata)).toBe('mine')
  })
})

describe('a client without a member id', () => {
  it('before v4 is a member at once, named after its client id', () => {
    const group = new GroupDriver()
    expect(group.reply(group.join({ clientId: 'app' }), 'join')).toMatchObject({ errorCode: 0, memberId: 'app-u1' })
  })

  it('since v4 is told an id with MEMBER_ID_REQUIRED and is a member once it joins with it', () => {
    const group = new GroupDriver()
    const told = group.reply(group.join({ ...dynamic, clientId: 'app' }), 'join')
    expect(told).toMatchObject({ errorCode: 79, memberId: 'app-u1' })
    expect(group.state.members.size).toBe(0)
    const joined = group.reply(group.join({ ...dynamic, memberId: told.memberId }), 'join')
    expect(joined).toMatchObject({ errorCode: 0, memberId: 'app-u1', leader: 'app-u1' })
  })

  it('with an instance id is named after it and not asked to come twice', () => {
    const group = new GroupDriver()
    const joined = group.reply(group.join({ ...dynamic, groupInstanceId: 'db-1' }), 'join')
    expect(joined).toMatchObject({ errorCode: 0, memberId: 'db-1-u1' })
  })

  it('loses the id it was told when the session timeout passes before it joins with it', () => {
    const group = new GroupDriver()
    const { memberId } = group.reply(group.join({ ...dynamic, sessionTimeoutMs: 6_000 }), 'join')
    group.advance(6_000)
    expect(group.reply(group.join({ ...dynamic, memberId }), 'join').errorCode).toBe(25)
  })

  it('is waited for while a rebalance is under way, as if it had joined', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    const { memberId: b } = group.reply(group.join(dynamic), 'join')
    expect(group.state.phase).toBe('Stable')
    const rejoin = group.join({ memberId: a })
    expect(group.isAnswered(rejoin)).toBe(false)
    group.join({ ...dynamic, memberId: b })
    expect(group.reply(rejoin, 'join').members.map(({ memberId }) => memberId)).toEqual([a, b])
  })

  it('is waited for no longer once its id has lapsed', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.join({ ...dynamic, sessionTimeoutMs: 6_000 })
    const rejoin = group.join({ memberId: a })
    group.advance(6_000)
    expect(group.reply(rejoin, 'join').errorCode).toBe(0)
  })

  it('cannot pass its id off as that of a static member', () => {
    const group = new GroupDriver()
    group.stable({ groupInstanceId: 'i' })
    const { memberId } = group.reply(group.join(dynamic), 'join')
    expect(group.reply(group.join({ memberId, groupInstanceId: 'i' }), 'join').errorCode).toBe(82)
    expect(group.reply(group.join({ memberId, groupInstanceId: 'other' }), 'join').errorCode).toBe(25)
  })

  it('is refused when as many ids are reserved as the setting allows', () => {
    const group = new GroupDriver({ groupMaxPendingMembers: 2 })
    const codes = [1, 2, 3].map(() => group.reply(group.join(dynamic), 'join').errorCode)
    expect(codes).toEqual([79, 79, 81])
  })
})

describe('a known member that joins again', () => {
  it('while the group completes a rebalance, with nothing new, is told the generation again', () => {
    const group = new GroupDriver()
    const { memberId } = group.reply(group.join(), 'join')
    const again = group.reply(group.join({ memberId }), 'join')
    expect(again).toMatchObject({ errorCode: 0, generationId: 1, leader: memberId })
    expect(again.members).toHaveLength(1)
    expect(group.state.phase).toBe('CompletingRebalance')
  })

  it('while the group completes a rebalance, with new metadata, starts another one', () => {
    const group = new GroupDriver()
    const { memberId } = group.reply(group.join(), 'join')
    const again = group.join({ memberId, protocols: [{ name: 'range', metadata: bytes('other topics') }] })
    expect(group.reply(again, 'join').generationId).toBe(2)
  })

  it('in a stable group, as leader with nothing new, starts a rebalance', () => {
    const group = new GroupDriver()
    const [leader = '', follower = ''] = group.stable({}, {})
    group.join({ memberId: leader })
    expect(group.state.phase).toBe('PreparingRebalance')
    expect(group.heartbeat(follower)).toBe(27)
  })

  it('in a stable group, as follower with nothing new, is told the generation and disturbs nobody', () => {
    const group = new GroupDriver()
    const [leader = '', follower = ''] = group.stable({}, {})
    const again = group.reply(group.join({ memberId: follower }), 'join')
    expect(again).toMatchObject({ errorCode: 0, generationId: 2, leader, members: [], skipAssignment: false })
    expect(group.state.phase).toBe('Stable')
  })

  it.each([
    ['other bytes', [{ name: 'range', metadata: bytes('other') }]],
    [
      'one more protocol',
      [
        { name: 'range', metadata: bytes('topics of c') },
        { name: 'sticky', metadata: bytes('') },
      ],
    ],
  ])('in a stable group, as follower with %s, starts a rebalance', (_, protocols) => {
    const group = new GroupDriver()
    const [, follower = ''] = group.stable({}, {})
    group.join({ memberId: follower, protocols })
    expect(group.state.phase).toBe('PreparingRebalance')
  })

  it('on a new connection takes the place of its parked request, which is answered', () => {
    const group = new GroupDriver()
    const [, follower = ''] = group.stable({}, {})
    const lost = group.join({ memberId: follower, protocols: [{ name: 'range', metadata: bytes('new') }] })
    const retried = group.join({ memberId: follower, protocols: [{ name: 'range', metadata: bytes('new') }] })
    expect(group.reply(lost, 'join')).toMatchObject({ errorCode: 27, memberId: follower })
    expect(group.isAnswered(retried)).toBe(false)
    expect(group.state.parkedJoins).toBe(1)
  })

  it('but is not known is UNKNOWN_MEMBER_ID', () => {
    const group = new GroupDriver()
    group.stable({})
    expect(group.reply(group.join({ memberId: 'stranger' }), 'join')).toMatchObject({
      errorCode: 25,
      memberId: 'stranger',
    })
  })
})

describe('the size of a group', () => {
  it('is limited: one too many is GROUP_MAX_SIZE_REACHED and named no id', () => {
    const group = new GroupDriver({ groupMaxSize: 1 })
    group.stable({ clientId: 'a' })
    expect(group.reply(group.join(), 'join')).toMatchObject({ errorCode: 81, memberId: '' })
    expect(group.state.phase).toBe('Stable')
  })

  it('counts those that have joined while it rebalances, so that the last to come back goes', () => {
    const group = new GroupDriver()
    const ids = group.stable({}, {}, {})
    group.state = { ...group.state, settings: { ...group.state.settings, groupMaxSize: 2 } }
    const tokens = ids.map((memberId) => group.join({ memberId }))
    const codes = tokens.map((token) => group.reply(token, 'join').errorCode)
    expect(codes).toEqual([0, 0, 81])
    expect([...group.state.members.keys()]).toEqual(ids.slice(0, 2))
  })
})
