import { AppendFailedError } from '@pico/log'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Partition } from '../src/index.ts'
import {
  accepted,
  append,
  batchOf,
  type Node,
  openPartition,
  openTopic,
  producerBatch,
  readValues,
  refused,
  TestSystem,
  walKinds,
  write,
} from './system.ts'

const outOfOrder = 45
const oldEpoch = 47
const int32Max = 2 ** 31 - 1
const dayMs = 86_400_000

describe.each(walKinds)('an idempotent producer, over a %s WAL', (kind) => {
  let system: TestSystem
  let node: Node
  let orders: Partition
  beforeEach(async () => {
    system = await TestSystem.open(kind)
    node = await system.start()
    orders = await openTopic(node.streams)
  })
  afterEach(() => system.close())

  const restart = async () => {
    node = await system.start()
    orders = await openPartition(node.streams)
  }

  it('is answered the original offset for what it repeats, and nothing is written', async () => {
    for (let sequence = 0; sequence < 6; sequence++) await write(orders, producerBatch(1, sequence))
    for (let sequence = 1; sequence < 6; sequence++) {
      expect(accepted(append(orders, producerBatch(1, sequence))).baseOffset).toBe(sequence)
    }
    expect(orders.highWatermark).toBe(6)
    expect(refused(append(orders, producerBatch(1, 0)))).toMatchObject({ errorCode: outOfOrder })
    expect(node.log.stats.unflushedBytes).toBe(0)
  })

  it('is answered the time of the original for what it repeats, as Kafka does', async () => {
    const batch = batchOf(['a', 'b'], { producerId: 1, producerEpoch: 0, baseSequence: 0, atMs: 1000 })
    expect(accepted(append(orders, batch)).logAppendTimeMs).toBe(-1)
    expect(accepted(append(orders, batch)).logAppendTimeMs).toBe(1001)
    const stamped = await openTopic(node.streams, 'stamped', { 'message.timestamp.type': 'LogAppendTime' })
    const first = accepted(append(stamped, batch)).logAppendTimeMs
    system.clock.pass(10)
    expect(accepted(append(stamped, batch)).logAppendTimeMs).toBe(first)
  })

  it('is refused a gap and an older epoch, with a message, and then goes on as if nothing had been', async () => {
    await write(orders, producerBatch(1, 0, { epoch: 3 }))
    expect(refused(append(orders, producerBatch(1, 2, { epoch: 3 })))).toEqual({
      errorCode: outOfOrder,
      message: 'producer 1, epoch 3, in orders-0: sequence 2 where 1 comes next',
      recordErrors: [],
    })
    expect(refused(append(orders, producerBatch(1, 1, { epoch: 2 })))).toEqual({
      errorCode: oldEpoch,
      message: 'producer 1, epoch 2, in orders-0: epoch 3 has been seen',
      recordErrors: [],
    })
    expect(refused(append(orders, producerBatch(1, 1, { epoch: 4 }))).errorCode).toBe(outOfOrder)
    expect(await write(orders, producerBatch(1, 1, { epoch: 3 }))).toBe(1)
  })

  it('wraps from sequence 2^31 - 1 to 0', async () => {
    await write(orders, producerBatch(1, int32Max - 1, { count: 4 }))
    expect(accepted(append(orders, producerBatch(1, int32Max - 1, { count: 4 }))).baseOffset).toBe(0)
    expect(await write(orders, producerBatch(1, 2))).toBe(4)
    await restart()
    expect(accepted(append(orders, producerBatch(1, int32Max - 1, { count: 4 }))).baseOffset).toBe(0)
    expect(await write(orders, producerBatch(1, 3))).toBe(5)
  })

  it('shares the fate of the batch in flight that it repeats', async () => {
    system.holdFlushes()
    const first = accepted(append(orders, producerBatch(1, 0)))
    const again = accepted(append(orders, producerBatch(1, 0)))
    const next = accepted(append(orders, producerBatch(1, 1)))
    expect([first.baseOffset, again.baseOffset, next.baseOffset]).toEqual([0, 0, 1])
    let settled = 0
    for (const { committed } of [first, again]) void committed.then(() => settled++)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(settled).toBe(0)
    system.store.heal()
    await Promise.all([first, again, next].map(({ committed }) => committed))
    expect(orders.highWatermark).toBe(2)
  })

  it('is as it was before a flush that failed, for the repetition too', async () => {
    await write(orders, producerBatch(1, 0))
    system.failFlushes()
    const doomed = [1, 2, 1].map((sequence) => accepted(append(orders, producerBatch(1, sequence))))
    for (const { committed } of doomed) await expect(committed).rejects.toThrow(AppendFailedError)
    system.store.heal()
    expect(accepted(append(orders, producerBatch(1, 0))).baseOffset).toBe(0)
    expect(refused(append(orders, producerBatch(1, 2))).errorCode).toBe(outOfOrder)
    expect(await write(orders, producerBatch(1, 1))).toBe(1)
    expect(await write(orders, producerBatch(1, 2))).toBe(2)
    expect(await readValues(orders)).toEqual(['0=v0.0', '1=v1.0', '2=v2.0'])
  })

  it('that was unknown before a flush that failed is unknown after it', async () => {
    system.failFlushes()
    await expect(accepted(append(orders, producerBatch(1, 0))).committed).rejects.toThrow(AppendFailedError)
    system.store.heal()
    expect(await write(orders, producerBatch(1, 9))).toBe(0)
  })

  it('is known again after a crash, a pack and another crash: what it retries is not written twice', async () => {
    await write(orders, producerBatch(1, 0))
    await write(orders, producerBatch(2, 5))
    await restart()
    expect(accepted(append(orders, producerBatch(1, 0))).baseOffset).toBe(0)
    expect(accepted(append(orders, producerBatch(2, 5))).baseOffset).toBe(1)
    await write(orders, producerBatch(1, 1))
    await node.log.pack()
    await write(orders, producerBatch(1, 2))
    await restart()
    expect(accepted(append(orders, producerBatch(1, 0))).baseOffset).toBe(0)
    expect(accepted(append(orders, producerBatch(1, 2))).baseOffset).toBe(3)
    expect(refused(append(orders, producerBatch(1, 4))).errorCode).toBe(outOfOrder)
    expect(await write(orders, producerBatch(1, 3))).toBe(4)
    expect(orders.producers()).toEqual([
      { producerId: 2, producerEpoch: 0, lastSequence: 5, lastTimestampMs: -1 },
      { producerId: 1, producerEpoch: 0, lastSequence: 3, lastTimestampMs: -1 },
    ])
  })

  // kafka-compat gotcha 6: idleness is no reason to refuse a producer.
  it('that expired may go on with any sequence, and until then is remembered for a day', async () => {
    await write(orders, producerBatch(1, 0))
    system.clock.pass(dayMs - 1)
    expect(refused(append(orders, producerBatch(1, 7))).errorCode).toBe(outOfOrder)
    expect(accepted(append(orders, producerBatch(1, 0))).baseOffset).toBe(0)
    system.clock.pass(1)
    expect(orders.producers()).toEqual([])
    expect(await write(orders, producerBatch(1, 7))).toBe(1)
    expect(refused(append(orders, producerBatch(1, 0))).errorCode).toBe(outOfOrder)
    await restart()
    expect(refused(append(orders, producerBatch(1, 0))).errorCode).toBe(outOfOrder)
    expect(accepted(append(orders, producerBatch(1, 7))).baseOffset).toBe(1)
  })

  it('that expired and was forgotten on disk too may go on with any sequence', async () => {
    await write(orders, producerBatch(1, 0))
    await node.log.pack()
    system.clock.pass(dayMs)
    await write(orders, producerBatch(2, 0))
    await node.log.pack()
    await restart()
    expect(orders.producers().map(({ producerId }) => producerId)).toEqual([2])
    expect(await write(orders, producerBatch(1, 7))).toBe(2)
  })

  it('is remembered although its records have been deleted', async () => {
    await write(orders, producerBatch(1, 0))
    expect(await orders.trim(-1)).toBe(1)
    expect(accepted(append(orders, producerBatch(1, 0))).baseOffset).toBe(0)
    expect(refused(append(orders, producerBatch(1, 2))).errorCode).toBe(outOfOrder)
  })

  // kafka-compat gotcha 7: nothing of a producer may come in before what it sent first.
  it('that comes while its partition is being opened comes in whole and in order', async () => {
    await write(orders, producerBatch(1, 0))
    const { streams } = await system.start()
    const opening = [1, 2, 3].map(async (sequence) => {
      const partition = await streams.partition({ name: 'orders' }, 0)
      if (typeof partition === 'string') throw new Error(partition)
      return accepted(append(partition, producerBatch(1, sequence))).baseOffset
    })
    expect(await Promise.all(opening)).toEqual([1, 2, 3])
  })

  // kafka-compat gotcha 8: the table is rebuilt before the first append of a new owner.
  it('is recognised by the new owner at the very first append', async () => {
    await write(orders, producerBatch(1, 0))
    const { streams } = await system.start()
    const partition = streams.partition({ name: 'orders' }, 0)
    expect(partition).toBeInstanceOf(Promise)
    const first = await partition
    if (typeof first === 'string') throw new Error(first)
    expect(accepted(append(first, producerBatch(1, 0))).baseOffset).toBe(0)
    expect(first.highWatermark).toBe(1)
  })
})
