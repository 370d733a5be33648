import { setTimeout as sleep } from 'node:timers/promises'
import { deleteGroups, offsetDelete } from '@pico/kafka-codec'
import { createTopic, deleteTopic } from '../raw-topics.ts'
import { GroupSession } from './group-session.ts'
import { errorText, type Scenario, type Session } from './session.ts'

/** What groups commit: OffsetCommit, OffsetFetch, OffsetDelete, DeleteGroups (kafka-compat 2.8). */
export const groupOffsets: readonly Scenario[] = [
  scenario('commits and reads in every version', async (group, session) => {
    for (let version = 2; version <= 9; version++) {
      const leaderEpoch = version >= 6 ? 0 : -1
      const committed = { offset: BigInt(version), leaderEpoch, metadata: `of ${version}` }
      await session.note(`commit ${version}`, () => group.commit({ 0: committed }, { version }))
      for (let read = 1; read <= 9; read++) {
        await session.note(`read ${read} of ${version}`, () => group.fetch([0], { version: read }))
      }
    }
    for (let version = 1; version <= 9; version++) {
      await session.note(`read ${version} of what is not there`, () =>
        group.fetch([0, 1], { version, topic: 'nothing' }),
      )
      const groupId = `${group.groupId}-none`
      await session.note(`read ${version} of no group`, () => group.fetch([0], { version, groupId }))
      if (version >= 2) {
        await session.note(`read ${version} of everything`, () => group.fetch(null, { version }))
        await session.note(`read ${version} of everything of no group`, () => group.fetch(null, { version, groupId }))
      }
    }
  }),
  scenario('what a commit may say', async (group, session) => {
    const said: Readonly<Record<string, Parameters<GroupSession['commit']>[0]>> = {
      'no metadata': { 0: { offset: 1n, metadata: null } },
      'the longest metadata': { 0: { offset: 2n, metadata: 'm'.repeat(4096) } },
      'too long metadata': { 0: { offset: 3n, metadata: 'm'.repeat(4097) } },
      'as many characters, of more bytes': { 0: { offset: 4n, metadata: 'ü'.repeat(4096) } },
      'a negative offset': { 0: -1n },
      'a very negative offset': { 0: -42n },
      'an offset far past the end': { 0: 1n << 52n },
      'an offset past what a double holds': { 0: (1n << 53n) + 1n },
      'an unknown partition beside a known one': { 0: 7n, 1: 8n, [-1]: 9n },
      'a leader epoch of the future': { 0: { offset: 10n, leaderEpoch: 99 } },
    }
    for (const [title, offsets] of Object.entries(said)) {
      await session.note(title, () => group.commit(offsets))
      await session.note(`${title}, read`, () => group.fetch([0]))
    }
    await session.note('an unknown topic', () => group.commit({ 0: 1n }, { topic: 'nothing' }))
    await session.note('the empty group id', () => group.commit({ 0: 1n }, { groupId: '' }))
    await session.note('the empty group id, read', () => group.fetch([0], { groupId: '' }))
    for (const version of [8, 9]) {
      await session.note(`a generation of no group, version ${version}`, () =>
        group.commit({ 0: 1n }, { groupId: `${group.groupId}-none`, generationId: 1, memberId: 'm', version }),
      )
      await session.note(`a member of no group, version ${version}`, () =>
        group.commit({ 0: 1n }, { groupId: `${group.groupId}-none`, memberId: 'm', version }),
      )
    }
    await session.note('a member id without a generation in an empty group', () =>
      group.commit({ 0: 2n }, { memberId: 'm' }),
    )
    await session.note('a generation in an empty group', () =>
      group.commit({ 0: 2n }, { memberId: 'm', generationId: 1 }),
    )
  }),
  scenario('offsets through restarts and deletions', async (group, session) => {
    const other = `${session.topic}-other`
    await createTopic(session.port, other)
    await group.commit({ 0: { offset: 11n, leaderEpoch: 0, metadata: 'kept' } })
    await group.commit({ 0: 12n }, { topic: other })
    for (const how of ['kill', 'stop'] as const) {
      await session.restart(how)
      await group.whenCoordinated()
      await session.note(`after a restart (${how})`, () => group.fetch([0]))
      await session.note(`described after a restart (${how})`, () => group.describe())
    }
    await deleteTopic(session.port, other)
    await session.note('of a deleted topic', () => whenGone(group, other))
    await session.note('deleted', () => removeOffsets(group, session, [session.topic, 'nothing']))
    await session.note('after that', () => group.fetch([0]))
    await session.note('deleted again', () => removeOffsets(group, session, [session.topic]))
    await session.note('deleted of no group', () =>
      removeOffsets(group, session, [session.topic], `${group.groupId}-none`),
    )
  }),
  scenario('offsets in use', async (group, session) => {
    const { memberId, generationId } = await group.enter()
    await group.sync({ memberId, generationId }, { [memberId]: 'all' })
    await group.commit({ 0: 1n }, { memberId, generationId })
    await session.note('deleted under a member that says nothing of topics', () =>
      removeOffsets(group, session, [session.topic]),
    )
    await session.note('the group is not deleted', () =>
      removeGroups(session, [group.groupId, `${group.groupId}-none`, '']),
    )
    await group.leave([[memberId, null]])
    await session.note('it is when its member is gone, once', () =>
      removeGroups(session, [group.groupId, group.groupId]),
    )
    await session.note('and not there any more', () => removeGroups(session, [group.groupId]))
    await session.note('described', () => group.describe())
    await session.note('listed', () => group.list(5))
    await session.note('read', () => group.fetch([0]))
    const connect = await group.enter({ protocolType: 'connect' })
    await group.sync({ memberId: connect.memberId, generationId: connect.generationId }, {})
    await session.note('of another kind of group', () => removeOffsets(group, session, [session.topic]))
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

async function removeOffsets(group: GroupSession, session: Session, topics: string[], groupId = group.groupId) {
  const connection = await session.connection()
  const answer = await connection.ask(offsetDelete, 0, {
    groupId,
    topics: topics.map((name) => ({ name, partitions: [{ partitionIndex: 0 }, { partitionIndex: 7 }] })),
  })
  const each = answer.topics.flatMap(({ name, partitions }) =>
    partitions.map(
      (one) => `${name === session.topic ? 'own' : name}-${one.partitionIndex}: ${errorText(one.errorCode)}`,
    ),
  )
  return { error: errorText(answer.errorCode), partitions: each.sort() }
}

async function removeGroups(session: Session, groupsNames: string[]) {
  const connection = await session.connection()
  const { results } = await connection.ask(deleteGroups, 2, { groupsNames })
  return results.map(({ errorCode }) => errorText(errorCode)).sort()
}

/** Kafka's coordinators hear of a deleted topic some time later. */
async function whenGone(group: GroupSession, topic: string): Promise<string | undefined> {
  for (let attempt = 0; ; attempt++) {
    const { topics } = await group.fetch([0], { topic })
    const offset = topics[0]?.partitions[0]?.committedOffset
    if (offset === '-1' || attempt === 100) return offset
    await sleep(50)
  }
}
