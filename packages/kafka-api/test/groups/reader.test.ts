import { consumerProtocolAssignment, encodeVersioned } from '@pico/kafka-codec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { groupReader } from '../../src/groups/group-reader.ts'
import { commitOf, HostSystem, joinOf } from './host-system.ts'

let system: HostSystem
beforeEach(async () => {
  system = await HostSystem.open()
})
afterEach(async () => {
  expect(system.failures).toEqual([])
  await system.close()
})

const reader = () => groupReader(system.host)

/** The only member of the group, with all of `orders`. */
async function enterWithAssignment(groupInstanceId: string | null = null): Promise<string> {
  const { memberId, generationId } = await system.host.ask('billing', joinOf({ groupInstanceId }))
  const assignment = encodeVersioned(consumerProtocolAssignment, 1, {
    assignedPartitions: [{ topic: 'orders', partitions: [0] }],
    userData: null,
  })
  await system.host.ask('billing', {
    kind: 'sync',
    memberId,
    generationId,
    protocolType: 'consumer',
    protocolName: 'range',
    groupInstanceId,
    assignments: [{ memberId, assignment }],
  })
  return memberId
}

describe('the group reader', () => {
  it('describes a group with its members, what they were given, and its durable offsets', async () => {
    const memberId = await enterWithAssignment('till-1')
    const commit = { ...commitOf(7), memberId, groupInstanceId: 'till-1', generationId: 1 }
    await system.host.commit('billing', commit, new Map([['orders', system.topicId]]))
    expect(await reader().describe('billing')).toEqual({
      groupId: 'billing',
      state: 'Stable',
      protocolType: 'consumer',
      protocolName: 'range',
      generationId: 1,
      members: [
        {
          memberId,
          groupInstanceId: 'till-1',
          clientId: 'app',
          clientHost: '/127.0.0.1',
          assignment: [{ topic: 'orders', partitions: [0] }],
        },
      ],
      offsets: [{ topic: 'orders', partition: 0, offset: 7, leaderEpoch: -1, metadata: '' }],
    })
  })

  it('shows no assignment where the bytes are none of a consumer', async () => {
    const { memberId, generationId } = await system.host.ask('billing', joinOf())
    const sync = { kind: 'sync', memberId, generationId, protocolType: 'consumer', protocolName: 'range' } as const
    const assignments = [{ memberId, assignment: Buffer.from([0, 1, 255, 255]) }]
    await system.host.ask('billing', { ...sync, groupInstanceId: null, assignments })
    expect(await reader().describe('billing')).toMatchObject({ members: [{ memberId, assignment: null }] })
  })

  it('describes a group that only has offsets, and one that is not in memory', async () => {
    await system.commit(3)
    await system.restart()
    expect(system.host.hostedGroups).toBe(0)
    expect(await reader().describe('billing')).toMatchObject({
      state: 'Empty',
      protocolType: '',
      members: [],
      offsets: [{ topic: 'orders', offset: 3 }],
    })
  })

  it('says that there is no such group', async () => {
    expect(await reader().describe('nobody')).toBeNull()
    expect(await reader().describe('x'.repeat(5000))).toBeNull() // no group can be called that
    expect(await reader().describe('\ud800')).toBeNull()
  })

  it('says that the coordinator cannot tell', async () => {
    await system.commit(3)
    system.host.drain()
    expect(await reader().describe('billing')).toEqual({ refused: 'COORDINATOR_NOT_AVAILABLE' })
    expect(await reader().list({ after: null, limit: 10 })).toMatchObject({
      groups: [{ groupId: 'billing', state: null, refused: 'COORDINATOR_NOT_AVAILABLE' }],
    })
  })

  it('lists page by page, in memory or not, and every group once', async () => {
    const groupIds = ['a', 'b/c', 'd e', 'f', 'gé']
    for (const groupId of groupIds) await system.commit(1, groupId)
    await system.restart()
    await system.enter('f')
    const seen: unknown[] = []
    let after: string | null = null
    let pages = 0
    do {
      const page = await reader().list({ after, limit: 2 })
      seen.push(...page.groups)
      after = page.next
      pages++
    } while (after !== null)
    expect(pages).toBe(3)
    const groupsAfter = async (groupId: string) => (await reader().list({ after: groupId, limit: 9 })).groups.length
    expect(await groupsAfter('d e')).toBe(2)
    expect(await groupsAfter('e'.repeat(5000))).toBe(2) // also what can be no group has a place among them
    expect(await groupsAfter('\ud800')).toBe(5)
    expect(seen).toEqual(
      groupIds.map((groupId) => {
        const isMember = groupId === 'f'
        const protocolType = isMember ? 'consumer' : ''
        return { groupId, state: isMember ? 'Stable' : 'Empty', protocolType, refused: null }
      }),
    )
  })
})
