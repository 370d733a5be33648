import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Judgement, Partition, Streams, TopicConfigChange } from '../src/index.ts'
import { created, newStream, opened, requests, values, why } from './path-system.ts'
import { good, HeldJudge, problem, registerVersion, schemaNames } from './schemas.ts'
import {
  accepted,
  batchOf,
  openPartition,
  openTopic,
  producerBatch,
  readValues,
  refused,
  TestSystem,
} from './system.ts'

const set =
  (settings: Record<string, string>): TopicConfigChange =>
  (overrides) => ({ overrides: { ...overrides, ...settings } })
const bound = { 'pico.schema': 'orders', 'pico.schema.validate': 'true' }

let system: TestSystem
let streams: Streams
beforeEach(async () => {
  system = await TestSystem.open()
  for (const name of ['orders', 'orders', 'orders', 'other']) await registerVersion(system.metadata, name)
  streams = (await system.start({}, {}, { schemas: schemaNames(system.metadata) })).streams
})
afterEach(() => system.close())

describe('a topic', () => {
  it('is bound to the newest version there is, and stays so', async () => {
    const partition = await openTopic(streams, 'orders', bound)
    expect(partition.config.overrides).toEqual({ 'pico.schema': 'orders:3', 'pico.schema.validate': 'true' })
    expect(partition.config.schema).toEqual({ name: 'orders', version: 3, encoding: 'plain', tombstonesPass: false })

    await registerVersion(system.metadata, 'orders')
    streams = (await system.start({}, {}, { schemas: schemaNames(system.metadata) })).streams
    const reopened = await openPartition(streams)
    expect(reopened.config.schema?.version).toBe(3)
    await streams.alterTopicConfig({ name: 'orders' }, set({ 'retention.ms': '5' }), false)
    expect(reopened.config.schema?.version).toBe(3)
    await streams.alterTopicConfig({ name: 'orders' }, set({ 'pico.schema': 'orders' }), false)
    expect(reopened.config.schema?.version).toBe(4)
  })

  it('is held to nothing unless it is to be', async () => {
    const partition = await openTopic(streams, 'orders', { 'pico.schema': 'orders:2' })
    expect(partition.config.overrides).toEqual({ 'pico.schema': 'orders:2' })
    expect([partition.config.schema, partition.isJudged]).toEqual([null, false])
    await streams.alterTopicConfig({ name: 'orders' }, set({ 'pico.schema.validate': 'true' }), false)
    expect([partition.config.schema?.version, partition.isJudged]).toEqual([2, true])
  })

  it('has its encoding, and lets tombstones through, as its settings say', async () => {
    const partition = await openTopic(streams, 'orders', { ...bound, 'pico.schema.encoding': 'confluent' })
    expect(partition.config.schema).toMatchObject({ encoding: 'confluent', tombstonesPass: false })
    await streams.alterTopicConfig({ name: 'orders' }, set({ 'cleanup.policy': 'compact,delete' }), false)
    expect(partition.config.schema).toMatchObject({ encoding: 'confluent', tombstonesPass: true })
  })

  it.each([
    ['unknown', 'unknown'],
    ['orders:4', 'orders:4'],
    ['Orders', 'Orders'],
    ['vanishing', 'vanishing:1'],
  ])('is not bound to %s, which is not there', async (schema, named) => {
    const message = `invalid value ${JSON.stringify(named)} for pico.schema: there is no such schema`
    const config = { ...bound, 'pico.schema': schema }
    expect(await streams.createTopic({ name: 'orders', partitions: 1, config, validateOnly: false })).toEqual({
      refused: { kind: 'invalid-config', message },
    })
    const partition = await openTopic(streams, 'orders', bound)
    // What vanishes after it was looked up is there for who only looks.
    for (const validateOnly of schema === named ? [true, false] : [false]) {
      const { refused } = await streams.alterTopicConfig(
        { name: 'orders' },
        set({ 'pico.schema': schema }),
        validateOnly,
      )
      expect(refused).toEqual({ kind: 'invalid-config', message })
    }
    expect(partition.config.schema?.version).toBe(3)
    const outcome = await streams.paths.create(newStream('/orders/eu', { config }))
    expect(outcome).toEqual({ kind: 'unknown-schema', message })
    expect(await streams.paths.describe('/orders/eu')).toBe('missing')
  })

  it('takes an empty name for none, as tools write back what they read', async () => {
    const partition = await openTopic(streams, 'orders', { 'pico.schema': '', 'pico.schema.validate': 'false' })
    expect(partition.config.overrides).toEqual({ 'pico.schema.validate': 'false' })
  })
})

describe('a batch', () => {
  let partition: Partition
  beforeEach(async () => {
    partition = await openTopic(streams, 'orders', bound)
  })
  const judgement = (...problems: Judgement['problems']): Judgement => {
    const { schema } = partition.config
    if (schema === null) throw new Error('not bound')
    return { schema, problems }
  }
  const produce = (bytes: Uint8Array, by: Judgement | null) =>
    partition.append(bytes, { zstdAllowed: true, judgement: by })

  it('that was not judged, or by another schema, goes nowhere: whoever brings it has a bug', async () => {
    const batch = batchOf(['a'])
    expect(() => partition.append(batch, { zstdAllowed: true })).toThrow('were not judged')
    expect(() => produce(batch, null)).toThrow('were not judged')
    expect(() => produce(batch, good({ ...judgement().schema, version: 2 }))).toThrow('were not judged')
    expect(() => partition.appendMessageSet(batch)).toThrow('were not judged')
    const stream = await opened(streams, '/orders')
    expect(() => stream.appendRecords(values('a'))).toThrow('were not judged')
    expect(partition.highWatermark).toBe(0)
    await accepted(produce(batch, judgement())).committed
    expect(await readValues(partition)).toEqual(['0=a'])
  })

  it('with a bad record is refused as a whole, each of them named once', () => {
    const problems = [problem(1), problem(1, '', 'no object'), problem(2, '/b/0', 'too long')]
    expect(refused(produce(batchOf(['a', 'b', 'c']), judgement(...problems)))).toEqual({
      errorCode: 87,
      message: 'not as schema orders:3 wants it: record 1, at /a: must be a number (and 2 more)',
      recordErrors: [
        { batchIndex: 1, message: '/a: must be a number; no object' },
        { batchIndex: 2, message: '/b/0: too long' },
      ],
    })
    expect(partition.highWatermark).toBe(0)
  })

  it('leaves the sequence of its producer where it was when it is refused', async () => {
    await accepted(produce(producerBatch(7, 0), judgement())).committed
    expect(refused(produce(producerBatch(7, 1), judgement(problem(0)))).errorCode).toBe(87)
    expect(refused(produce(producerBatch(7, 2), judgement())).errorCode).toBe(45)
    expect(accepted(produce(producerBatch(7, 1, { value: 'other' }), judgement())).baseOffset).toBe(1)
  })

  it('that was taken before is told so when it comes again, whatever the topic is bound to by now', async () => {
    await accepted(produce(producerBatch(7, 0), judgement())).committed
    await streams.alterTopicConfig({ name: 'orders' }, set({ 'pico.schema': 'other' }), false)
    expect(accepted(produce(producerBatch(7, 0), judgement(problem(0)))).baseOffset).toBe(0)
    expect(refused(produce(producerBatch(8, 0), judgement(problem(0)))).errorCode).toBe(87)
    expect(partition.highWatermark).toBe(1)
  })

  it('that is damaged is told that, whatever the judge made of it', () => {
    const damaged = Buffer.from(batchOf(['abc']))
    damaged[damaged.length - 2] = 0
    expect(refused(produce(damaged, judgement(problem(0)))).errorCode).toBe(2)
  })

  it('is judged and appended in turn, and what is not judged any more waits behind', async () => {
    const held = new HeldJudge()
    const take = (value: string) => {
      const bytes = batchOf([value])
      return partition.judged(bytes.length, held.judge, (by) => accepted(produce(bytes, by)))
    }
    const first = take('a')
    const second = take('b')
    await streams.alterTopicConfig({ name: 'orders' }, set({ 'pico.schema.validate': 'false' }), false)
    expect([partition.config.schema, partition.isJudged]).toEqual([null, true])
    const third = take('c')
    held.answer(1)
    held.answer(0)
    for (const each of await Promise.all([first, second, third])) await each.committed
    expect(await readValues(partition)).toEqual(['0=a', '1=b', '2=c'])
    expect(partition.isJudged).toBe(false)
  })

  it('that waits to be judged finds out when the topic is gone', async () => {
    const held = new HeldJudge()
    const bytes = batchOf(['a'])
    const waiting = partition.judged(bytes.length, held.judge, (by) => produce(bytes, by))
    await streams.deleteTopic({ name: 'orders' })
    held.answer(0)
    expect(refused(await waiting).errorCode).toBe(3)
  })
})

describe('a stream made over HTTP', () => {
  it('is bound as it is asked for, and its first records are judged before there is anything', async () => {
    const judge = new HeldJudge()
    const create = (more = {}) =>
      streams.paths.create(
        newStream('/orders/eu', { config: bound, records: values('a', 'b'), judge: judge.judge, ...more }),
      )
    const refusing = create()
    await expect.poll(() => judge.asked.length).toBe(1)
    expect(await streams.paths.describe('/orders/eu')).toBe('missing')
    judge.answer(0, problem(1))
    expect(await refusing).toMatchObject({ kind: 'breaks-schema', judgement: { problems: [problem(1)] } })
    expect(await streams.paths.describe('/orders/eu')).toBe('missing')

    const failing = create()
    await expect.poll(() => judge.asked.length).toBe(2)
    judge.fail(1, new Error('no schema'))
    await expect(failing).rejects.toThrow('no schema')
    expect(await streams.paths.describe('/orders/eu')).toBe('missing')

    const taking = create()
    await expect.poll(() => judge.asked.length).toBe(3)
    judge.answer(2)
    expect(created(await taking)).toMatchObject({ nextOffset: 2, config: { ...bound, 'pico.schema': 'orders:3' } })
    expect(await create()).toMatchObject({ kind: 'exists' })
    expect(judge.asked.length).toBe(3)
  })

  it('takes a bug for what it is where nobody judges its first records', async () => {
    const asked = newStream('/orders/eu', { config: bound, records: values('a') })
    await expect(streams.paths.create(asked)).rejects.toThrow('can have records judged')
    expect(created(await streams.paths.create(newStream('/orders/eu', { config: bound })))).toMatchObject({
      nextOffset: 0,
    })
  })

  it('refuses records that are not as the schema wants them, after what else may be wrong', async () => {
    created(await streams.paths.create(newStream('/orders/eu', { config: bound })))
    const stream = await opened(streams, '/orders/eu')
    const { schema } = stream.config
    if (schema === null) throw new Error('not bound')
    const bad = { schema, problems: [problem(0)] }
    const producer = requests('p', 0, 0)
    expect(why(stream.appendRecords(values('a'), { matchOffset: 9, judgement: bad })).kind).toBe('match-failed')
    expect(why(stream.appendRecords(values('a'), { judgement: bad }))).toEqual({
      kind: 'breaks-schema',
      judgement: bad,
    })
    expect(why(stream.appendRecords(values('a'), { producer, judgement: bad })).kind).toBe('breaks-schema')
    expect(stream.appendRecords(values('b'), { producer, judgement: good(schema) })).toMatchObject({ baseOffset: 0 })
    // Told apart by their numbers, not by what they hold.
    expect(stream.appendRecords(values('a'), { producer, judgement: bad })).toMatchObject({ kind: 'duplicate' })
  })

  it('is closed after the appends that came before, and without anything to judge', async () => {
    created(await streams.paths.create(newStream('/orders/eu', { config: bound })))
    const stream = await opened(streams, '/orders/eu')
    const held = new HeldJudge()
    const append = stream.judged(1, held.judge, (judgement) => stream.appendRecords(values('a'), { judgement }))
    const closing = stream.closeNow()
    held.answer(0)
    expect(await append).toMatchObject({ kind: 'appended', baseOffset: 0 })
    expect(await closing).toMatchObject({ kind: 'closed', nextOffset: 1 })
    expect(held.asked.length).toBe(1)
  })

  it('hands on what it has to its forks, which are bound to nothing', async () => {
    created(await streams.paths.create(newStream('/orders/eu', { config: bound })))
    const stream = await opened(streams, '/orders/eu')
    const { schema } = stream.config
    if (schema === null) throw new Error('not bound')
    const outcome = stream.appendRecords(values('a', 'b', 'c'), { judgement: good(schema) })
    if (outcome.kind === 'refused') throw new Error(outcome.why.kind)
    await outcome.committed
    const fork = { source: '/orders/eu', offset: 2, subOffset: 0 }
    created(await streams.paths.create(newStream('/fork', { fork, records: values('free') })))
    const forked = await opened(streams, '/fork')
    expect(forked.config.schema).toBeNull()
    expect(await readValues(forked)).toEqual(['0=a', '1=b', '2=free'])
    // One that is bound itself has what its source had, whatever that is.
    created(await streams.paths.create(newStream('/bound', { fork, config: bound })))
    expect(await readValues(await opened(streams, '/bound'))).toEqual(['0=a', '1=b'])
  })
})
