import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Partition, PathStream, Streams } from '../src/index.ts'
import { type ClusterNode, TestCluster, ttlMs, until } from './cluster.ts'
import { created, newStream, opened, put, requests, values } from './path-system.ts'
import { batchOf, readValues } from './system.ts'

let cluster: TestCluster
let nodes: ClusterNode[]
beforeEach(async () => {
  cluster = await TestCluster.open()
  nodes = [await cluster.start(1), await cluster.start(2), await cluster.start(3)]
})
afterEach(() => cluster.close())

const names = Array.from({ length: 9 }, (_, at) => `/stream-${at}`)

/** The node that has the stream, and the others. */
async function ownerOf(name: string): Promise<{ owner: ClusterNode; others: ClusterNode[] }> {
  const owners: ClusterNode[] = []
  const live = nodes.filter(({ membership }) => !membership.isOver)
  for (const node of live) if (isOpen(await node.streams.paths.open(name))) owners.push(node)
  expect(owners).toHaveLength(1)
  return { owner: owners[0]!, others: live.filter((node) => node !== owners[0]) }
}

function isOpen(answer: Awaited<ReturnType<Streams['paths']['open']>>): answer is PathStream {
  return typeof answer === 'object' && !('kind' in answer)
}

/** The values by their offsets, which are dense. */
async function readBack(stream: Partition): Promise<string[]> {
  const found = await readValues(stream)
  return found.map((line, offset) => {
    const [at, value = ''] = line.split('=')
    expect(at).toBe(`${offset}`)
    return value
  })
}

const transferTo = async (name: string, toNode: number) => {
  const [row] = await cluster.metadata.streams.byName([name])
  const transfer = await cluster.metadata.transfers.request(row!.streamId, toNode, Date.now())
  if (typeof transfer === 'string') throw new Error(transfer)
  await until(async () => (await cluster.metadata.transfers.get(transfer.transferId))?.state === 'done')
}

describe('streams of several nodes', () => {
  it('are spread evenly, each had by one node, and the others say where that is', async () => {
    for (const name of names) created(await nodes[0]!.streams.paths.create(newStream(name)))
    const counts = new Map<number, number>()
    for (const name of names) {
      const { owner, others } = await ownerOf(name)
      counts.set(owner.nodeId, (counts.get(owner.nodeId) ?? 0) + 1)
      const ownerAddress = `http://node-${owner.nodeId}:4437`
      for (const { streams } of others) {
        expect(await streams.paths.open(name)).toEqual({ kind: 'not-owner', ownerAddress })
        expect(await streams.paths.describe(name)).toEqual({ kind: 'not-owner', ownerAddress })
      }
    }
    expect([...counts.values()]).toEqual([3, 3, 3])
  })

  it('have the same leader wherever Kafka clients ask', async () => {
    const topic = { name: 'orders', partitions: 6, config: {}, validateOnly: false }
    const { created: made } = await nodes[1]!.streams.createTopic(topic)
    const leaders = made?.partitions.map(({ leaderNodeId }) => leaderNodeId)
    expect(new Set(leaders)).toEqual(new Set([1, 2, 3]))
    for (const { streams, nodeId } of nodes) {
      const [described] = await streams.describeTopics([{ name: 'orders' }])
      expect(described?.partitions).toEqual(made?.partitions)
      for (const { partition, leaderNodeId } of described?.partitions ?? []) {
        const found = await streams.partition({ name: 'orders' }, partition)
        expect(typeof found === 'string' ? found : found.leaderEpoch).toBe(leaderNodeId === nodeId ? 1 : 'not-owner')
      }
    }
  })

  it('of our own are asked for at the same node by all, there or not', async () => {
    for (const name of ['/_sys/groups/a', '/_sys/groups/b', '/_sys/groups/c', '/_sys/groups/d']) {
      const before = await Promise.all(nodes.map(({ streams }) => streams.internal.ownerOf(name)))
      expect(new Set(before).size).toBe(1)
      const owner = nodes.find(({ nodeId }) => nodeId === before[0])
      expect(await owner?.streams.internal.openOrCreate(name)).toBeTypeOf('object')
      expect(await Promise.all(nodes.map(({ streams }) => streams.internal.ownerOf(name)))).toEqual(before)
      for (const other of nodes) {
        if (other !== owner) expect(await other.streams.internal.open(name)).toBe('not-owner')
      }
    }
  })
})

describe('the end of a stream', () => {
  /** Three records, acknowledged, which are in the WAL alone. */
  async function written(): Promise<Awaited<ReturnType<typeof ownerOf>>> {
    created(await nodes[0]!.streams.paths.create(newStream('/orders')))
    const found = await ownerOf('/orders')
    await put(await opened(found.owner.streams, '/orders'), 'a', 'b', 'c')
    return found
  }
  /** What a node says of it: where it ends, or where to ask. */
  const endBy = async ({ streams }: ClusterNode) => {
    const found = await streams.paths.describe('/orders')
    if (typeof found === 'string') throw new Error(found)
    return 'nextOffset' in found ? found.nextOffset : found.kind
  }

  it('is told with all that a dead node had acknowledged, as soon as it is told again', async () => {
    const { owner, others } = await written()
    owner.cut()
    const told: (number | string)[] = []
    await until(async () => {
      told.push(...(await Promise.all(others.map(endBy))))
      return told.at(-1) === 3 || told.at(-2) === 3
    })
    expect(new Set(told)).toEqual(new Set(['not-owner', 3]))
  })

  it('is not told by a node that leaves: its rows do not know yet', async () => {
    const { owner } = await written()
    const leaving = owner.streams.handOver()
    const told: (number | string)[] = []
    do told.push(await endBy(owner))
    while (told.at(-1) === 3)
    expect(told.at(-1)).toBe('not-owner')
    await leaving
  })
})

describe('a node that is cut off from the database', () => {
  it('serves nothing after its time to live, and another has its streams with all that was acknowledged', async () => {
    created(await nodes[0]!.streams.paths.create(newStream('/orders')))
    const { owner, others } = await ownerOf('/orders')
    const stream = await opened(owner.streams, '/orders')
    const first = stream.appendRecords(values('a', 'b'), { producer: requests('p', 0, 0) })
    if (first.kind !== 'appended') throw new Error(first.kind)
    await first.committed
    const lost: string[] = []
    stream.watch((change) => lost.push(change))

    owner.cut()
    await until(() => owner.membership.isOver)
    expect(owner.streams.isServing).toBe(false)
    expect(stream.appendRecords(values('c'))).toEqual({ kind: 'refused', why: { kind: 'not-serving' } })
    await expect(async () => stream.read(0, 1000)).rejects.toThrow(/not served/)
    expect(await owner.streams.paths.open('/orders')).toEqual({ kind: 'not-owner', ownerAddress: null })
    await until(() => lost.includes('lost'))

    await until(
      async () =>
        isOpen(await others[0]!.streams.paths.open('/orders')) ||
        isOpen(await others[1]!.streams.paths.open('/orders')),
      ttlMs * 5,
    )
    const { owner: next } = await ownerOf('/orders')
    const taken = await opened(next.streams, '/orders')
    expect(taken.leaderEpoch).toBe(stream.leaderEpoch + 1)
    expect(await readBack(taken)).toEqual(['a', 'b'])
    const again = taken.appendRecords(values('a', 'b'), { producer: requests('p', 0, 0) })
    expect(again.kind).toBe('duplicate')
    expect(await put(taken, 'c')).toBe(2)
  })

  it('goes on where it was if nobody took it for dead meanwhile', async () => {
    created(await nodes[0]!.streams.paths.create(newStream('/orders')))
    const { owner } = await ownerOf('/orders')
    const stream = await opened(owner.streams, '/orders')
    await put(stream, 'before')
    const changes: string[] = []
    stream.watch((change) => changes.push(change))
    for (const node of nodes) node.cut()
    await until(() => nodes.every(({ membership }) => membership.isOver))
    await until(() => changes.includes('lost'))
    expect(stream.appendRecords(values('meanwhile')).kind).toBe('refused')
    for (const node of nodes) node.restore()
    await until(() => nodes.every(({ streams }) => streams.isServing))
    expect(await opened(owner.streams, '/orders')).toBe(stream)
    expect(await put(stream, 'after')).toBe(1)
  })

  it('has its place taken by its own next run', async () => {
    created(await nodes[0]!.streams.paths.create(newStream('/orders')))
    const { owner } = await ownerOf('/orders')
    await put(await opened(owner.streams, '/orders'), 'a')
    owner.cut()
    nodes.push(await cluster.start(owner.nodeId))
    owner.restore()
    await owner.membership.over
    expect(owner.streams.isServing).toBe(false)
    const { owner: next } = await ownerOf('/orders')
    const stream = await opened(next.streams, '/orders')
    expect(await readBack(stream)).toEqual(['a'])
  })
})

describe('a transfer', () => {
  it('moves a stream with its records and producers, and those who wait are told', async () => {
    created(await nodes[0]!.streams.paths.create(newStream('/orders')))
    const { owner, others } = await ownerOf('/orders')
    const stream = await opened(owner.streams, '/orders')
    for (let sequence = 0; sequence < 20; sequence++) {
      const outcome = stream.appendRecords(values(`${sequence}`), { producer: requests('p', 0, sequence) })
      if (outcome.kind !== 'appended') throw new Error(outcome.kind)
      if (sequence % 3 === 0) await outcome.committed
    }
    const changes: string[] = []
    stream.watch((change) => changes.push(change))
    const target = others[0]!
    await transferTo('/orders', target.nodeId)
    expect(changes.at(-1)).toBe('lost')
    expect((await ownerOf('/orders')).owner).toBe(target)
    const moved = await opened(target.streams, '/orders')
    expect(await readBack(moved)).toEqual(Array.from({ length: 20 }, (_, at) => `${at}`))
    expect(moved.appendRecords(values('19'), { producer: requests('p', 0, 19) }).kind).toBe('duplicate')
    await put(moved, 'there')
    // The source packs what it had beside it, and moves on: nothing of the stream is taken twice.
    await owner.log.pack()
    await transferTo('/orders', owner.nodeId)
    expect((await readBack(await opened(owner.streams, '/orders'))).at(-1)).toBe('there')
  })

  it('loses nothing under load, whichever way it goes', async () => {
    created(await nodes[0]!.streams.paths.create(newStream('/orders')))
    const acknowledged: { value: string; offset: number }[] = []
    let isOver = false
    const load = (async () => {
      for (let number = 0; !isOver; number++) {
        for (const { streams } of nodes) {
          const stream = await streams.paths.open('/orders')
          if (!isOpen(stream)) continue
          const outcome = stream.appendRecords(values(`${number}`))
          if (outcome.kind !== 'appended') continue
          await outcome.committed.then(
            () => acknowledged.push({ value: `${number}`, offset: outcome.baseOffset }),
            () => undefined, // may be there or not
          )
        }
      }
    })()
    for (let transfers = 0; transfers < 12 || acknowledged.length < 100; transfers++) {
      const { owner } = await ownerOf('/orders')
      await transferTo('/orders', (owner.nodeId % 3) + 1)
      const before = acknowledged.length
      await until(() => acknowledged.length > before + transfers)
    }
    isOver = true
    await load
    const { owner } = await ownerOf('/orders')
    const all = await readBack(await opened(owner.streams, '/orders'))
    for (const { value, offset } of acknowledged) expect(all[offset]).toBe(value)
  })
})

describe('a node that leaves', () => {
  it('gives its streams to the others at once, with all that is acknowledged', async () => {
    for (const name of names) created(await nodes[0]!.streams.paths.create(newStream(name)))
    for (const name of names) await put(await opened((await ownerOf(name)).owner.streams, name), name)
    const [leaver, ...rest] = nodes as [ClusterNode, ...ClusterNode[]]
    await leaver.streams.handOver()
    nodes = rest
    for (const name of names) {
      const { owner } = await ownerOf(name)
      expect(await readBack(await opened(owner.streams, name))).toEqual([name])
      expect(await leaver.streams.paths.describe(name)).toMatchObject({ kind: 'not-owner' })
    }
    nodes = [leaver, ...rest]
  })

  it('is emptied while it runs once it has no slots, and filled again when it has', async () => {
    for (const name of names) created(await nodes[0]!.streams.paths.create(newStream(name)))
    for (const name of names) await put(await opened((await ownerOf(name)).owner.streams, name), name)
    await cluster.metadata.nodes.setSlots(2, 0)
    await until(async () => (await cluster.metadata.streams.ownedCounts()).every(({ nodeId }) => nodeId !== 2))
    for (const name of names) expect((await ownerOf(name)).owner.nodeId).not.toBe(2)
    await cluster.metadata.nodes.setSlots(2, 1)
    created(await nodes[0]!.streams.paths.create(newStream('/later')))
    expect((await ownerOf('/later')).owner.nodeId).toBe(2)
  })
})

describe('what one node does to a stream of another', () => {
  it('a deletion leaves nobody who would go on writing to it, and the name is free', async () => {
    const topic = { name: 'orders', partitions: 3, config: {}, validateOnly: false }
    await nodes[0]!.streams.createTopic(topic)
    const before = await Promise.all(
      nodes.map(async ({ streams }) => {
        const found = [0, 1, 2].map((partition) => streams.partition({ name: 'orders' }, partition))
        return (await Promise.all(found)).filter((one) => typeof one !== 'string')
      }),
    )
    expect(before.map(({ length }) => length)).toEqual([1, 1, 1])
    const told: string[][] = nodes.map(({ streams }) => {
      const ids: string[] = []
      streams.watchTopicDeletions(({ topicId }) => ids.push(topicId))
      return ids
    })
    expect(await nodes[2]!.streams.deleteTopic({ name: 'orders' })).toBe(true)
    const topicId = before[0]?.[0]?.topicId
    await until(() => told.every((ids) => ids.includes(topicId ?? '')))
    for (const [partition] of before) {
      expect(partition?.append(batchOf(['lost?']), { zstdAllowed: true }).accepted).toBeUndefined()
    }
    const { created: made } = await nodes[1]!.streams.createTopic(topic)
    for (const { streams, nodeId } of nodes) {
      for (const { partition, leaderNodeId } of made?.partitions ?? []) {
        const found = await streams.partition({ name: 'orders' }, partition)
        if (leaderNodeId === nodeId) expect(found).toMatchObject({ topicId: made?.topicId, highWatermark: 0 })
        else expect(found).toBe('not-owner')
      }
    }
  })

  it('a deletion that comes without asking ends what is open, too', async () => {
    created(await nodes[0]!.streams.paths.create(newStream('/orders')))
    const { owner } = await ownerOf('/orders')
    const stream = await opened(owner.streams, '/orders')
    const changes: string[] = []
    stream.watch((change) => changes.push(change))
    await cluster.metadata.streams.delete([stream.streamId], Date.now())
    await until(() => changes.includes('deleted'), 2000)
    for (const { streams } of nodes) expect(await streams.paths.open('/orders')).toBe('missing')
  })

  it('a change of settings acts on the node that has it', async () => {
    const { created: made } = await nodes[0]!.streams.createTopic({
      name: 'orders',
      partitions: 1,
      config: {},
      validateOnly: false,
    })
    const owner = nodes.find(({ nodeId }) => nodeId === made?.partitions[0]?.leaderNodeId)!
    const other = nodes.find((node) => node !== owner)!
    const partition = await owner.streams.partition({ name: 'orders' }, 0)
    if (typeof partition === 'string') throw new Error(partition)
    const change = () => ({ overrides: { 'max.message.bytes': '100' } })
    await other.streams.alterTopicConfig({ name: 'orders' }, change, false)
    await until(() => partition.config.maxMessageBytes === 100, 2000)
    const { refused } = partition.append(batchOf(['x'.repeat(200)]), { zstdAllowed: true })
    expect(refused?.errorCode).toBe(10)
  })

  it('a merge of objects goes unnoticed by readers, also when what it replaced is deleted', async () => {
    for (const name of names) created(await nodes[0]!.streams.paths.create(newStream(name)))
    for (let round = 0; round < 10; round++) {
      for (const name of names) await put(await opened((await ownerOf(name)).owner.streams, name), `${name} ${round}`)
      for (const { log } of nodes) await log.pack()
    }
    for (const { log } of nodes) await log.maintain()
    const leader = nodes.find(({ membership }) => membership.leads)!
    expect(leader.log.stats.compactions).toBeGreaterThan(0)
    await leader.log.maintain()
    expect(leader.log.stats.deletedObjects).toBeGreaterThan(0)
    for (const name of names) {
      const stream = await opened((await ownerOf(name)).owner.streams, name)
      expect(await readBack(stream)).toEqual(Array.from({ length: 10 }, (_, round) => `${name} ${round}`))
    }
  })
})
