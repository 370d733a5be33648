import { afterEach, describe, expect, it } from 'vitest'
import { HostSystem, joinOf, settled } from './host-system.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

let system: HostSystem
afterEach(() => system.close())

describe('an idle group', () => {
  it('leaves memory and takes its timer along, and is there again when it is asked for', async () => {
    system = await HostSystem.open()
    await system.commit(41)
    await system.pass(minuteMs)
    const idle = system.system.clock.pending
    await system.commit(42)
    expect(system.host.hostedGroups).toBe(1)
    expect(system.system.clock.pending).toBe(idle + 1)
    await system.pass(30_000)
    expect(await system.committed()).toBe(42)
    await system.pass(59_999)
    expect(system.host.hostedGroups).toBe(1)
    await system.pass(1)
    await expect.poll(() => system.host.hostedGroups).toBe(0)
    expect(system.system.clock.pending).toBe(idle)
    expect(await system.committed()).toBe(42)
    expect(system.failures).toEqual([])
  })

  it('lets its stream leave the memory of the log', async () => {
    system = await HostSystem.open({}, { log: { idleStreamMs: minuteMs, packIntervalMs: minuteMs } })
    await system.commit(42)
    const stream = await system.stream()
    await system.pass(minuteMs)
    await system.pass(30 * minuteMs)
    await expect.poll(() => system.host.hostedGroups).toBe(0)
    await system.pass(60 * minuteMs) // a round of maintenance
    await expect.poll(() => stream.append(new Uint8Array(0), { zstdAllowed: true }).refused?.errorCode).toBe(6)
    expect(await system.committed()).toBe(42)
  })

  it('stays while it has members, or ids that were given out', async () => {
    system = await HostSystem.open()
    const { memberId, generationId } = await system.enter()
    await system.host.ask('reserved', joinOf({ requireKnownMemberId: true, sessionTimeoutMs: 30 * minuteMs }))
    for (let minute = 0; minute < 5; minute++) {
      for (let beat = 0; beat < 12; beat++) {
        await system.pass(5000)
        const call = { kind: 'heartbeat', memberId, generationId, groupInstanceId: null } as const
        expect((await system.host.ask('billing', call)).errorCode).toBe(0)
      }
    }
    expect(system.host.hostedGroups).toBe(2)
  })

  it('that somebody comes for while it leaves is loaded again, and nothing is lost', async () => {
    system = await HostSystem.open()
    await system.commit(1)
    system.system.clock.advance(minuteMs) // it is on its way out
    const answers = [system.commit(2), system.committed(), system.commit(3), system.committed()]
    expect(await Promise.all(answers)).toEqual([0, 2, 0, 3])
    expect(system.failures).toEqual([])
  })
})

describe('a group that nothing is known of', () => {
  it('is forgotten as soon as it is answered, without a row', async () => {
    system = await HostSystem.open()
    const heartbeat = { kind: 'heartbeat', memberId: 'm', generationId: 1, groupInstanceId: null } as const
    expect(await system.host.ask('nobody', heartbeat)).toEqual({ errorCode: 25 })
    expect(await system.host.ask('nobody', { kind: 'offsetFetch', topics: null })).toEqual({ errorCode: 0, topics: [] })
    expect(await system.host.describe('nobody')).toMatchObject({ picture: { groupState: 'Dead' } })
    expect(await system.host.ask('nobody', { kind: 'deleteGroup' })).toEqual({ errorCode: 69 })
    await settled()
    await expect.poll(() => system.host.hostedGroups).toBe(0)
    expect(await system.streamNames()).toEqual([])
  })

  it('has a row from its first member on, which names its coordinator, and none when it is gone', async () => {
    system = await HostSystem.open()
    const { memberId } = await system.enter()
    expect(await system.streamNames()).toEqual(['/_sys/groups/billing'])
    await system.host.ask('billing', { kind: 'leave', members: [{ memberId, groupInstanceId: null }] })
    await system.pass(10 * minuteMs)
    await expect.poll(() => system.streamNames()).toEqual([])
    await expect.poll(() => system.host.hostedGroups).toBe(0)
  })
})

describe('a list of groups', () => {
  it('has those in memory and those that are not, and loads none for it twice', async () => {
    system = await HostSystem.open()
    await system.commit(1, 'simple')
    await system.commitAs(await system.enter(), 2)
    const simple = { groupId: 'simple', protocolType: '', groupState: 'Empty', groupType: 'classic' }
    const billing = { groupId: 'billing', protocolType: 'consumer', groupState: 'Stable', groupType: 'classic' }
    expect(await system.host.list()).toEqual({ errorCode: 0, picture: [billing, simple] })
    await system.restart()
    const empty = { ...billing, groupState: 'Empty' }
    expect(await system.host.list()).toEqual({ errorCode: 0, picture: [empty, simple] })
    await expect.poll(() => system.host.hostedGroups).toBe(0)
    const epochs = (await system.stream()).leaderEpoch
    await system.restart()
    expect(await system.host.list()).toEqual({ errorCode: 0, picture: [empty, simple] })
    expect((await system.stream()).leaderEpoch).toBe(epochs + 1) // opened by this question, not by the list
    expect(system.failures).toEqual([])
  })

  it('is complete however many there are', async () => {
    system = await HostSystem.open()
    const groupIds = Array.from({ length: 1203 }, (_, index) => `g-${String(index).padStart(5, '0')}`)
    await Promise.all(groupIds.map((groupId) => system.commit(1, groupId)))
    const listed = await system.host.list()
    expect('picture' in listed && listed.picture.map(({ groupId }) => groupId)).toEqual(groupIds)
  })
})

describe('a deleted group', () => {
  it('is gone for good, row and all, and can begin anew', async () => {
    system = await HostSystem.open()
    await system.commit(42)
    expect(await system.host.ask('billing', { kind: 'deleteGroup' })).toEqual({ errorCode: 0 })
    expect(await system.committed()).toBeUndefined()
    await expect.poll(() => system.streamNames()).toEqual([])
    await system.restart()
    expect(await system.committed()).toBeUndefined()
    await system.commit(1)
    const answers = [system.host.ask('billing', { kind: 'deleteGroup' }), system.commit(2)]
    expect(await Promise.all(answers)).toEqual([{ errorCode: 0 }, 15]) // not yet: the group is on its way out
    expect(await system.commit(2)).toBe(0)
    expect(await system.committed()).toBe(2)
    await system.restart()
    expect(await system.committed()).toBe(2)
  })

  it('is not deleted before that is durable', async () => {
    system = await HostSystem.open()
    await system.commit(42)
    system.system.failFlushes()
    expect(await system.host.ask('billing', { kind: 'deleteGroup' })).toEqual({ errorCode: 15 })
    system.system.store.heal()
    expect(await system.committed()).toBe(42)
  })
})

describe('offsets that expire', () => {
  it('do so while nobody has their group in memory, and take the group and its row along', async () => {
    system = await HostSystem.open()
    await system.commit(42)
    await system.pass(minuteMs)
    await expect.poll(() => system.host.hostedGroups).toBe(0)
    await system.pass(6 * dayMs)
    expect(await system.streamNames()).toEqual(['/_sys/groups/billing'])
    await expect.poll(() => system.host.hostedGroups).toBe(0)
    await system.pass(dayMs)
    await system.pass(10 * minuteMs)
    await expect.poll(() => system.streamNames()).toEqual([])
    await expect.poll(() => system.host.hostedGroups).toBe(0)
    expect(system.failures).toEqual([])
  })

  it('of a group whose members were lost with the coordinator do so seven days after it was found empty', async () => {
    system = await HostSystem.open()
    await system.commitAs(await system.enter(), 42)
    await system.restart()
    expect(await system.committed()).toBe(42) // from now on it is known to be empty
    await system.pass(minuteMs)
    await expect.poll(() => system.host.hostedGroups).toBe(0)
    await system.pass(6 * dayMs)
    await system.restart()
    expect(await system.committed()).toBe(42)
    await system.pass(dayMs)
    await system.restart()
    expect(await system.committed()).toBeUndefined()
  })
})

describe('a group that cannot be loaded', () => {
  it('while its store does not answer is COORDINATOR_LOAD_IN_PROGRESS, and there when it does', async () => {
    system = await HostSystem.open()
    await system.commit(42)
    await system.restart()
    system.system.store.inject({ operation: 'get', fault: { kind: 'hang' } })
    const waiting = system.host.ask('billing', joinOf())
    await settled()
    await system.pass(4999)
    await system.pass(1)
    expect(await waiting).toMatchObject({ errorCode: 14 })
    expect(await system.host.ask('billing', joinOf())).toMatchObject({ errorCode: 14 })
    const heartbeat = { kind: 'heartbeat', memberId: 'm', generationId: 1, groupInstanceId: null } as const
    expect(await system.host.ask('billing', heartbeat)).toEqual({ errorCode: 0 })
    system.system.store.heal()
    await expect.poll(() => system.committed().catch(() => undefined)).toBe(42)
  })

  it('because its store fails is COORDINATOR_NOT_AVAILABLE, and there when it does not', async () => {
    system = await HostSystem.open()
    await system.commit(42)
    await system.restart()
    system.system.store.inject({ operation: 'get', fault: { kind: 'fail-before', code: 'EIO' } })
    expect(await system.host.ask('billing', joinOf())).toMatchObject({ errorCode: 15 })
    system.system.store.heal()
    expect(await system.committed()).toBe(42)
  })

  it('because this node serves no more is NOT_COORDINATOR, to those who wait and to all others', async () => {
    system = await HostSystem.open()
    const member = await system.enter()
    await system.commitAs(member, 42)
    const parked = system.host.ask('billing', joinOf())
    await system.system.streams.close()
    expect(await parked).toMatchObject({ errorCode: 16 })
    const heartbeat = { kind: 'heartbeat', ...member, groupInstanceId: null } as const
    expect(await system.host.ask('billing', heartbeat)).toEqual({ errorCode: 16 })
    await expect.poll(() => system.host.hostedGroups).toBe(0)
    await system.restart()
    expect(await system.committed()).toBe(42)
  })
})

describe('a host that goes down', () => {
  it('waits for the commits on their way, and for nothing else', async () => {
    system = await HostSystem.open()
    const member = await system.enter()
    const parked = system.host.ask('billing', joinOf())
    system.system.holdFlushes()
    const committing = system.commitAs(member, 42)
    await settled()
    system.host.drain()
    expect(await system.host.ask('billing', joinOf())).toMatchObject({ errorCode: 15 })
    system.system.store.heal()
    expect((await committing).topics[0]?.partitions).toEqual([{ partition: 0, errorCode: 0 }])
    expect(await parked).toMatchObject({ errorCode: 15 })
    await expect.poll(() => system.host.hostedGroups).toBe(0)
    await system.restart()
    expect(await system.committed()).toBe(42)
  })

  it('leaves no timer behind', async () => {
    system = await HostSystem.open()
    const idle = system.system.clock.pending
    await system.enter()
    await system.commit(1, 'simple')
    await system.host.ask('reserved', joinOf({ requireKnownMemberId: true }))
    await settled()
    system.host.drain()
    await settled()
    // What is left of the sweep's is none, and the log has one of its own since the commit.
    expect(system.system.clock.pending).toBeLessThanOrEqual(idle)
  })
})
