import { setTimeout as sleep } from 'node:timers/promises'
import type { Metadata, NodeIdentity } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import type { ObjectInfo, ObjectStore } from '@pico/storage'
import { openMemoryStore } from '@pico/storage/memory'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Finding } from '../src/verify/finding.ts'
import { verify } from '../src/verify/verify.ts'

/** What moves between one look and the next, which no finding may come of; and what does not. */
describe('verifying a system at work', () => {
  let metadata: Metadata
  let node: NodeIdentity
  let store: ObjectStore
  let streamId: number

  beforeEach(async () => {
    metadata = await openSqliteMetadata({ path: ':memory:' })
    node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
    store = openMemoryStore()
    const stream = { name: '/a', topic: 'a', partition: 0, topicId: crypto.randomUUID(), contentType: '', config: {} }
    streamId = (await metadata.streams.create([stream], 1))[0]?.streamId ?? 0
    await metadata.streams.open(node, [streamId])
    await pack(1, 0)
    await sleep(5) // older than a bound of nothing
  })
  afterEach(() => metadata.close())

  async function pack(objectId: number, baseOffset: number, key = `data/${objectId}`): Promise<void> {
    await metadata.log.announceUpload(key, Date.now() + 60_000)
    await store.put(key, [new Uint8Array(50)])
    const place = { objectId, position: 0, lengthBytes: 50, maxTimestampMs: 1, crc32c: null }
    const extents = [{ streamId, baseOffset, endOffset: baseOffset + 5, ...place }]
    const objects = [{ objectId, key, lengthBytes: 50 }]
    await metadata.log.commitPack(node, { objects, extents, states: [], walObjects: [], walSegments: [] }, Date.now())
  }

  /** As maintenance does: bytes first, rows after. */
  async function trimAndDelete(): Promise<void> {
    await metadata.streams.trim(node, streamId, 5, Date.now())
    await store.delete(['data/1'])
    await metadata.log.forgetDoomed(['data/1'])
  }

  /** Verifies, and does something when the store is first listed: before it answers, or after it has. */
  async function verifyWhile(meanwhile: {
    before?: () => Promise<void>
    after?: () => Promise<void>
  }): Promise<Finding[]> {
    const findings: Finding[] = []
    let isFirst = true
    const moving: ObjectStore = {
      put: store.put.bind(store),
      get: store.get.bind(store),
      delete: store.delete.bind(store),
      close: store.close.bind(store),
      async *list(prefix, options) {
        const { before, after } = isFirst ? meanwhile : {}
        isFirst = false
        await before?.()
        const listed: ObjectInfo[] = []
        for await (const info of store.list(prefix, options)) listed.push(info)
        await after?.()
        yield* listed
      },
    }
    const settings = { deep: false, boundMs: 0, graceMs: 0, findingsMax: 10, nowMs: Date.now }
    const signal = new AbortController().signal
    const places = [{ shown: 'memory', store: moving, holds: () => true }]
    const verdict = await verify({ metadata, places }, { ...settings, signal }, async (finding) => {
      findings.push(finding)
    })
    expect(verdict.findings).toBe(findings.length)
    return findings
  }

  it('finds nothing while nothing is wrong', async () => {
    expect(await verifyWhile({})).toEqual([])
  })

  it('does not miss an object that was needed when the rows were read, and is deleted when the store is', async () => {
    expect(await verifyWhile({ before: trimAndDelete })).toEqual([])
  })

  it('does not take for a stray what came after its page of rows was read', async () => {
    const comes = async () => {
      await pack(2, 5, 'data/0')
      await sleep(5) // older than the bound by now
    }
    expect(await verifyWhile({ before: comes })).toEqual([])
  })

  it('nor what came then and was deleted after the store had listed it', async () => {
    const comes = async () => {
      await pack(2, 5, 'data/0')
      await sleep(5)
    }
    const goes = async () => {
      await metadata.streams.trim(node, streamId, 10, Date.now())
      await store.delete(['data/0', 'data/1'])
      await metadata.log.forgetDoomed(['data/0', 'data/1'])
    }
    expect(await verifyWhile({ before: comes, after: goes })).toEqual([])
  })

  it('tells of an object that is needed and was lost', async () => {
    const lost = () => store.delete(['data/1'])
    expect(await verifyWhile({ before: lost })).toMatchObject([{ kind: 'missing', subject: 'data/1' }])
  })

  it('tells of a stray, which nobody knows each time', async () => {
    await store.put('data/stray', [new Uint8Array(1)])
    await sleep(5)
    expect(await verifyWhile({})).toMatchObject([{ kind: 'stray', subject: 'data/stray' }])
  })

  it('finds nothing wrong with what is packed meanwhile', async () => {
    expect(await verifyWhile({ before: () => pack(2, 5) })).toEqual([])
    expect(await verifyWhile({ after: () => pack(3, 10) })).toEqual([])
  })
})
