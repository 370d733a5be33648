import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Streams } from '../src/index.ts'
import { created, newStream, opened, put, values, why } from './path-system.ts'
import { append, batchOf, openPartition, readValues, refused, TestSystem } from './system.ts'

const idle = (ttlSeconds: number) => ({ expiry: { kind: 'idle', ttlSeconds } }) as const
const nextTurns = () => new Promise((resolve) => setTimeout(resolve, 20))

describe('a stream with an end', () => {
  let system: TestSystem
  let streams: Streams
  beforeEach(async () => {
    system = await TestSystem.open()
    streams = (await system.start()).streams
  })
  afterEach(() => system.close())

  it('is absent everywhere from then on, before it is swept', async () => {
    const expiresAtMs = system.clock.nowMs() + 1000
    await streams.paths.create(newStream('/a', { expiry: { kind: 'at', expiresAtMs }, records: values('x') }))
    const stream = await opened(streams, '/a')
    const partition = await openPartition(streams, 'a')
    expect(stream.expiry).toEqual({ kind: 'at', expiresAtMs })
    // Not by `pass`, which would call the sweep.
    system.clock.jump(999)
    expect(await put(stream, 'y')).toBe(1)
    system.clock.jump(1)
    expect(why(stream.appendRecords(values('z')))).toEqual({ kind: 'not-serving' })
    expect(why(await stream.closeNow())).toEqual({ kind: 'not-serving' })
    expect(refused(append(partition, batchOf(['z'])))).toMatchObject({ errorCode: 3 })
    expect(await streams.paths.open('/a')).toBe('missing')
    expect(await streams.paths.describe('/a')).toBe('missing')
    expect(await streams.paths.list({ prefix: '', after: null, limit: 9 })).toEqual([])
    expect(await streams.paths.delete('/a')).toBe('missing')
    expect(await streams.partition({ name: 'a' }, 0)).toBe('unknown-topic')
    expect(await streams.describeTopics([{ name: 'a' }])).toEqual([undefined])
    for await (const topic of streams.listTopics()) expect(topic).toBeUndefined()
  })

  it('makes way for another one of its name at once, over HTTP and over Kafka', async () => {
    for (const name of ['/a', '/b']) await streams.paths.create(newStream(name, { ...idle(1), records: values('x') }))
    system.clock.jump(1000)
    expect(created(await streams.paths.create(newStream('/a')))).toMatchObject({ nextOffset: 0, topic: 'a' })
    const outcome = await streams.createTopic({ name: 'b', partitions: 1, config: {}, validateOnly: false })
    expect(outcome).toMatchObject({ created: { name: 'b' } })
    expect(await readValues(await openPartition(streams, 'b'))).toEqual([])
  })

  it('is swept, with those who wait told, as topics that are deleted are', async () => {
    await streams.paths.create(newStream('/a', idle(1)))
    await streams.paths.create(newStream('/b', idle(1)))
    await streams.paths.create(newStream('/stays'))
    const stream = await opened(streams, '/a')
    const told: (string | null)[] = []
    stream.watch((change) => told.push(change))
    streams.watchTopicDeletions(({ name }) => told.push(name))
    system.clock.pass(1000)
    await nextTurns()
    expect(told.toSorted()).toEqual(['a', 'b', 'deleted'])
    expect(await system.metadata.streams.byName(['/a', '/b', '/stays'])).toMatchObject([{ name: '/stays' }])
  })

  it('lives on while it is used: written, read, or touched', async () => {
    await streams.paths.create(newStream('/a', { ...idle(10), records: values('x') }))
    const stream = await opened(streams, '/a')
    for (const use of [() => put(stream, 'y'), () => stream.read(0, 100), () => stream.touch()]) {
      system.clock.pass(9000)
      await nextTurns()
      await use()
    }
    system.clock.pass(9999)
    await nextTurns()
    expect(await streams.paths.describe('/a')).toMatchObject({ expiry: { kind: 'idle', ttlSeconds: 10 } })
    expect(await streams.paths.open('/a')).toBe(stream)
    system.clock.pass(1)
    expect(await streams.paths.open('/a')).toBe('missing')
  })

  it('does not live on by being looked at', async () => {
    await streams.paths.create(newStream('/a', idle(10)))
    await opened(streams, '/a')
    system.clock.jump(9999)
    await streams.paths.describe('/a')
    await streams.paths.list({ prefix: '', after: null, limit: 9 })
    await opened(streams, '/a')
    system.clock.jump(1)
    expect(await streams.paths.describe('/a')).toBe('missing')
  })

  it('is told to SQL now and then only: a tenth of its time late at most, however often it is used', async () => {
    await streams.paths.create(newStream('/a', idle(100)))
    const stream = await opened(streams, '/a')
    const ends = async () => (await system.metadata.streams.byName(['/a']))[0]?.expiresAtMs ?? 0
    const before = await ends()
    for (let second = 0; second < 10; second++) {
      system.clock.pass(1000)
      stream.touch()
    }
    await nextTurns()
    expect(await ends()).toBe(before)
    system.clock.pass(1000)
    stream.touch()
    system.clock.pass(50)
    await nextTurns()
    expect(await ends()).toBe(before + 11_000)
  })

  it('keeps its end over a restart in good order, to the millisecond', async () => {
    await streams.paths.create(newStream('/a', idle(100)))
    ;(await opened(streams, '/a')).touch()
    system.clock.jump(5000)
    ;(await opened(streams, '/a')).touch()
    await streams.close()
    const endMs = system.clock.nowMs() + 100_000
    streams = (await system.start()).streams
    expect((await system.metadata.streams.byName(['/a']))[0]?.expiresAtMs).toBe(endMs)
  })

  it('takes its topic name away from nobody, and gives it back', async () => {
    await streams.paths.create(newStream('/a/b', idle(1)))
    const other = created(await streams.paths.create(newStream('/a.b')))
    expect(other.topic).toBeNull()
    expect(created(await streams.paths.create(newStream('/a_b'))).topic).toBeNull()
    system.clock.pass(1000)
    await nextTurns()
    expect(await streams.describeTopics([{ name: 'a.b' }])).toEqual([undefined])
    expect(created(await streams.paths.create(newStream('/a/b')))).toMatchObject({ topic: 'a.b' })
  })
})

it('sweeps what a crash left of a stream that was being made, though nobody asks for its name', async () => {
  const system = await TestSystem.open()
  const row = { topic: 'a', partition: 0, topicId: crypto.randomUUID(), contentType: 'text/plain', config: {} }
  await system.metadata.streams.create([{ ...row, name: '/a', life: 'creating' }], system.clock.nowMs())
  await system.start()
  system.clock.pass(59_000)
  await nextTurns()
  expect(await system.metadata.streams.byName(['/a'])).toHaveLength(1)
  system.clock.pass(10_000)
  await nextTurns()
  expect(await system.metadata.streams.byName(['/a'])).toEqual([])
  await system.close()
})
