import { records } from '@pico/record-batch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Streams } from '../src/index.ts'
import { appended, created, newStream, opened, put, values, why } from './path-system.ts'
import { append, batchOf, openTopic, readBatches, readValues, TestSystem } from './system.ts'

const MiB = 1024 * 1024

describe('records over HTTP', () => {
  let system: TestSystem
  let streams: Streams
  beforeEach(async () => {
    system = await TestSystem.open()
    streams = (await system.start()).streams
  })
  afterEach(() => system.close())

  const make = async (config: Record<string, string> = {}, name = '/a') => {
    created(await streams.paths.create(newStream(name, { config })))
    return opened(streams, name)
  }

  it('of one request are one batch, with keys, headers and null values as they came', async () => {
    const stream = await make()
    const header = { key: 'h', value: Buffer.of(0, 255) }
    const outcome = appended(
      stream.appendRecords([
        { key: 'k', value: 'v', headers: [header, header, { key: '', value: null }] },
        { key: Buffer.of(1), value: null },
        { value: Buffer.alloc(0) },
      ]),
    )
    expect(outcome).toMatchObject({ baseOffset: 0, nextOffset: 3, timestampMs: system.clock.nowMs() })
    await outcome.committed
    const [batch, ...others] = await readBatches(stream)
    expect(others).toEqual([])
    expect(batch).toMatchObject({ codec: 'none', count: 3, partitionLeaderEpoch: 1, producerId: -1 })
    expect(batch?.isCrcValid()).toBe(true)
    const [first, second, third] = batch === undefined ? [] : [...records(batch)]
    expect(first?.headers.map(({ key, value }) => [Buffer.from(key).toString(), value && [...value]])).toEqual([
      ['h', [0, 255]],
      ['h', [0, 255]],
      ['', null],
    ])
    expect([second?.value, third?.value?.length, third?.key]).toEqual([null, 0, null])
  })

  it('take the time of Kafka clients into account, which may lie ahead', async () => {
    const stream = await make()
    const atMs = system.clock.nowMs() + 60_000
    await append(stream, batchOf(['x'], { atMs })).accepted?.committed
    expect(appended(stream.appendRecords(values('y'))).timestampMs).toBe(atMs)
    await append(stream, batchOf(['z'], { atMs: 5 })).accepted?.committed
    const { streams: restarted } = await system.start()
    expect(appended((await opened(restarted, '/a')).appendRecords(values('y'))).timestampMs).toBe(atMs)
  })

  it('are stamped where the topic says so', async () => {
    const stream = await make({ 'message.timestamp.type': 'LogAppendTime' })
    const nowMs = system.clock.nowMs()
    const outcome = appended(stream.appendRecords([{ value: 'x', timestamp: 5 }]))
    expect(outcome.timestampMs).toBe(nowMs)
    await outcome.committed
    const [batch] = await readBatches(stream)
    expect(batch).toMatchObject({ timestampType: 'LogAppendTime', maxTimestamp: nowMs })
    expect(batch && [...records(batch)].map(({ timestamp }) => timestamp)).toEqual([nowMs])
    expect(await stream.offsetForTimestamp(nowMs)).toMatchObject({ offset: 0 })
  })

  it('are compressed where the topic says so', async () => {
    const stream = await make({ 'compression.type': 'zstd' })
    await put(stream, 'x'.repeat(1000))
    const [batch] = await readBatches(stream)
    expect(batch?.codec).toBe('zstd')
    expect(batch?.byteLength).toBeLessThan(200)
    expect(await readValues(stream)).toEqual([`0=${'x'.repeat(1000)}`])
  })

  it('need keys where the topic is compacted', async () => {
    const stream = await make({ 'cleanup.policy': 'compact' })
    expect(why(stream.appendRecords([{ key: 'k', value: 'v' }, { value: 'v' }]))).toEqual({
      kind: 'invalid-record',
      index: 1,
      message: 'the topic is compacted: a record needs a key',
    })
    appended(stream.appendRecords([{ key: '', value: 'v' }]))
    expect(stream.appendRecords([{ key: 'k', value: null }])).toMatchObject({ baseOffset: 1 })
  })

  it.each([-1, 1.5, Number.NaN, 2 ** 53])('cannot have the timestamp %d', async (timestamp) => {
    const stream = await make()
    expect(why(stream.appendRecords([{ value: 'a' }, { value: 'b', timestamp }]))).toMatchObject({
      kind: 'invalid-record',
      index: 1,
    })
    expect(await put(stream, 'x')).toBe(0)
  })

  it('keep to the times that the topic allows', async () => {
    const stream = await make({ 'message.timestamp.before.max.ms': '1000', 'message.timestamp.after.max.ms': '1000' })
    const nowMs = system.clock.nowMs()
    const at = (timestamp: number) => stream.appendRecords([{ value: 'x', timestamp }]).kind
    expect([-1001, -1000, 1000, 1001].map((ms) => at(nowMs + ms))).toEqual([
      'refused',
      'appended',
      'appended',
      'refused',
    ])
  })

  it('may be 16 MiB together, unless the topic itself says something else', async () => {
    const large = [{ value: Buffer.alloc(16 * MiB - 200) }]
    const tooLarge = [{ value: Buffer.alloc(8 * MiB) }, { value: Buffer.alloc(8 * MiB) }]
    const stream = await make()
    await appended(stream.appendRecords(large)).committed
    expect(why(stream.appendRecords(tooLarge))).toMatchObject({ kind: 'too-large' })
    const small = await make({ 'max.message.bytes': '1000' }, '/small')
    expect(why(small.appendRecords(values('x'.repeat(1000))))).toEqual({
      kind: 'too-large',
      message: 'a batch of 1070 bytes is larger than the 1000 that the stream allows',
    })
    await put(await make({ 'max.message.bytes': '20000000' }, '/large'), 'x'.repeat(17 * MiB))
    await openTopic(streams, 'kafka')
    await put(await opened(streams, '/kafka'), 'x'.repeat(2 * MiB))
  })

  it('leave no trace when they are refused', async () => {
    const stream = await make({ 'max.message.bytes': '1000' })
    const producer = { id: 'p', epoch: 0, sequence: 0, counts: 'records' } as const
    const terms = { producer, streamSeq: 'x', close: true }
    expect(why(stream.appendRecords(values('x'.repeat(1000)), terms)).kind).toBe('too-large')
    expect(why(stream.appendRecords(values('x'), { ...terms, matchOffset: 1 }))).toEqual({
      kind: 'match-failed',
      nextOffset: 0,
    })
    expect(why(stream.appendRecords([{ value: 'x', timestamp: -5 }], terms)).kind).toBe('invalid-record')
    expect(stream.closed).toBe(false)
    expect(appended(stream.appendRecords(values('x'), terms)).baseOffset).toBe(0)
  })
})
