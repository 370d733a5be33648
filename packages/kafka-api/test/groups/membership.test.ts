import { findCoordinator, joinGroup, leaveGroup } from '@pico/kafka-codec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KafkaSystem } from '../kafka-system.ts'
import { GroupClient, groupSettings, text } from './group-client.ts'

let system: KafkaSystem
let client: GroupClient
beforeEach(async () => {
  system = await KafkaSystem.open(groupSettings())
  client = new GroupClient(system)
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

const versions = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

describe('FindCoordinator', () => {
  it.each(versions(0, 5))('v%i names this node for a group, however many are asked for', async (version) => {
    const many = version >= 4
    const request = { key: many ? '' : 'a', keyType: 0, coordinatorKeys: many ? ['a', ''] : [] }
    const { throttleTimeMs, ...answer } = await system.call(findCoordinator, version, request)
    const coordinator = { nodeId: 1, host: 'broker.test', port: 9092, errorCode: 0, errorMessage: null }
    expect(throttleTimeMs).toBe(0)
    if (many) {
      expect(answer.coordinators).toEqual([
        { key: 'a', ...coordinator },
        { key: '', ...coordinator },
      ])
    } else {
      expect(answer).toMatchObject({ nodeId: 1, host: 'broker.test', port: 9092, errorCode: 0 })
    }
  })

  it.each([
    [1, 53],
    [2, 42],
  ])('has none for key type %i: error %i', async (keyType, errorCode) => {
    const one = await system.call(findCoordinator, 3, { key: 'a', keyType, coordinatorKeys: [] })
    expect(one).toMatchObject({ errorCode, nodeId: -1, host: '', port: -1 })
    const many = await system.call(findCoordinator, 4, { key: '', keyType, coordinatorKeys: ['a', 'b'] })
    expect(many.coordinators.map((each) => each.errorCode)).toEqual([errorCode, errorCode])
  })
})

describe('a group', () => {
  it.each(versions(0, 9))('forms with JoinGroup v%i', async (version) => {
    const first = await client.join({ version })
    expect(first.errorCode).toBe(version >= 4 ? 79 : 0)
    expect(first.memberId).toMatch(/^test-[0-9a-f-]{36}$/)
    const joined = version >= 4 ? await client.join({ version, memberId: first.memberId }) : first
    expect(joined).toMatchObject({
      errorCode: 0,
      generationId: 1,
      protocolName: 'range',
      protocolType: version >= 7 ? 'consumer' : null,
      leader: first.memberId,
      memberId: first.memberId,
      skipAssignment: false,
    })
    expect(joined.members.map(({ memberId, metadata }) => [memberId, text(metadata)])).toEqual([
      [first.memberId, 'metadata of range'],
    ])
  })

  it('is refused with an empty protocol name before v7, and with none since', async () => {
    for (const version of [6, 7]) {
      const refused = await client.join({ version, memberId: 'stranger' })
      expect(refused).toMatchObject({ errorCode: 25, generationId: -1, protocolName: version < 7 ? '' : null })
    }
  })

  it.each(versions(0, 5))('gives each member what its leader says, with SyncGroup v%i', async (version) => {
    const leader = await client.enterAlone()
    const follower = client.enter()
    expect(await heartbeatUntil(leader, 27)).toBe(27)
    const [again, other] = await Promise.all([client.join({ memberId: leader.memberId }), follower])
    expect(again.members).toHaveLength(2)
    expect(other.members).toEqual([])
    expect(other.leader).toBe(leader.memberId)
    const waiting = client.sync(other, {}, { version })
    const assignments = { [leader.memberId]: 'half', [other.memberId]: 'other half' }
    const own = await client.sync(again, assignments, { version })
    expect(text(own.assignment)).toBe('half')
    expect(text((await waiting).assignment)).toBe('other half')
    expect(own.protocolName).toBe(version >= 5 ? 'range' : null)
  })

  it('is not synced by a v5 that does not name the protocol, nor by one that names another', async () => {
    const joined = await client.enter()
    expect(await client.sync(joined, {}, { saysNothing: true })).toMatchObject({ errorCode: 23, protocolType: null })
    expect(await client.sync({ ...joined, protocolName: 'sticky' })).toMatchObject({ errorCode: 23 })
    expect(await client.sync(joined)).toMatchObject({ errorCode: 0 })
  })

  it.each(versions(0, 4))('knows its members and its generation, with Heartbeat v%i', async (version) => {
    const joined = await client.enterAlone()
    expect(await client.heartbeat(joined, { version })).toBe(0)
    expect(await client.heartbeat({ ...joined, generationId: 7 }, { version })).toBe(22)
    expect(await client.heartbeat({ ...joined, memberId: 'stranger' }, { version })).toBe(25)
    expect(await client.heartbeat(joined, { version, groupId: 'other' })).toBe(25)
    expect(await client.heartbeat(joined, { version, groupId: '' })).toBe(24)
  })

  it.each(versions(0, 5))('is left with LeaveGroup v%i', async (version) => {
    const joined = await client.enterAlone()
    const stranger = await client.leave(['stranger'], { version })
    const left = await client.leave([joined.memberId], { version })
    if (version < 3) {
      expect([stranger.errorCode, left.errorCode]).toEqual([25, 0])
    } else {
      expect(stranger).toMatchObject({ errorCode: 0, members: [{ memberId: 'stranger', errorCode: 25 }] })
      expect(left).toMatchObject({ errorCode: 0, members: [{ memberId: joined.memberId, errorCode: 0 }] })
    }
    expect(await client.heartbeat(joined)).toBe(25)
  })

  it('loses several members in one request', async () => {
    const leader = await client.enterAlone()
    const follower = client.enter()
    await heartbeatUntil(leader, 27)
    await client.join({ memberId: leader.memberId })
    const { memberId } = await follower
    const { members } = await client.leave([leader.memberId, memberId, 'stranger'])
    expect(members.map(({ errorCode }) => errorCode)).toEqual([0, 0, 25])
  })

  it('removes a static member by its instance id alone', async () => {
    await client.enterAlone({ groupInstanceId: 'i1' })
    const members = [{ memberId: '', groupInstanceId: 'i1', reason: 'scaled down' }]
    const request = { groupId: 'billing', memberId: '', members }
    expect(await system.call(leaveGroup, 5, request)).toMatchObject({
      errorCode: 0,
      members: [{ memberId: '', groupInstanceId: 'i1', errorCode: 0 }],
    })
  })

  it('fences a static member that was replaced', async () => {
    const first = await client.enterAlone({ groupInstanceId: 'i1' })
    const second = await client.join({ groupInstanceId: 'i1' })
    expect(second).toMatchObject({ errorCode: 0, generationId: first.generationId, skipAssignment: true })
    expect(await client.heartbeat(first, { groupInstanceId: 'i1' })).toBe(82)
    expect(await client.heartbeat(second, { groupInstanceId: 'i1' })).toBe(0)
  })

  it.each([
    ['a session timeout that is too short', { sessionTimeoutMs: 5999 }, 26],
    ['a session timeout that is too long', { sessionTimeoutMs: 1_800_001 }, 26],
    ['no protocols', { protocols: [] }, 23],
    ['no protocol type', { protocolType: '' }, 23],
    ['an empty group id', { groupId: '' }, 24],
    ['a group id that no stream can be named after', { groupId: 'g'.repeat(1001) }, 24],
  ])('refuses a join with %s, and leaves nothing behind', async (_, settings, errorCode) => {
    expect(await client.join(settings)).toMatchObject({ errorCode, generationId: -1 })
    await settled()
    expect(await system.streams.internal.list({ prefix: '/_sys/', after: null, limit: 10 })).toEqual([])
  })

  it('waits for its first members for as long as it is told, and for each that arrives meanwhile', async () => {
    await system.start({ api: {} })
    const first = client.enter({ version: 3 })
    await settled()
    system.clock.advance(2999)
    const second = client.enter({ version: 3 })
    await settled()
    system.clock.advance(3000)
    await settled()
    system.clock.advance(3000)
    const joined = await Promise.all([first, second])
    expect(joined.map(({ generationId }) => generationId)).toEqual([1, 1])
    expect(joined.map(({ members }) => members.length).sort()).toEqual([0, 2])
  })

  it('loses a member that is not heard of for its session, by the one timer the group has', async () => {
    const pending = system.clock.pending
    const joined = await client.enterAlone()
    expect(system.clock.pending).toBe(pending + 1)
    system.clock.advance(9999)
    expect(await client.heartbeat(joined)).toBe(0)
    system.clock.advance(9999)
    expect(await client.heartbeat(joined)).toBe(0)
    system.clock.advance(10_000)
    expect(await client.heartbeat(joined)).toBe(25)
  })

  it('keeps a parked member whose connection is gone, until its session ends', async () => {
    const leader = await client.enterAlone()
    const gone = new AbortController()
    const request = { groupId: 'billing', sessionTimeoutMs: 6000, rebalanceTimeoutMs: 60_000, memberId: '' }
    const protocols = [{ name: 'range', metadata: new Uint8Array(0) }]
    const rest = { groupInstanceId: null, protocolType: 'consumer', protocols, reason: null }
    const parked = system.call(joinGroup, 3, { ...request, ...rest }, gone.signal)
    await heartbeatUntil(leader, 27)
    gone.abort()
    const again = await client.join({ memberId: leader.memberId })
    expect(again.members).toHaveLength(2)
    await parked
  })

  it('answers whoever waits for others when the server goes down, and everybody after', async () => {
    const leader = await client.enterAlone()
    const parked = client.join({ version: 3 })
    await heartbeatUntil(leader, 27)
    const idle = system.clock.pending
    system.api.drain()
    expect(await parked).toMatchObject({ errorCode: 15 })
    expect(await client.heartbeat(leader)).toBe(15)
    const { coordinators } = await system.call(findCoordinator, 4, { key: '', keyType: 0, coordinatorKeys: ['a'] })
    expect(coordinators[0]?.errorCode).toBe(15)
    expect(system.clock.pending).toBe(idle - 2) // the group's and the sweep's
  })

  it('is a new one to its members when its coordinator starts again', async () => {
    const joined = await client.enterAlone()
    await system.start(groupSettings())
    expect(await client.heartbeat(joined)).toBe(25)
    expect(await client.enter()).toMatchObject({ errorCode: 0, generationId: 1 })
  })
})

/** A member learns of a rebalance by its heartbeat, some time after another has asked to join. */
async function heartbeatUntil(joined: Parameters<GroupClient['heartbeat']>[0], wanted: number): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const errorCode = await client.heartbeat(joined)
    if (errorCode === wanted || attempt === 50) return errorCode
    await settled()
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10))
}
