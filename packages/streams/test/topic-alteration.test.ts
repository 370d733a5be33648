import { type Metadata, MetadataUnavailableError } from '@pico/metadata'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AppendAccepted, Partition, Streams, TopicConfigChange } from '../src/index.ts'
import { accepted, append, batchOf, openPartition, openTopic, refused, TestSystem } from './system.ts'

const set =
  (settings: Record<string, string>): TopicConfigChange =>
  (overrides) => ({ overrides: { ...overrides, ...settings } })

async function stored(partition: Partition, bytes: Uint8Array): Promise<AppendAccepted> {
  const appended = accepted(append(partition, bytes))
  await appended.committed
  return appended
}

let system: TestSystem
let streams: Streams
beforeEach(async () => {
  system = await TestSystem.open()
  streams = (await system.start({ partitionsMax: 4 })).streams
})
afterEach(() => system.close())

describe('altered settings', () => {
  it('are in force on the open partition at once, and after a restart', async () => {
    const partition = await openTopic(streams, 'orders', { 'retention.ms': '5000' })
    const large = batchOf(['x'.repeat(1000)])
    await stored(partition, large)
    const outcome = await streams.alterTopicConfig({ name: 'orders' }, set({ 'max.message.bytes': '+500' }), false)
    expect(outcome.altered?.config.overrides).toEqual({ 'retention.ms': '5000', 'max.message.bytes': '500' })
    expect(partition.config.maxMessageBytes).toBe(500)
    expect(refused(append(partition, large)).errorCode).toBe(10)

    streams = (await system.start()).streams
    const reopened = await openPartition(streams)
    expect(reopened.config.overrides).toEqual({ 'retention.ms': '5000', 'max.message.bytes': '500' })
    expect(refused(append(reopened, large)).errorCode).toBe(10)
  })

  it('stamp records with the time of their append from then on', async () => {
    const partition = await openTopic(streams)
    expect((await stored(partition, batchOf(['a']))).logAppendTimeMs).toBe(-1)
    await streams.alterTopicConfig({ name: 'orders' }, set({ 'message.timestamp.type': 'LogAppendTime' }), false)
    expect((await stored(partition, batchOf(['b']))).logAppendTimeMs).toBe(system.clock.nowMs())
  })

  it('bound what a batch may unpack to', async () => {
    const partition = await openTopic(streams)
    const large = batchOf(['x'.repeat(100_000)], { codec: 'gzip' })
    await stored(partition, large)
    await streams.alterTopicConfig({ name: 'orders' }, set({ 'max.decompressed.message.bytes': '50000' }), false)
    expect(refused(append(partition, large)).message).toContain('50000')
    await stored(partition, batchOf(['x'.repeat(10_000)], { codec: 'gzip' }))
  })

  it('reach every partition, open or opened later', async () => {
    await streams.createTopic({ name: 'orders', partitions: 3, config: {}, validateOnly: false })
    const first = await openPartition(streams, 'orders', 0)
    const opening = streams.partition({ name: 'orders' }, 1)
    await streams.alterTopicConfig({ name: 'orders' }, set({ 'max.message.bytes': '100' }), false)
    const opened = [first, await opening, await openPartition(streams, 'orders', 2)]
    expect(opened.map((one) => (typeof one === 'string' ? one : one.config.maxMessageBytes))).toEqual([100, 100, 100])
  })

  it('are refused, naming the key, and then nothing has changed', async () => {
    const partition = await openTopic(streams, 'orders', { 'retention.ms': '1' })
    const bad = async (settings: Record<string, string>) =>
      (await streams.alterTopicConfig({ name: 'orders' }, set(settings), false)).refused
    for (const [name, value] of [
      ['retention.ms', 'soon'],
      ['no.such.key', '1'],
      ['pico.schema', 's'],
      ['pico.schema.validate', 'true'],
    ] as const) {
      expect(await bad({ [name]: value })).toEqual({ kind: 'invalid-config', message: expect.stringContaining(name) })
    }
    const lags = { 'min.compaction.lag.ms': '10', 'max.compaction.lag.ms': '5' }
    expect(await bad(lags)).toMatchObject({ kind: 'invalid-config' })
    expect(partition.config.overrides).toEqual({ 'retention.ms': '1' })
    expect(await streams.alterTopicConfig({ name: 'other' }, set({}), false)).toEqual({
      refused: { kind: 'unknown-topic' },
    })
  })

  it('are only checked when nothing is to change', async () => {
    const partition = await openTopic(streams)
    const outcome = await streams.alterTopicConfig({ name: 'orders' }, set({ 'retention.ms': '7' }), true)
    expect(outcome.altered?.config.retentionMs).toBe(7)
    expect(partition.config.retentionMs).toBe(-1)
    expect((await streams.describeTopics([{ name: 'orders' }]))[0]?.config.retentionMs).toBe(-1)
  })

  it('that are changed at the same time are all kept', async () => {
    await openTopic(streams)
    const names = ['retention.ms', 'retention.bytes', 'max.message.bytes', 'segment.ms', 'flush.ms']
    await Promise.all(names.map((name) => streams.alterTopicConfig({ name: 'orders' }, set({ [name]: '77' }), false)))
    const [topic] = await streams.describeTopics([{ name: 'orders' }])
    expect(Object.keys(topic?.config.overrides ?? {}).sort()).toEqual(names.sort())
  })

  it('count when the database says so, also when its answer was lost', async () => {
    const losing = withLostAnswer(system.metadata)
    streams = (await system.start({}, {}, { metadata: losing })).streams
    const partition = await openTopic(streams)
    const outcome = await streams.alterTopicConfig({ name: 'orders' }, set({ 'retention.ms': '9' }), false)
    expect(outcome.altered?.config.retentionMs).toBe(9)
    expect(partition.config.retentionMs).toBe(9)
  })
})

/** Carries out a change of settings, and then says that it does not know. */
function withLostAnswer(metadata: Metadata): Metadata {
  const { streams } = metadata
  const setTopicConfig: typeof streams.setTopicConfig = async (...change) => {
    await streams.setTopicConfig(...change)
    throw new MetadataUnavailableError('configuring a topic', { cause: new Error('the answer was lost') })
  }
  return { ...metadata, streams: { ...streams, setTopicConfig }, close: () => metadata.close() }
}

describe('more partitions', () => {
  it('are streams of their own, with the settings of the topic', async () => {
    const first = await openTopic(streams, 'orders', { 'max.message.bytes': '900' })
    await stored(first, batchOf(['a']))
    const outcome = await streams.createPartitions({ name: 'orders' }, 3, false)
    expect(outcome.altered?.partitions.map(({ partition }) => partition)).toEqual([0, 1, 2])
    const third = await openPartition(streams, 'orders', 2)
    expect([third.highWatermark, third.topicId, third.config.maxMessageBytes]).toEqual([0, first.topicId, 900])
    expect((await stored(third, batchOf(['b']))).baseOffset).toBe(0)
    expect((await stored(first, batchOf(['c']))).baseOffset).toBe(1)
    expect((await system.metadata.streams.byTopic(['orders'])).map(({ name }) => name)).toEqual([
      '/orders',
      '/_streams/orders/1',
      '/_streams/orders/2',
    ])
  })

  it.each([
    [1, 'Topic already has 1 partition(s).'],
    [0, 'would not be an increase'],
    [-5, 'would not be an increase'],
    [5, 'at most 4 are allowed'],
  ])('%i of them are refused', async (count, message) => {
    await openTopic(streams)
    expect(await streams.createPartitions({ name: 'orders' }, count, false)).toEqual({
      refused: { kind: 'invalid-partitions', message: expect.stringContaining(message) },
    })
  })

  it('are not made when they are only to be checked, nor for a topic that is not there', async () => {
    await openTopic(streams)
    expect((await streams.createPartitions({ name: 'orders' }, 2, true)).altered?.name).toBe('orders')
    expect(await streams.partition({ name: 'orders' }, 1)).toBe('unknown-partition')
    expect(await streams.createPartitions({ name: 'x' }, 2, false)).toEqual({ refused: { kind: 'unknown-topic' } })
  })

  it('are there for whoever asks next, although the topic is at hand', async () => {
    await openTopic(streams)
    expect(await streams.partition({ name: 'orders' }, 1)).toBe('unknown-partition')
    await streams.createPartitions({ name: 'orders' }, 2, false)
    expect(await streams.partition({ name: 'orders' }, 1)).toMatchObject({ partition: 1 })
  })
})
