import { findCoordinator, heartbeat, joinGroup } from '@pico/kafka-codec'
import { GroupSession, type Joined, type MemberSettings } from './group-session.ts'
import { errorText, type Scenario, type Session } from './session.ts'

/** Members of a group: FindCoordinator, JoinGroup, SyncGroup, Heartbeat, LeaveGroup, DescribeGroups, ListGroups (kafka-compat 2.8). */
export const groups: readonly Scenario[] = [
  scenario('finding coordinators', async (group, session) => {
    for (let version = 0; version <= 5; version++) {
      for (const keyType of version === 0 ? [0] : [0, 1]) {
        await session.note(`version ${version}, key type ${keyType}`, () => find(session, version, keyType, ['a']))
      }
    }
    await session.note('two keys', () => find(session, 4, 0, ['a', group.groupId]))
    await session.note('no keys', () => find(session, 4, 0, []))
  }),
  scenario('a member alone, in every version', async (group, session) => {
    for (let version = 0; version <= 9; version++) {
      const groupId = `${group.groupId}-${version}`
      const first = await group.join({ version, groupId })
      await session.note(`join ${version}`, async () => group.joined(first))
      const joined = version >= 4 ? await group.join({ version, groupId, memberId: first.memberId }) : first
      await session.note(`join ${version} with its id`, async () => group.joined(joined))
      const member = { groupId, memberId: joined.memberId, generationId: joined.generationId }
      const assignment = { [joined.memberId]: 'all' }
      const syncVersion = Math.min(version, 5)
      await session.note(`sync ${version} that says nothing`, () =>
        group.sync({ ...member, version: syncVersion, saysNothing: true }),
      )
      await session.note(`sync ${version}`, () => group.sync({ ...member, version: syncVersion }, assignment))
      await session.note(`heartbeat ${version}`, () => group.beat({ ...member, version: Math.min(version, 4) }))
      for (let describe = 0; describe <= 6; describe++) {
        await session.note(`describe ${describe} of ${version}`, () => group.describe(describe, groupId, true))
      }
      const leaveVersion = { groupId, version: Math.min(version, 5) }
      await session.note(`leave ${version}`, () => group.leave([[joined.memberId, null]], leaveVersion))
      await session.note(`leave ${version} again`, () => group.leave([[joined.memberId, null]], leaveVersion))
      await session.note(`describe what is left of ${version}`, () => group.describe(6, groupId))
    }
  }),
  scenario('joins that are refused', async (group, session) => {
    const refused: Readonly<Record<string, MemberSettings>> = {
      'an empty group id': { groupId: '' },
      'a session timeout too short': { sessionTimeoutMs: 5999 },
      'a session timeout too long': { sessionTimeoutMs: 1_800_001 },
      'an unknown member of no group': { memberId: 'stranger' },
      'an unknown instance of no group': { memberId: 'stranger', groupInstanceId: 'i1' },
      'no protocols': { protocols: [] },
      'no protocol type': { protocolType: '' },
    }
    for (const [title, settings] of Object.entries(refused)) {
      for (const version of [5, 9]) {
        await session.note(`${title}, version ${version}`, async () =>
          group.joined(await group.join({ version, ...settings })),
        )
      }
    }
    const member = await alone(group)
    for (const [title, settings] of Object.entries({
      'an unknown member': { memberId: 'stranger' },
      'an unknown member, another type': { memberId: 'stranger', protocolType: 'connect' },
      'another type': { protocolType: 'connect' },
      'no protocol in common': { protocols: ['roundrobin'] },
      'an instance id that is not known': { memberId: member.memberId, groupInstanceId: 'i9' },
    })) {
      await session.note(title, async () => group.joined(await group.join(settings)))
    }
    await session.note('the group after all that', () => group.describe())
  }),
  scenario('two members', async (group, session) => {
    const first = await alone(group)
    const connection = await group.another()
    const joining = group.enter({ connection, protocols: ['range', 'sticky'] })
    await session.note('the first hears of it', () => group.beatUntil('REBALANCE_IN_PROGRESS', first))
    await session.note('while preparing', () => group.describe())
    await session.note('while preparing, listed', () => group.list(5))
    await session.note('sync while preparing', () => group.sync(first))
    await session.note('commit while preparing', () => group.commit({ 0: 5n }, first))
    const again = await group.join({ memberId: first.memberId, protocols: ['sticky', 'range'] })
    await session.note('the first is in', async () => group.joined(again))
    const second = await joining
    await session.note('the second is in', async () => group.joined(second))
    const own = { memberId: first.memberId, generationId: again.generationId }
    const other = { memberId: second.memberId, generationId: second.generationId }
    await session.note('while completing', () => group.describe())
    await session.note('heartbeat while completing', () => group.beat(own))
    await session.note('commit while completing', () => group.commit({ 0: 6n }, own))
    await session.note('join again while completing', async () =>
      group.joined(await group.join({ memberId: first.memberId, protocols: ['sticky', 'range'] })),
    )
    await session.note('sync of an old generation, while completing', () => group.sync(first))
    await session.note('sync of a stranger, while completing', () => group.sync({ ...own, memberId: 'stranger' }))
    await session.note('sync with another protocol, while completing', () =>
      group.sync({ ...own, protocolType: 'consumer', protocols: ['sticky'] }),
    )
    await session.note('sync with another type, while completing', () =>
      group.sync({ ...own, protocolType: 'connect', protocols: ['range'] }),
    )
    const waiting = group.sync({ ...other, connection, protocolType: 'consumer', protocols: ['range'] })
    await session.note('the leader decides', () => group.sync(own, { [own.memberId]: 'one', nobody: 'three' }))
    await session.note('the second is given', async () => waiting)
    await session.note('sync again', () => group.sync(other))
    await session.note('stable', () => group.describe())
    await session.note('listed', () => group.list(5))
    await session.note('a follower that joins again', async () =>
      group.joined(await group.join({ memberId: second.memberId, protocols: ['range', 'sticky'], connection })),
    )
    for (const [title, wrong] of Object.entries({
      'of an old generation': { generationId: 1 },
      'of a later generation': { generationId: 9 },
      'of a stranger': { memberId: 'stranger' },
      'of nobody': { memberId: '' },
      'of no group': { groupId: `${group.groupId}-none` },
      'of an empty group id': { groupId: '' },
      'of an unknown instance': { groupInstanceId: 'i9' },
    })) {
      await session.note(`heartbeat ${title}`, () => group.beat({ ...own, ...wrong }))
      await session.note(`sync ${title}`, () => group.sync({ ...own, ...wrong }))
      await session.note(`commit ${title}`, () => group.commit({ 0: 7n }, { ...own, ...wrong }))
      await session.note(`commit ${title}, version 8`, () => group.commit({ 0: 7n }, { ...own, ...wrong, version: 8 }))
    }
    await session.note('leave of many', () =>
      group.leave([
        ['stranger', null],
        [second.memberId, null],
        [second.memberId, null],
      ]),
    )
    await session.note('the leader hears of it', () => group.beatUntil('REBALANCE_IN_PROGRESS', own))
    await session.note('leave of the last', () => group.leave([[own.memberId, null]], { version: 2 }))
    await session.note('what is left', () => group.describe())
    await session.note('what is left, listed', () => group.list(4))
    for (const [version, states, types] of [
      [4, ['eMPTY'], []],
      [4, ['Stable'], []],
      [4, ['nonsense'], []],
      [5, [], ['CLASSIC']],
      [5, [], ['consumer']],
      [5, ['Empty'], ['classic']],
    ] as const) {
      await session.note(`listed by ${states} ${types}`, () => group.list(version, [...states], [...types]))
    }
  }),
  scenario('a heartbeat behind a parked join on its connection', async (group, session) => {
    const first = await alone(group)
    const connection = await group.another()
    const joining = group.enter({ connection })
    await group.beatUntil('REBALANCE_IN_PROGRESS', first)
    const main = await session.connection()
    const protocols = [{ name: 'range', metadata: Buffer.from('metadata of range') }]
    const rest = { groupInstanceId: null, protocolType: 'consumer', protocols, reason: null }
    const timeouts = { sessionTimeoutMs: 10_000, rebalanceTimeoutMs: 10_000 }
    const { groupId } = group
    const { memberId, generationId } = first
    const rejoining = main.ask(joinGroup, 9, { groupId, memberId, ...timeouts, ...rest })
    const old = main.ask(heartbeat, 4, { groupId, generationId, memberId, groupInstanceId: null })
    const current = main.ask(heartbeat, 4, { groupId, generationId: generationId + 1, memberId, groupInstanceId: null })
    await session.note('the join', async () => group.joined(await rejoining))
    await session.note('the old generation', async () => errorText((await old).errorCode))
    await session.note('the current generation', async () => errorText((await current).errorCode))
    await session.note('the other', async () => group.joined(await joining))
  }),
  scenario('static members', async (group, session) => {
    const first = await group.join({ groupInstanceId: 'i1' })
    await session.note('a static member is in at once', async () => group.joined(first))
    const own = { memberId: first.memberId, generationId: first.generationId, groupInstanceId: 'i1' }
    await group.sync(own, { [first.memberId]: 'all' })
    for (const version of [5, 8, 9]) {
      const replacing = await group.join({ version, groupInstanceId: 'i1' })
      await session.note(`replaced, version ${version}`, async () => group.joined(replacing))
      Object.assign(own, { memberId: replacing.memberId })
      await session.note(`sync of the new one, version ${version}`, () => group.sync(own))
    }
    const former = { ...own, memberId: first.memberId }
    await session.note('heartbeat of the former', () => group.beat(former))
    await session.note('sync of the former', () => group.sync(former))
    await session.note('join of the former', async () => group.joined(await group.join(former)))
    await session.note('commit of the former', () => group.commit({ 0: 1n }, former))
    await session.note('commit of the new one', () => group.commit({ 0: 1n }, own))
    await session.note('leave of the former', () => group.leave([[first.memberId, 'i1']]))
    await session.note('described', () => group.describe())
    await session.note('a new protocol', async () =>
      group.joined(await group.join({ groupInstanceId: 'i1', protocols: ['sticky'] })),
    )
    await session.note('leave of an unknown instance', () => group.leave([['', 'i9']]))
    await session.note('leave by the instance', () => group.leave([['', 'i1']]))
    await session.note('what is left', () => group.describe())
  }),
]

function scenario(name: string, run: (group: GroupSession, session: Session) => Promise<void>): Scenario {
  return {
    name,
    async run(session) {
      const group = await GroupSession.open(session)
      try {
        await run(group, session)
      } finally {
        group.close()
      }
    },
  }
}

/** The only member of a stable group. */
async function alone(group: GroupSession): Promise<{ memberId: string; generationId: number }> {
  const { memberId, generationId }: Joined = await group.enter()
  group.name(memberId) // before a list of members, which has them in no particular order
  await group.sync({ memberId, generationId }, { [memberId]: 'all' })
  return { memberId, generationId }
}

async function find(session: Session, version: number, keyType: number, keys: string[]) {
  const connection = await session.connection()
  const many = version >= 4
  const request = { key: many ? '' : (keys[0] ?? ''), keyType, coordinatorKeys: many ? keys : [] }
  const answer = await connection.ask(findCoordinator, version, request)
  const told = many ? answer.coordinators : [{ key: keys[0], ...answer }]
  return told.map(({ errorCode, nodeId, port }) => [errorText(errorCode), nodeId, port === session.port])
}
