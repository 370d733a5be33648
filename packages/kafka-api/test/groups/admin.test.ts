import { deleteGroups, describeGroups, listGroups } from '@pico/kafka-codec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KafkaSystem } from '../kafka-system.ts'
import { GroupClient, groupSettings, text } from './group-client.ts'

let system: KafkaSystem
let client: GroupClient
beforeEach(async () => {
  system = await KafkaSystem.open(groupSettings())
  client = new GroupClient(system)
  await system.createTopic('orders')
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

const versions = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

async function described(version: number, groupId: string, includeAuthorizedOperations = false) {
  const { groups } = await system.call(describeGroups, version, { groups: [groupId], includeAuthorizedOperations })
  return groups[0]!
}

describe('DescribeGroups', () => {
  it.each(versions(0, 6))('v%i shows a stable group whole', async (version) => {
    const { memberId } = await client.enterAlone({ groupInstanceId: 'i1' })
    const group = await described(version, 'billing', version >= 3)
    expect(group).toMatchObject({
      errorCode: 0,
      errorMessage: null,
      groupId: 'billing',
      groupState: 'Stable',
      protocolType: 'consumer',
      protocolData: 'range',
      // What Kafka 4.4 answers without an authorizer.
      authorizedOperations: version >= 3 ? (1 << 3) | (1 << 6) | (1 << 8) | (1 << 10) | (1 << 11) : -2147483648,
    })
    const [member] = group.members
    expect(member).toMatchObject({
      memberId,
      groupInstanceId: version >= 4 ? 'i1' : null,
      clientId: 'test',
      clientHost: '/127.0.0.1',
    })
    expect(text(member!.memberMetadata)).toBe('metadata of range')
    expect(text(member!.memberAssignment)).toBe('all')
    expect((await described(version, 'billing')).authorizedOperations).toBe(-2147483648)
  })

  it('shows members that are not settled without what they said and were given', async () => {
    await client.enter()
    const group = await described(6, 'billing')
    expect(group).toMatchObject({ groupState: 'CompletingRebalance', protocolData: '' })
    expect(
      group.members.map(({ memberMetadata, memberAssignment }) => memberMetadata.length + memberAssignment.length),
    ).toEqual([0])
  })

  it.each(versions(0, 6))('v%i says of a group that there is none', async (version) => {
    expect(await described(version, 'nobody')).toMatchObject({
      groupId: 'nobody',
      groupState: 'Dead',
      protocolType: '',
      members: [],
      errorCode: version >= 6 ? 69 : 0,
      errorMessage: version >= 6 ? 'Group nobody not found.' : null,
    })
  })

  it('shows a group that only has offsets, in memory or not', async () => {
    await client.commit({ 'orders-0': 1 })
    expect(await described(6, 'billing')).toMatchObject({ errorCode: 0, groupState: 'Empty', protocolType: '' })
    await system.start(groupSettings())
    expect(await described(6, 'billing')).toMatchObject({ errorCode: 0, groupState: 'Empty', protocolType: '' })
  })
})

describe('ListGroups', () => {
  const ids = async (version: number, statesFilter: string[] = [], typesFilter: string[] = []) => {
    const { errorCode, groups } = await system.call(listGroups, version, { statesFilter, typesFilter })
    expect(errorCode).toBe(0)
    return groups.map(({ groupId }) => groupId)
  }

  beforeEach(async () => {
    await client.enterAlone({ groupId: 'stable' })
    await client.enter({ groupId: 'completing' })
    await client.commit({ 'orders-0': 1 }, { groupId: 'simple' })
  })

  it.each(versions(0, 5))('v%i has every group', async (version) => {
    const { groups } = await system.call(listGroups, version, { statesFilter: [], typesFilter: [] })
    const told = (groupId: string, groupState: string, protocolType: string) => ({
      groupId,
      protocolType,
      groupState: version >= 4 ? groupState : '',
      groupType: version >= 5 ? 'classic' : '',
    })
    expect(groups).toMatchObject([
      told('completing', 'CompletingRebalance', 'consumer'),
      told('simple', 'Empty', ''),
      told('stable', 'Stable', 'consumer'),
    ])
  })

  it('filters by state and by type, in whatever case', async () => {
    expect(await ids(4, ['sTABLE', 'Empty'])).toEqual(['simple', 'stable'])
    expect(await ids(5, ['nonsense'])).toEqual([])
    expect(await ids(5, [], ['Classic'])).toEqual(['completing', 'simple', 'stable'])
    expect(await ids(5, [], ['consumer'])).toEqual([])
    expect(await ids(5, ['empty'], ['classic', 'share'])).toEqual(['simple'])
  })

  it('has no group whose offsets are all there was, once they are gone', async () => {
    await system.call(deleteGroups, 2, { groupsNames: ['simple'] })
    expect(await ids(5)).toEqual(['completing', 'stable'])
  })
})

describe('DeleteGroups', () => {
  it.each(versions(0, 2))('v%i deletes each group that has no members, once', async (version) => {
    await client.commit({ 'orders-0': 1 })
    await client.enterAlone({ groupId: 'stable' })
    const groupsNames = ['billing', 'stable', 'nobody', 'billing', '']
    const { results } = await system.call(deleteGroups, version, { groupsNames })
    expect(results.map(({ groupId, errorCode }) => [groupId, errorCode])).toEqual([
      ['billing', 0],
      ['stable', 68],
      ['nobody', 69],
      ['', 69],
    ])
    expect(await client.committed()).toEqual({})
    await system.start(groupSettings())
    expect(await client.committed()).toEqual({})
    expect(await described(5, 'billing')).toMatchObject({ groupState: 'Dead' })
  })
})
