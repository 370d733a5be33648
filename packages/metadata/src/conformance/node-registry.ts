import { setTimeout as sleep } from 'node:timers/promises'
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

  it('lists the latest run of every node, with what it registered', async () => {
    const { metadata } = await openWorld(open)
    const { nodes } = metadata
    await nodes.register({ nodeId: 7, addresses: { http: 'http://seven' }, slots: 4 }, 1)
    const second = await nodes.register({ nodeId: 7, addresses: { kafka: 'seven:9092' }, slots: 2 }, 1)
    const fenced = await nodes.register({ nodeId: 3, ...anyNode }, 1)
    await nodes.fence(fenced)
    await nodes.fence(fenced)
    await nodes.setAddresses(second, { kafka: 'seven:9093' })
    await expect(nodes.setAddresses(fenced, {})).rejects.toThrow(FencedError)
    expect(await nodes.setSlots(7, 5)).toBe(true)
    expect(await nodes.setSlots(8, 5)).toBe(false)
    const listed = await nodes.list()
    expect(listed.map(({ silentMs: _, ...node }) => node)).toEqual([
      { nodeId: 1, nodeEpoch: 1, addresses: { kafka: '127.0.0.1:9092' }, slots: 1, isFenced: false },
      { ...fenced, addresses: {}, slots: 1, isFenced: true },
      { ...second, addresses: { kafka: 'seven:9093' }, slots: 5, isFenced: false },
    ])
    for (const { silentMs } of listed) {
      expect(silentMs).toBeGreaterThanOrEqual(0)
      expect(silentMs).toBeLessThan(60_000)
    }
  })

  it('fences those that have been silent too long by its own clock, once, whoever asks', async () => {
    const { metadata } = await openWorld(open)
    const { nodes } = metadata
    const silent = await nodes.register({ nodeId: 7, ...anyNode }, 8_000_000_000_000)
    await sleep(1000)
    const fresh = await nodes.register({ nodeId: 8, ...anyNode }, 1)
    await nodes.heartbeat({ nodeId: 1, nodeEpoch: 1 })
    const silentMs = (await nodes.list()).find(({ nodeId }) => nodeId === 7)?.silentMs ?? 0
    expect(silentMs).toBeGreaterThanOrEqual(990)
    expect(await nodes.fenceSilent(60_000)).toEqual([])
    expect(await nodes.fenceSilent(silentMs - 1)).toEqual([silent])
    expect(await nodes.fenceSilent(silentMs - 1)).toEqual([])
    await nodes.heartbeat(fresh)
    await expect(nodes.heartbeat(silent)).rejects.toThrow(FencedError)
    await expect(metadata.log.commitWalObjects(silent, [walObject(silent, 1)])).rejects.toThrow(FencedError)
    await expect(nodes.heartbeat({ nodeId: 9, nodeEpoch: 1 })).rejects.toThrow(FencedError)
    await metadata.log.commitWalObjects(fresh, [walObject(fresh, 1)])
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
