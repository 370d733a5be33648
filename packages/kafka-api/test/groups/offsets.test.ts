import { offsetDelete, offsetFetch } from '@pico/kafka-codec'
import { MetadataUnavailableError } from '@pico/metadata'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KafkaSystem } from '../kafka-system.ts'
import { GroupClient, groupSettings } from './group-client.ts'

let system: KafkaSystem
let client: GroupClient
beforeEach(async () => {
  system = await KafkaSystem.open(groupSettings())
  client = new GroupClient(system)
  await system.createTopic('orders')
  await system.createTopic('bills')
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

const versions = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** What OffsetFetch says of one partition and of the group, whatever the version. */
async function fetched(version: number, topic: string, groupId = 'billing') {
  const wanted = [{ name: topic, topicId: '00000000-0000-0000-0000-000000000000', partitionIndexes: [0] }]
  const many = version >= 8
  const answer = await system.call(offsetFetch, version, {
    groupId: many ? '' : groupId,
    topics: many ? [] : wanted,
    groups: many ? [{ groupId, memberId: null, memberEpoch: -1, topics: wanted }] : [],
    requireStable: false,
  })
  const group = many ? answer.groups[0]! : answer
  return { errorCode: group.errorCode, partition: group.topics[0]?.partitions[0] }
}

describe('committed offsets', () => {
  it.each(versions(2, 9))('are durable when OffsetCommit v%i is answered, and kept by a crash', async (version) => {
    const orders = { offset: 42, leaderEpoch: version >= 6 ? 3 : -1, metadata: 'so far' }
    expect(await client.commit({ 'orders-0': orders }, { version })).toEqual({ 'orders-0': 0 })
    await system.start(groupSettings())
    expect((await fetched(8, 'orders')).partition).toEqual({
      partitionIndex: 0,
      committedOffset: 42n,
      committedLeaderEpoch: version >= 6 ? 3 : -1,
      metadata: 'so far',
      errorCode: 0,
    })
  })

  it.each(versions(1, 9))('are told by OffsetFetch v%i', async (version) => {
    await client.commit({ 'orders-0': { offset: 42, leaderEpoch: 3, metadata: 'so far' } })
    expect(await fetched(version, 'orders')).toEqual({
      errorCode: 0,
      partition: {
        partitionIndex: 0,
        committedOffset: 42n,
        committedLeaderEpoch: version >= 5 ? 3 : -1,
        metadata: 'so far',
        errorCode: 0,
      },
    })
  })

  it.each(versions(1, 9))('are -1 and no error where there are none, with OffsetFetch v%i', async (version) => {
    const none = {
      partitionIndex: 0,
      committedOffset: -1n,
      committedLeaderEpoch: -1,
      metadata: '',
      errorCode: 0,
    }
    expect(await fetched(version, 'orders', 'nobody')).toEqual({ errorCode: 0, partition: none })
    await client.commit({ 'bills-0': 1 })
    expect(await fetched(version, 'orders')).toEqual({ errorCode: 0, partition: none })
    expect(await fetched(version, 'nothing')).toEqual({ errorCode: 0, partition: none })
  })

  it('are told for all topics, and for many groups at once', async () => {
    await client.commit({ 'orders-0': 1, 'bills-0': 2 })
    await client.commit({ 'orders-0': 3 }, { groupId: 'other' })
    expect(await client.committed()).toEqual({ 'orders-0': 1, 'bills-0': 2 })
    const groups = ['other', 'nobody', 'billing', 'g'.repeat(2000)].map((groupId) => {
      return { groupId, memberId: null, memberEpoch: -1, topics: null }
    })
    const answer = await system.call(offsetFetch, 9, { groupId: '', topics: [], groups, requireStable: true })
    expect(answer.groups.map(({ errorCode, topics }) => [errorCode, topics.length])).toEqual([
      [0, 1],
      [0, 0],
      [0, 2],
      [24, 0],
    ])
    const all = { groupId: 'billing', topics: null, groups: [], requireStable: false }
    expect((await system.call(offsetFetch, 2, all)).topics).toHaveLength(2)
  })

  it('belong to whoever has the group, or to anybody while it has no members', async () => {
    const joined = await client.enterAlone()
    expect(await client.commit({ 'orders-0': 1 }, { by: joined })).toEqual({ 'orders-0': 0 })
    expect(await client.commit({ 'orders-0': 2 })).toEqual({ 'orders-0': 25 })
    expect(await client.commit({ 'orders-0': 2 }, { by: { ...joined, generationId: 9 } })).toEqual({ 'orders-0': 22 })
    expect(await client.commit({ 'orders-0': 2 }, { by: { ...joined, memberId: 'x' } })).toEqual({ 'orders-0': 25 })
    await client.leave([joined.memberId])
    expect(await client.commit({ 'orders-0': 2 })).toEqual({ 'orders-0': 0 })
    expect(await client.committed()).toEqual({ 'orders-0': 2 })
  })

  it.each([
    [8, 22],
    [9, 69],
  ])('are refused to a generation of no group: v%i with %i', async (version, errorCode) => {
    const by = { ...(await client.enterAlone()), generationId: 4 }
    expect(await client.commit({ 'orders-0': 1 }, { version, by, groupId: 'nobody' })).toEqual({
      'orders-0': errorCode,
    })
    expect(await client.committed(null, 'nobody')).toEqual({})
  })

  it('may be under the empty group id, as simple consumers have them', async () => {
    expect(await client.commit({ 'orders-0': 7 }, { groupId: '' })).toEqual({ 'orders-0': 0 })
    await system.start(groupSettings())
    expect(await client.committed(null, '')).toEqual({ 'orders-0': 7 })
  })

  it('are judged partition by partition', async () => {
    const long = 'm'.repeat(4097)
    const answered = await client.commit({
      'nothing-0': 1,
      'orders-0': { offset: 5, metadata: long },
      'orders-1': 1,
      'orders--1': 1,
      'bills-0': -3,
    })
    expect(answered).toEqual({ 'nothing-0': 3, 'orders-0': 12, 'orders-1': 3, 'orders--1': 3, 'bills-0': 0 })
    expect(await client.committed()).toEqual({ 'bills-0': -3 })
    expect(await client.commit({ 'bills-0': 2n ** 53n })).toEqual({ 'bills-0': 1 })
    expect(await client.commit({ 'bills-0': 2n ** 53n - 1n })).toEqual({ 'bills-0': 0 })
  })

  it('are not answered before they are durable, and reads wait for them', async () => {
    await client.commit({ 'orders-0': 1 })
    system.holdFlushes()
    let answered = false
    const committing = client.commit({ 'orders-0': 2 }).then((answer) => {
      answered = true
      return answer
    })
    await settled()
    const reading = client.committed()
    await settled()
    expect(answered).toBe(false)
    system.store.heal()
    expect(await committing).toEqual({ 'orders-0': 0 })
    expect(await reading).toEqual({ 'orders-0': 2 })
  })

  it('that could not be written are an error that is tried again, and leave the group as it was', async () => {
    const joined = await client.enterAlone()
    await client.commit({ 'orders-0': 1 }, { by: joined })
    system.failFlushes()
    expect(await client.commit({ 'orders-0': 2, 'nothing-0': 1 }, { by: joined })).toEqual({
      'orders-0': 15,
      'nothing-0': 3,
    })
    expect(await client.heartbeat(joined)).toBe(0)
    expect(await client.committed()).toEqual({ 'orders-0': 1 })
    system.store.heal()
    expect(await client.commit({ 'orders-0': 3 }, { by: joined })).toEqual({ 'orders-0': 0 })
    await system.start(groupSettings())
    expect(await client.committed()).toEqual({ 'orders-0': 3 })
  })

  it('of topics that the database cannot be asked about now are an error that is tried again', async () => {
    await client.commit({ 'orders-0': 1 })
    const { describeTopics } = system.streams
    system.streams.describeTopics = async () => {
      throw new MetadataUnavailableError('asking for topics', { cause: new Error('gone for a moment') })
    }
    expect(await client.commit({ 'orders-0': 2, 'nothing-0': 1 })).toEqual({ 'orders-0': 15, 'nothing-0': 15 })
    const request = { groupId: 'billing', topics: [{ name: 'orders', partitions: [{ partitionIndex: 0 }] }] }
    expect(await system.call(offsetDelete, 0, request)).toMatchObject({ errorCode: 15, topics: [] })
    system.streams.describeTopics = describeTopics
    expect(await client.committed()).toEqual({ 'orders-0': 1 })
  })

  it('that no single write could hold are refused', async () => {
    const metadata = 'm'.repeat(4096)
    await system.start({ ...groupSettings(), streams: { partitionsMax: 5000 } })
    const created = await system.streams.createTopic({
      name: 'wide',
      partitions: 5000,
      config: {},
      validateOnly: false,
    })
    expect(created.refused).toBeUndefined()
    const offsets = Object.fromEntries(Array.from({ length: 4500 }, (_, at) => [`wide-${at}`, { offset: 1, metadata }]))
    const answered = await client.commit(offsets)
    expect(new Set(Object.values(answered))).toEqual(new Set([28]))
    expect(await client.commit({ 'orders-0': 1 })).toEqual({ 'orders-0': 0 })
    expect(await client.committed()).toEqual({ 'orders-0': 1 })
  })

  it('expire by a time of their own, where the client gave one', async () => {
    await client.commit({ 'orders-0': 1 }, { version: 4, retentionTimeMs: 3_600_000 })
    await client.commit({ 'bills-0': 2 }, { version: 4 })
    await system.start(groupSettings())
    expect(await client.committed()).toEqual({ 'orders-0': 1, 'bills-0': 2 })
    await system.start(groupSettings())
    system.clock.advance(3_600_000)
    expect(await client.committed()).toEqual({ 'bills-0': 2 })
    await system.start(groupSettings())
    expect(await client.committed()).toEqual({ 'bills-0': 2 })
  })

  it('can be deleted one by one, but not while members read the topic', async () => {
    await client.commit({ 'orders-0': 1, 'bills-0': 2 })
    const request = {
      groupId: 'billing',
      topics: ['orders', 'nothing'].map((name) => ({ name, partitions: [{ partitionIndex: 0 }] })),
    }
    const deleted = (errorCode: number) => [
      { name: 'orders', partitions: [{ partitionIndex: 0, errorCode }] },
      { name: 'nothing', partitions: [{ partitionIndex: 0, errorCode: 3 }] },
    ]
    expect(await system.call(offsetDelete, 0, request)).toMatchObject({ errorCode: 0, topics: deleted(0) })
    expect(await client.committed()).toEqual({ 'bills-0': 2 })
    await system.start(groupSettings())
    expect(await client.committed()).toEqual({ 'bills-0': 2 })
    expect(await system.call(offsetDelete, 0, { ...request, groupId: 'nobody' })).toMatchObject({
      errorCode: 69,
      topics: [],
    })
    await client.enterAlone({ protocolType: 'connect' })
    expect(await system.call(offsetDelete, 0, request)).toMatchObject({ errorCode: 68, topics: [] })
  })
})

describe('the offsets of a deleted topic', () => {
  it('go with it, and do not come back with a topic of its name', async () => {
    await client.commit({ 'orders-0': 1, 'bills-0': 2 })
    await system.streams.deleteTopic({ name: 'orders' })
    expect(await client.committed()).toEqual({ 'bills-0': 2 })
    await system.createTopic('orders')
    await system.start(groupSettings())
    expect(await client.committed()).toEqual({ 'bills-0': 2 })
  })

  it.each([
    ['for good', -1],
    ['with a time to expire', 3_600_000],
  ])('go also when the group was not in memory, committed %s', async (_, retentionTimeMs) => {
    await client.commit({ 'orders-0': 1, 'bills-0': 2 }, { version: 4, retentionTimeMs })
    await system.start(groupSettings()) // nobody has asked for the group since
    await system.streams.deleteTopic({ name: 'orders' })
    await system.streams.deleteTopic({ name: 'bills' })
    await system.createTopic('orders')
    expect(await client.committed()).toEqual({})
    await client.commit({ 'orders-0': 5 })
    await system.start(groupSettings())
    expect(await client.committed()).toEqual({ 'orders-0': 5 })
  })
})

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10))
}
