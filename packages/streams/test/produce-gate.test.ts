import { AppendFailedError } from '@pico/log'
import { records } from '@pico/record-batch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Partition } from '../src/index.ts'
import {
  accepted,
  append,
  batchOf,
  batchOfRecords,
  type Node,
  openPartition,
  openTopic,
  producerBatch,
  readBatches,
  readValues,
  refused,
  TestSystem,
  walKinds,
  write,
} from './system.ts'

describe.each(walKinds)('the gate, over a %s WAL', (kind) => {
  let system: TestSystem
  let node: Node
  let orders: Partition
  beforeEach(async () => {
    system = await TestSystem.open(kind)
    node = await system.start()
    orders = await openTopic(node.streams)
  })
  afterEach(() => system.close())

  it('gives out dense offsets in the order of the calls', async () => {
    const outcomes = [['a', 'b'], ['c'], ['d', 'e', 'f']].map((values) => accepted(append(orders, batchOf(values))))
    expect(outcomes.map(({ baseOffset }) => baseOffset)).toEqual([0, 2, 3])
    await Promise.all(outcomes.map(({ committed }) => committed))
    expect(await readValues(orders)).toEqual(['0=a', '1=b', '2=c', '3=d', '4=e', '5=f'])
  })

  it('stores the bytes of the producer but for base offset and leader epoch, and the CRC holds', async () => {
    await write(orders, batchOf(['first']))
    const sent = batchOf(['a', 'b'], { codec: 'gzip', atMs: system.clock.nowMs() })
    const asSent = Buffer.from(sent)
    const baseOffset = await write(orders, sent)
    expect(Buffer.from(sent)).toEqual(asSent)
    const [stored] = await readBatches(orders, baseOffset)
    expect(stored).toMatchObject({ baseOffset: 1, partitionLeaderEpoch: orders.leaderEpoch })
    expect(stored?.isCrcValid()).toBe(true)
    const bytes = Buffer.from(stored?.batchBytes() ?? [])
    expect(bytes.subarray(16)).toEqual(asSent.subarray(16))
  })

  it('makes a record readable exactly when it is durable', async () => {
    system.holdFlushes()
    const { committed } = accepted(append(orders, batchOf(['a'])))
    let isCommitted = false
    const seen: string[] = []
    orders.watch((change) => seen.push(`${change} at ${orders.highWatermark}, acknowledged: ${isCommitted}`))
    void committed.then(() => {
      isCommitted = true
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(orders.highWatermark).toBe(0)
    expect(orders.read(0, 1000)).toBeNull()
    expect(isCommitted).toBe(false)
    system.store.heal()
    await committed
    expect(seen).toEqual(['advanced at 1, acknowledged: false'])
    expect(await readValues(orders)).toEqual(['0=a'])
  })

  it('leaves no trace of what it refuses', async () => {
    const good = batchOf(['a'])
    const badCrc = Buffer.from(good)
    badCrc.writeUInt8(badCrc.readUInt8(badCrc.length - 1) ^ 1, badCrc.length - 1)
    expect(refused(append(orders, badCrc)).errorCode).toBe(2)
    expect(refused(append(orders, new Uint8Array())).errorCode).toBe(87)
    expect(
      refused(
        append(orders, batchOf(['a'], { isTransactional: true, producerId: 1, producerEpoch: 0, baseSequence: 0 })),
      ).errorCode,
    ).toBe(87)
    expect(refused(append(orders, batchOf(['a'], { isControl: true }))).errorCode).toBe(87)
    expect(refused(append(orders, batchOf(['x'.repeat(1_100_000)]))).errorCode).toBe(10)
    expect(node.log.stats.unflushedBytes).toBe(0)
    expect(await write(orders, good)).toBe(0)
    expect(await readValues(orders)).toEqual(['0=a'])
  })

  it('refuses zstd where the request is too old for it', () => {
    const zstd = batchOf(['a'], { codec: 'zstd' })
    expect(refused(orders.append(zstd, { zstdAllowed: false })).errorCode).toBe(76)
    accepted(orders.append(zstd, { zstdAllowed: true }))
  })

  it('gives the offsets of a failed flush out again, and tells everybody in it', async () => {
    await write(orders, batchOf(['a']))
    system.failFlushes()
    const doomed = [['b'], ['c', 'd']].map((values) => accepted(append(orders, batchOf(values))))
    expect(doomed.map(({ baseOffset }) => baseOffset)).toEqual([1, 2])
    const results = await Promise.allSettled(doomed.map(({ committed }) => committed))
    for (const result of results)
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(AppendFailedError) })
    expect(orders.highWatermark).toBe(1)
    system.store.heal()
    expect(await write(orders, batchOf(['e']))).toBe(1)
    expect(await readValues(orders)).toEqual(['0=a', '1=e'])
  })

  it('survives a failed flush that nobody waits for', async () => {
    system.failFlushes()
    append(orders, batchOf(['a']))
    append(orders, producerBatch(1, 0))
    await node.log.flush()
    await new Promise((resolve) => setTimeout(resolve, 5))
    system.store.heal()
    expect(await write(orders, batchOf(['b']))).toBe(0)
  })
})

describe('settings that act on a produced batch', () => {
  let system: TestSystem
  let node: Node
  const now = () => system.clock.nowMs()
  const topicWith = (config: Record<string, string>) => openTopic(node.streams, 'orders', config)
  beforeEach(async () => {
    system = await TestSystem.open()
    node = await system.start()
  })
  afterEach(() => system.close())

  it('max.message.bytes bounds a batch, header included', async () => {
    const orders = await topicWith({ 'max.message.bytes': '100' })
    expect(append(orders, batchOf(['x'.repeat(100 - 61 - 9)])).accepted).toBeDefined()
    expect(refused(append(orders, batchOf(['x'.repeat(100)])))).toMatchObject({ errorCode: 10 })
  })

  it('segment.bytes bounds a batch too, with the code that Kafka has for it', async () => {
    const orders = await topicWith({ 'max.message.bytes': '3000000', 'segment.bytes': '1048576' })
    expect(refused(append(orders, batchOf(['x'.repeat(1_048_576)]))).errorCode).toBe(18)
  })

  it('message.timestamp.type LogAppendTime stamps the batch and says when', async () => {
    const orders = await topicWith({ 'message.timestamp.type': 'LogAppendTime' })
    system.clock.pass(5)
    const at = now()
    const outcome = accepted(append(orders, batchOf(['a', 'b'], { atMs: 1000 })))
    expect(outcome.logAppendTimeMs).toBe(at)
    await outcome.committed
    const [stored] = await readBatches(orders)
    expect(stored).toMatchObject({ timestampType: 'LogAppendTime', maxTimestamp: at })
    expect(stored?.isCrcValid()).toBe(true)
    expect(stored && [...records(stored)].map(({ timestamp }) => timestamp)).toEqual([at, at])
    expect(await orders.offsetForTimestamp(at)).toMatchObject({ offset: 0, timestampMs: at })
  })

  it('CreateTime keeps the times of the producer and says so', async () => {
    const orders = await topicWith({})
    const outcome = accepted(append(orders, batchOf(['a', 'b'], { atMs: 1000 })))
    expect(outcome.logAppendTimeMs).toBe(-1)
    await outcome.committed
    const [stored] = await readBatches(orders)
    expect(stored && [...records(stored)].map(({ timestamp }) => timestamp)).toEqual([1000, 1001])
  })

  it('message.timestamp.before and after.max.ms bound the times of the producer, record by record', async () => {
    const orders = await topicWith({
      'message.timestamp.before.max.ms': '1000',
      'message.timestamp.after.max.ms': '500',
    })
    expect(append(orders, batchOf(['a'], { atMs: now() - 1000 })).accepted).toBeDefined()
    expect(append(orders, batchOf(['a'], { atMs: now() + 500 })).accepted).toBeDefined()
    expect(refused(append(orders, batchOf(['a', 'b'], { atMs: now() - 1001 })))).toMatchObject({
      errorCode: 32,
      recordErrors: [{ batchIndex: 0 }],
    })
    expect(refused(append(orders, batchOf(['a', 'b'], { atMs: now() + 500 })))).toMatchObject({
      errorCode: 32,
      recordErrors: [{ batchIndex: 1 }],
    })
  })

  it.each([
    ['gzip', 'gzip'],
    ['snappy', 'snappy'],
    ['lz4', 'lz4'],
    ['zstd', 'zstd'],
    ['uncompressed', 'none'],
  ])('compression.type %s stores what came otherwise as %s', async (type, codec) => {
    const orders = await topicWith({ 'compression.type': type })
    const sent = ['none', 'gzip', 'zstd'] as const
    for (const [index, source] of sent.entries()) {
      const producer = { producerId: 7, producerEpoch: 0, baseSequence: 2 * index }
      await write(orders, batchOf(['a', 'b'], { codec: source, ...producer }))
    }
    const stored = await readBatches(orders)
    expect(stored.map((batch) => batch.codec)).toEqual([codec, codec, codec])
    expect(stored.every((batch) => batch.isCrcValid())).toBe(true)
    expect(stored.map(({ baseSequence, producerId }) => [producerId, baseSequence])).toEqual([
      [7, 0],
      [7, 2],
      [7, 4],
    ])
    expect(await readValues(orders)).toEqual(['0=a', '1=b', '2=a', '3=b', '4=a', '5=b'])
  })

  it('cleanup.policy compact needs keys, and names the records without', async () => {
    const orders = await topicWith({ 'cleanup.policy': 'compact' })
    const batch = batchOfRecords([{ key: 'k', value: 'a' }, { value: 'b' }, { value: 'c' }])
    expect(refused(append(orders, batch))).toMatchObject({
      errorCode: 87,
      recordErrors: [{ batchIndex: 1 }, { batchIndex: 2 }],
    })
    expect(append(orders, batchOfRecords([{ key: 'k', value: null }])).accepted).toBeDefined()
  })

  it('are in force after a restart', async () => {
    await topicWith({ 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': '99' })
    const again = await openPartition((await system.start()).streams)
    expect(again.config).toMatchObject({ messageTimestampType: 'LogAppendTime', maxMessageBytes: 99 })
    expect(refused(append(again, batchOf(['x'.repeat(100)]))).errorCode).toBe(10)
  })
})
