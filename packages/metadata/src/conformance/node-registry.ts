import { expect, it } from 'vitest'
import { FencedError } from '../errors.ts'
import { type OpenMetadata, openWorld, walObject } from './world.ts'

export function nodeRegistryConformance(open: OpenMetadata): void {
  const anyNode = { addresses: {}, slots: 1 }

  it('counts the epochs of each node from 1', async () => {
    const { metadata } = await openWorld(open)
    expect(await metadata.nodes.register({ nodeId: 7, ...anyNode }, 1)).toEqual({ nodeId: 7, nodeEpoch: 1 })
    expect(await metadata.nodes.register({ nodeId: 7, ...anyNode }, 2)).toEqual({ nodeId: 7, nodeEpoch: 2 })
    expect(await metadata.nodes.register({ nodeId: 8, ...anyNode }, 3)).toEqual({ nodeId: 8, nodeEpoch: 1 })
  })

  it('fences the lower epochs of a node that registers, and no other node', async () => {
    const { metadata } = await openWorld(open)
    const first = await metadata.nodes.register({ nodeId: 7, ...anyNode }, 1)
    const other = await metadata.nodes.register({ nodeId: 8, ...anyNode }, 1)
    const second = await metadata.nodes.register({ nodeId: 7, ...anyNode }, 2)
    await expect(metadata.log.commitWalObjects(first, [walObject(first, 1)])).rejects.toThrow(FencedError)
    await metadata.log.commitWalObjects(second, [walObject(second, 1)])
    await metadata.log.commitWalObjects(other, [walObject(other, 1)])
  })

  it('takes a cluster id that is offered before there is one, and keeps it', async () => {
    const { metadata } = await openWorld(open)
    expect(await metadata.nodes.clusterId('the-first')).toBe('the-first')
    expect(await metadata.nodes.clusterId()).toBe('the-first')
    expect(await metadata.nodes.clusterId('another')).toBe('the-first')
  })

  it('makes up a random UUID as cluster id when none is offered', async () => {
    const clusterId = await (await openWorld(open)).metadata.nodes.clusterId()
    expect(clusterId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(await (await openWorld(open)).metadata.nodes.clusterId()).not.toBe(clusterId)
  })

  it('gives out the numbers of each counter from 1, none twice', async () => {
    const { metadata } = await openWorld(open)
    expect(await metadata.nodes.reserve('objectId', 10)).toBe(1)
    expect(await metadata.nodes.reserve('objectId', 1)).toBe(11)
    expect(await metadata.nodes.reserve('producerId', 1000)).toBe(1)
    expect(await metadata.nodes.reserve('segmentId', 1)).toBe(1)
    expect(await metadata.nodes.reserve('objectId', 1)).toBe(12)
  })

  it('gives disjoint numbers to reservations at the same time', async () => {
    const { metadata } = await openWorld(open)
    const firsts = await Promise.all(Array.from({ length: 40 }, () => metadata.nodes.reserve('objectId', 5)))
    expect(firsts.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => 1 + index * 5))
  })

  it('refuses to reserve nothing', async () => {
    const { metadata } = await openWorld(open)
    await expect(metadata.nodes.reserve('objectId', 0)).rejects.toThrow('cannot reserve 0')
  })
}
