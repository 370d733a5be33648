import { zeroUuid } from '@pico/binary'
import { alterConfigs, createTopics, describeConfigs, incrementalAlterConfigs, produce } from '@pico/kafka-codec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { batchOf, createRequest, KafkaSystem, produceRequest, readValues } from './kafka-system.ts'
import { oldMessageSet } from './old-message-set.ts'

const bound = { 'pico.schema': 'orders', 'pico.schema.validate': 'true' }
const topic = 2

let system: KafkaSystem
beforeEach(async () => {
  system = await KafkaSystem.open()
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

async function stored(name = 'bound') {
  return readValues((await system.fetch(name, 0)).records)
}

describe('a schema', () => {
  it('is bound by CreateTopics, AlterConfigs and IncrementalAlterConfigs, and told by DescribeConfigs', async () => {
    const described = async () => {
      const { results } = await system.call(describeConfigs, 4, {
        resources: [{ resourceType: topic, resourceName: 'bound', configurationKeys: null }],
        includeSynonyms: false,
        includeDocumentation: true,
      })
      const ours = results[0]!.configs.filter(({ name }) => name.startsWith('pico.'))
      expect(ours.every(({ documentation }) => (documentation ?? '').length > 50)).toBe(true)
      return ours.map(({ name, value, configSource, configType }) => [name, value, configSource, configType])
    }
    const { topics } = await system.call(createTopics, 7, createRequest({ name: 'bound', config: bound }))
    expect(topics[0]?.configs?.find(({ name }) => name === 'pico.schema')?.value).toBe('orders:1')
    expect(await described()).toEqual([
      ['pico.schema', 'orders:1', 1, 2],
      ['pico.schema.encoding', 'plain', 5, 2],
      ['pico.schema.validate', 'true', 1, 1],
    ])
    await system.call(alterConfigs, 2, {
      resources: [
        {
          resourceType: topic,
          resourceName: 'bound',
          configs: [
            { name: 'pico.schema', value: 'other:1' },
            { name: 'pico.schema.encoding', value: 'confluent' },
          ],
        },
      ],
      validateOnly: false,
    })
    expect(await described()).toEqual([
      ['pico.schema', 'other:1', 1, 2],
      ['pico.schema.encoding', 'confluent', 1, 2],
      ['pico.schema.validate', 'false', 5, 1],
    ])
    await system.call(incrementalAlterConfigs, 1, {
      resources: [
        {
          resourceType: topic,
          resourceName: 'bound',
          configs: [
            { name: 'pico.schema', configOperation: 0, value: 'third' },
            { name: 'pico.schema.encoding', configOperation: 1, value: null },
          ],
        },
      ],
      validateOnly: false,
    })
    expect((await described())[0]).toEqual(['pico.schema', 'third:1', 1, 2])
  })

  it('that is not there is INVALID_CONFIG, which names it', async () => {
    const request = createRequest({ name: 'bound', config: { ...bound, 'pico.schema': 'missing' } })
    const { topics } = await system.call(createTopics, 7, request)
    expect(topics[0]).toMatchObject({ errorCode: 40, errorMessage: expect.stringContaining('"missing"') })
  })
})

describe('Produce to a topic that holds records to a schema', () => {
  beforeEach(async () => {
    await system.createTopic('bound', bound)
    await system.createTopic('free')
  })

  it('takes what is as the schema wants it, byte for byte', async () => {
    const batch = batchOf(['orders a', 'orders b'], { codec: 'zstd' })
    expect(await system.produce('bound', batch)).toMatchObject({ errorCode: 0, baseOffset: 0n })
    expect(await stored()).toEqual([
      [0, 'orders a'],
      [1, 'orders b'],
    ])
  })

  it.each([8, 9, 12])('refuses the whole batch, in version %i with every record that is to blame', async (version) => {
    const batch = batchOf(['orders a', 'x', 'orders c', 'y'])
    expect(await system.produce('bound', batch, { version })).toEqual(
      expect.objectContaining({
        errorCode: 87,
        baseOffset: -1n,
        logStartOffset: 0n,
        recordErrors: [
          { batchIndex: 1, batchIndexErrorMessage: '/0: does not begin with orders' },
          { batchIndex: 3, batchIndexErrorMessage: '/0: does not begin with orders' },
        ],
        errorMessage: 'not as schema orders:1 wants it: record 1, at /0: does not begin with orders (and 1 more)',
      }),
    )
    expect(await system.produce('bound', batchOf(['orders d']))).toMatchObject({ baseOffset: 0n })
  })

  it.each([3, 7])('has the error code alone for version %i', async (version) => {
    expect(await system.produce('bound', batchOf(['x']), { version })).toMatchObject({
      errorCode: 87,
      recordErrors: [],
    })
  })

  it.each([0, 1, 2])('judges the message sets of version %i', async (version) => {
    const set = (value: string) => oldMessageSet(version === 0 ? 0 : 1, [value])
    expect(await system.produce('bound', set('x'), { version })).toMatchObject({ errorCode: 87 })
    expect(await system.produce('bound', set('orders a'), { version })).toMatchObject({ errorCode: 0, baseOffset: 0n })
  })

  it('refuses its batch, and not the others of the request', async () => {
    const partition = (name: string, value: string) => {
      return { name, topicId: zeroUuid, partitionData: [{ index: 0, records: batchOf([value]) }] }
    }
    const request = {
      transactionalId: null,
      acks: -1,
      timeoutMs: 1000,
      topicData: [partition('bound', 'x'), partition('free', 'x'), partition('bound', 'orders a')],
    }
    const { responses } = await system.call(produce, 9, request)
    expect(responses.map(({ partitionResponses: [answer] }) => [answer?.errorCode, answer?.baseOffset])).toEqual([
      [87, -1n],
      [0, 0n],
      [0, 0n],
    ])
  })

  it('closes the connection with acks=0, as for any failure', async () => {
    const unanswered = system.produce('bound', batchOf(['x']), { acks: 0 })
    await expect(unanswered).rejects.toThrow(/acks=0 failed for bound-0: error 87 \(not as schema orders:1/)
  })

  it('is NOT_ENOUGH_REPLICAS, which is tried again, while nobody can say what is good', async () => {
    system.schemas.isAway = true
    expect(await system.produce('bound', batchOf(['orders a']))).toMatchObject({ errorCode: 19, recordErrors: [] })
    expect(await system.produce('free', batchOf(['a']))).toMatchObject({ errorCode: 0 })
    system.schemas.isAway = false
    expect(await system.produce('bound', batchOf(['orders a']))).toMatchObject({ errorCode: 0, baseOffset: 0n })
  })

  it('appends in the order in which requests came, and lets those to other topics pass', async () => {
    await system.produce('bound', batchOf(['orders 0']))
    await system.produce('free', batchOf(['0']))
    const release = system.schemas.hold()
    const sequence = (baseSequence: number, value: string) =>
      system.produce('bound', batchOf([value], { producerId: 5, producerEpoch: 0, baseSequence }))
    const all = [sequence(0, 'orders 1'), sequence(1, 'orders 2'), sequence(2, 'orders 3')]
    expect(await system.produce('free', batchOf(['1']))).toMatchObject({ errorCode: 0 })
    release()
    expect((await Promise.all(all)).map(({ errorCode, baseOffset }) => [errorCode, baseOffset])).toEqual([
      [0, 1n],
      [0, 2n],
      [0, 3n],
    ])
  })

  it('leaves the sequence of an idempotent producer where it was', async () => {
    const sequence = (baseSequence: number, value: string, producerEpoch = 0) =>
      system.produce('bound', batchOf([value], { producerId: 5, producerEpoch, baseSequence }))
    await sequence(0, 'orders a')
    const pipelined = await Promise.all([sequence(1, 'x'), sequence(2, 'orders b')])
    expect(pipelined.map(({ errorCode }) => errorCode)).toEqual([87, 45])
    // The Java client begins anew with an epoch of its own making, others with the number that was not taken.
    expect(await sequence(0, 'orders b', 1)).toMatchObject({ errorCode: 0, baseOffset: 1n })
    expect(await sequence(1, 'orders c', 1)).toMatchObject({ errorCode: 0, baseOffset: 2n })
  })

  it('says where a batch went that comes again, though the topic is bound to something else by now', async () => {
    const batch = batchOf(['orders a'], { producerId: 5, producerEpoch: 0, baseSequence: 0 })
    await system.produce('bound', batch)
    const change = (overrides: Readonly<Record<string, string>>) => ({
      overrides: { ...overrides, 'pico.schema': 'new' },
    })
    await system.streams.alterTopicConfig({ name: 'bound' }, change, false)
    expect(await system.produce('bound', batch)).toMatchObject({ errorCode: 0, baseOffset: 0n })
    expect(await system.produce('bound', batchOf(['orders a']))).toMatchObject({ errorCode: 87 })
  })

  it('judges by one of the two when the binding changes meanwhile, and by the newer one', async () => {
    await system.produce('bound', batchOf(['orders 0']))
    const release = system.schemas.hold()
    const [first, second] = [
      system.produce('bound', batchOf(['orders a'])),
      system.produce('bound', batchOf(['new b'])),
    ]
    const change = (overrides: Readonly<Record<string, string>>) => ({
      overrides: { ...overrides, 'pico.schema': 'new' },
    })
    await system.streams.alterTopicConfig({ name: 'bound' }, change, false)
    release()
    expect((await Promise.all([first, second])).map(({ errorCode }) => errorCode)).toEqual([87, 0])
  })

  it('takes a tombstone only where the topic is compacted', async () => {
    const tombstone = batchOf([{ key: 'k', value: null }])
    expect(await system.produce('bound', tombstone)).toMatchObject({ errorCode: 87 })
    await system.createTopic('compacted', { ...bound, 'cleanup.policy': 'compact' })
    expect(await system.produce('compacted', tombstone)).toMatchObject({ errorCode: 0 })
  })

  it('lets a connection bring no more when too much waits to be judged', async () => {
    await system.start({ streams: { judgingBytesMax: 100 } })
    await system.produce('bound', batchOf(['orders 0']))
    const release = system.schemas.hold()
    const frame = (value: string) => produceRequest('bound', batchOf([value]))
    const answers = ['orders 1', 'orders 2'].map((value) =>
      system.call(produce, 9, { transactionalId: null, ...frame(value) }),
    )
    const partition = await system.streams.partition({ name: 'bound' }, 0)
    if (typeof partition === 'string') throw new Error(partition)
    expect(partition.hasJudgingRoom).toBe(false)
    release()
    await Promise.all(answers)
    expect(partition.hasJudgingRoom).toBe(true)
  })
})
