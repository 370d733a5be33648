import { crc32 } from 'node:zlib'
import { records } from '@pico/record-batch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Partition } from '../src/index.ts'
import { accepted, append, openTopic, readBatches, readValues, refused, TestSystem } from './system.ts'

/** A message as Kafka wrote it before 0.11: offset, size, CRC-32, magic, attributes, timestamp (magic 1), key, value. */
function message(magic: 0 | 1, timestamp: number, value: string): Buffer {
  const body = Buffer.alloc((magic === 1 ? 18 : 10) + value.length)
  body.writeUInt8(magic, 0)
  let at = 2
  if (magic === 1) at = body.writeBigInt64BE(BigInt(timestamp), at)
  at = body.writeInt32BE(-1, at)
  at = body.writeInt32BE(value.length, at)
  body.write(value, at)
  const head = Buffer.alloc(16)
  head.writeInt32BE(4 + body.length, 8)
  head.writeUInt32BE(crc32(body), 12)
  return Buffer.concat([head, body])
}

describe('message sets of Produce 0 to 2', () => {
  let system: TestSystem
  let orders: Partition
  beforeEach(async () => {
    system = await TestSystem.open()
    orders = await openTopic((await system.start()).streams)
  })
  afterEach(() => system.close())

  it('become one v2 batch, with the timestamps that magic 1 has', async () => {
    const set = Buffer.concat([message(1, 1000, 'a'), message(1, 1001, 'b')])
    const { baseOffset, committed } = accepted(orders.appendMessageSet(set))
    expect(baseOffset).toBe(0)
    await committed
    const [stored] = await readBatches(orders)
    expect(stored?.isCrcValid()).toBe(true)
    expect(stored?.partitionLeaderEpoch).toBe(orders.leaderEpoch)
    expect(stored && [...records(stored)].map(({ timestamp }) => timestamp)).toEqual([1000, 1001])
    expect(await readValues(orders)).toEqual(['0=a', '1=b'])
  })

  it('have no timestamps in magic 0', async () => {
    await accepted(orders.appendMessageSet(message(0, 0, 'a'))).committed
    const [stored] = await readBatches(orders)
    expect(stored?.maxTimestamp).toBe(-1)
  })

  it('are refused where v2 batches are due, and when damaged', () => {
    const set = message(1, 1000, 'a')
    expect(refused(append(orders, set)).errorCode).toBe(87)
    set.writeUInt8(0xff, set.length - 1)
    expect(refused(orders.appendMessageSet(set)).errorCode).toBe(2)
  })
})
