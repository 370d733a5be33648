import { findCoordinator, heartbeat, joinGroup, offsetCommit, offsetFetch } from '@pico/kafka-codec'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { defaultListenSettings, type KafkaListener, listenKafka } from '../../src/index.ts'
import { KafkaSystem } from '../kafka-system.ts'
import { WireClient } from '../wire-client.ts'
import { bytes, GroupClient, groupSettings } from './group-client.ts'

const zeroUuid = '00000000-0000-0000-0000-000000000000'

let system: KafkaSystem
let members: GroupClient
let listener: KafkaListener
let client: WireClient
beforeEach(async () => {
  system = await KafkaSystem.open(groupSettings())
  members = new GroupClient(system)
  await system.createTopic('orders')
  listener = await listenKafka(
    { api: system.api, log: system.log },
    { ...defaultListenSettings, host: '127.0.0.1', port: 0 },
  )
  client = await WireClient.connect(listener.port)
})
afterEach(async () => {
  client.close()
  await listener.close(1000)
  expect(system.errors).toEqual([])
  await system.close()
})

const joinRequest = (memberId: string) => ({
  groupId: 'billing',
  sessionTimeoutMs: 10_000,
  rebalanceTimeoutMs: 60_000,
  memberId,
  groupInstanceId: null,
  protocolType: 'consumer',
  protocols: [{ name: 'range', metadata: bytes('orders') }],
  reason: null,
})

const commitRequest = (offset: number) => ({
  groupId: 'billing',
  generationIdOrMemberEpoch: -1,
  memberId: '',
  groupInstanceId: null,
  retentionTimeMs: -1n,
  topics: [
    {
      name: 'orders',
      topicId: zeroUuid,
      partitions: [
        {
          partitionIndex: 0,
          committedOffset: BigInt(offset),
          committedLeaderEpoch: -1,
          commitTimestamp: -1n,
          committedMetadata: null,
        },
      ],
    },
  ],
})

it('a heartbeat behind a parked JoinGroup of its connection is judged when that is answered, as in Kafka', async () => {
  const { memberId, generationId } = await members.enterAlone()
  const other = members.join({ version: 3 }) // starts a rebalance
  await expect.poll(() => members.heartbeat({ memberId, generationId } as never)).toBe(27)
  client.send(joinGroup, 9, joinRequest('wrong'), 1)
  client.send(joinGroup, 9, joinRequest(memberId), 2)
  client.send(heartbeat, 4, { groupId: 'billing', generationId, memberId, groupInstanceId: null }, 3)
  client.send(heartbeat, 4, { groupId: 'billing', generationId: generationId + 1, memberId, groupInstanceId: null }, 4)
  expect((await client.answer(joinGroup, 9)).body.errorCode).toBe(25)
  expect((await client.answer(joinGroup, 9)).body).toMatchObject({ errorCode: 0, generationId: generationId + 1 })
  expect(await client.answer(heartbeat, 4)).toMatchObject({ correlationId: 3, body: { errorCode: 22 } })
  expect(await client.answer(heartbeat, 4)).toMatchObject({ correlationId: 4, body: { errorCode: 0 } })
  expect((await other).generationId).toBe(generationId + 1)
})

it('a parked JoinGroup holds up its own connection and no other', async () => {
  const leader = await members.enterAlone()
  client.send(joinGroup, 3, joinRequest(''), 1)
  client.send(findCoordinator, 3, { key: 'billing', keyType: 0, coordinatorKeys: [] }, 2)
  await expect.poll(() => members.heartbeat(leader)).toBe(27)
  const another = await WireClient.connect(listener.port)
  another.send(findCoordinator, 3, { key: 'billing', keyType: 0, coordinatorKeys: [] })
  expect((await another.answer(findCoordinator, 3)).body.errorCode).toBe(0)
  another.close()
  expect(client.received).toBe(0)
  await members.join({ memberId: leader.memberId })
  expect((await client.answer(joinGroup, 3)).body.errorCode).toBe(0)
  expect((await client.answer(findCoordinator, 3)).body.errorCode).toBe(0)
})

it('commits of one connection take effect in the order they were sent, and a read behind them sees the last', async () => {
  for (let offset = 1; offset <= 200; offset++) client.send(offsetCommit, 8, commitRequest(offset), offset)
  const wanted = [{ name: 'orders', partitionIndexes: [0] }]
  client.send(offsetFetch, 7, { groupId: 'billing', topics: wanted, groups: [], requireStable: true }, 201)
  for (let offset = 1; offset <= 200; offset++) {
    const { correlationId, body } = await client.answer(offsetCommit, 8)
    expect([correlationId, body.topics[0]?.partitions[0]?.errorCode]).toEqual([offset, 0])
  }
  const { body } = await client.answer(offsetFetch, 7)
  expect(body.topics[0]?.partitions[0]?.committedOffset).toBe(200n)
})

it('a server that goes down answers a parked JoinGroup before it closes the connection', async () => {
  const leader = await members.enterAlone()
  client.send(joinGroup, 3, joinRequest(''), 1)
  await expect.poll(() => members.heartbeat(leader)).toBe(27)
  const closing = listener.close(5000)
  expect((await client.answer(joinGroup, 3)).body.errorCode).toBe(15)
  await client.closed
  await closing
})
