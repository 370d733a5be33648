import { describe, expect, it } from 'vitest'
import { describeGroup, isListed, listGroup } from '../src/index.ts'
import { bytes, GroupDriver, text } from './driver.ts'

describe('ListGroups', () => {
  it('shows every group that exists, with its type and state', () => {
    const group = new GroupDriver()
    expect(listGroup(group.state)).toBeNull()
    const [a = ''] = group.stable({})
    const listed = { groupId: 'g', protocolType: 'consumer', groupType: 'classic' }
    expect(listGroup(group.state)).toEqual({ ...listed, groupState: 'Stable' })
    group.leave({ memberId: a })
    expect(listGroup(group.state)).toEqual({ ...listed, groupState: 'Empty' })
  })

  it('shows a simple group with protocol type ""', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    expect(listGroup(group.state)).toMatchObject({ protocolType: '', groupState: 'Empty' })
  })

  it.each([
    [[], [], true],
    [['stable'], [], true],
    [['EMPTY', 'Stable'], [], true],
    [['Empty'], [], false],
    [['nonsense'], [], false],
    [[], ['Classic'], true],
    [[], ['consumer'], false],
    [['Stable'], ['consumer', 'CLASSIC'], true],
  ])('with states %j and types %j lists a stable classic group: %j', (states, types, listed) => {
    const group = { groupId: 'g', protocolType: 'consumer', groupState: 'Stable', groupType: 'classic' } as const
    expect(isListed(group, states, types)).toBe(listed)
  })
})

describe('DescribeGroups', () => {
  it('shows a group that does not exist as Dead', () => {
    const described = describeGroup(new GroupDriver().state)
    expect(described).toEqual({ groupState: 'Dead', protocolType: '', protocolData: '', members: [] })
  })

  it('shows a stable group with protocol, metadata and assignments', () => {
    const group = new GroupDriver()
    const protocols = ['range', 'sticky'].map((name) => ({ name, metadata: bytes(`${name} metadata`) }))
    const [a = ''] = group.stable({ clientId: 'app', clientHost: '/10.1.2.3', groupInstanceId: 'i', protocols })
    const { members, ...rest } = describeGroup(group.state)
    expect(rest).toEqual({ groupState: 'Stable', protocolType: 'consumer', protocolData: 'range' })
    const named = members.map(({ memberMetadata, memberAssignment, ...member }) => ({
      ...member,
      metadata: text(memberMetadata),
      assignment: text(memberAssignment),
    }))
    const client = { clientId: 'app', clientHost: '/10.1.2.3', groupInstanceId: 'i' }
    expect(named).toEqual([{ ...client, memberId: a, metadata: 'range metadata', assignment: `part of ${a}` }])
  })

  it('shows the members of a group that rebalances without metadata, with what they were given last', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.join()
    const described = describeGroup(group.state)
    expect(described).toMatchObject({ groupState: 'PreparingRebalance', protocolData: '' })
    expect(described.members).toHaveLength(2)
    const given = described.members.map(({ memberMetadata, memberAssignment }) => [
      text(memberMetadata),
      text(memberAssignment),
    ])
    expect(given).toEqual([
      ['', `part of ${a}`],
      ['', ''],
    ])
  })
})
