import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { FencedError } from '../errors.ts'
import { type OpenMetadata, openWorld } from './world.ts'

export function leasesConformance(open: OpenMetadata): void {
  const withTwoNodes = async () => {
    const { metadata, node } = await openWorld(open)
    return { metadata, node, other: await metadata.nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, 1) }
  }

  it('gives a lease to one node at a time, which may extend it and let go of it', async () => {
    const { metadata, node, other } = await withTwoNodes()
    const { leases } = metadata
    expect(await leases.holder('maintenance')).toBe(null)
    expect(await leases.acquire('maintenance', node, 60_000)).toBe(true)
    expect(await leases.acquire('maintenance', other, 60_000)).toBe(false)
    expect(await leases.acquire('maintenance', node, 60_000)).toBe(true)
    expect(await leases.acquire('another', other, 60_000)).toBe(true)
    expect(await leases.holder('maintenance')).toEqual(node)
    await leases.release('maintenance', other)
    expect(await leases.holder('maintenance')).toEqual(node)
    await leases.release('maintenance', node)
    expect(await leases.holder('maintenance')).toBe(null)
    expect(await leases.acquire('maintenance', other, 60_000)).toBe(true)
  })

  it('gives a lease to one of those who ask at the same time', async () => {
    const { metadata, node, other } = await withTwoNodes()
    const asked = [node, other, node, other].map((each) => metadata.leases.acquire('maintenance', each, 60_000))
    const answers = await Promise.all(asked)
    const holder = await metadata.leases.holder('maintenance')
    expect(holder).not.toBe(null)
    expect(answers).toEqual([node, other, node, other].map((each) => each.nodeId === holder?.nodeId))
  })

  it('ends when its time has come, and with its holder', async () => {
    const { metadata, node, other } = await withTwoNodes()
    const { leases, nodes } = metadata
    await leases.acquire('short', node, 50)
    await sleep(100)
    expect(await leases.holder('short')).toBe(null)
    expect(await leases.acquire('short', other, 60_000)).toBe(true)
    await nodes.fence(other)
    expect(await leases.holder('short')).toBe(null)
    expect(await leases.acquire('short', node, 60_000)).toBe(true)
    await expect(leases.acquire('short', other, 60_000)).rejects.toThrow(FencedError)
    const restarted = await nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
    expect(await leases.acquire('short', restarted, 60_000)).toBe(true)
  })
}
