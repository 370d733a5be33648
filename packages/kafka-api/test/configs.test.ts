import { alterConfigs, createTopics, describeConfigs, incrementalAlterConfigs } from '@pico/kafka-codec'
import { topicSettings } from '@pico/streams'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { topicDocumentation } from '../src/configs/topic-documentation.ts'
import { batchOf, createRequest, KafkaSystem } from './kafka-system.ts'

const topicResource = 2
const brokerResource = 4
const set = 0
const remove = 1
const append = 2
const subtract = 3

let system: KafkaSystem
beforeEach(async () => {
  system = await KafkaSystem.open()
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

interface Wanted {
  readonly version?: number
  readonly type?: number
  readonly keys?: readonly string[] | null
}

async function describeOne(name: string, { version = 4, type = topicResource, keys = null }: Wanted = {}) {
  const { results } = await system.call(describeConfigs, version, {
    resources: [{ resourceType: type, resourceName: name, configurationKeys: keys }],
    ...(version >= 1 && { includeSynonyms: true }),
    ...(version >= 3 && { includeDocumentation: true }),
  })
  expect(results).toHaveLength(1)
  return results[0]!
}

async function settingOf(topic: string, key: string): Promise<string | null | undefined> {
  return (await describeOne(topic, { keys: [key] })).configs[0]?.value
}

async function change(
  topic: string,
  ...operations: readonly (readonly [name: string, operation: number, value: string | null])[]
) {
  const configs = operations.map(([name, configOperation, value]) => ({ name, configOperation, value }))
  const resources = [{ resourceType: topicResource, resourceName: topic, configs }]
  const { responses } = await system.call(incrementalAlterConfigs, 1, { resources, validateOnly: false })
  return responses[0]!
}

describe('DescribeConfigs', () => {
  it.each([0, 1, 2, 3, 4])('version %i has every key of a topic, and says where each comes from', async (version) => {
    await system.createTopic('t', { 'retention.ms': '1000' })
    const { errorCode, configs } = await describeOne('t', { version })
    expect(errorCode).toBe(0)
    expect(configs.map(({ name }) => name)).toEqual([...topicSettings.keys()])
    const retention = configs.find(({ name }) => name === 'retention.ms')
    const segment = configs.find(({ name }) => name === 'segment.bytes')
    expect(retention).toMatchObject({ value: '1000', readOnly: false, isSensitive: false })
    if (version === 0) expect([retention?.isDefault, segment?.isDefault]).toEqual([false, true])
    else {
      expect([retention?.configSource, segment?.configSource]).toEqual([1, 5])
      expect(retention?.synonyms).toEqual([
        { name: 'retention.ms', value: '1000', source: 1 },
        { name: 'log.retention.ms', value: '-1', source: 5 },
      ])
    }
    if (version >= 3) expect([retention?.configType, segment?.configType]).toEqual([5, 3])
  })

  it('has something to say about every key', async () => {
    expect(Object.keys(topicDocumentation).sort()).toEqual([...topicSettings.keys()])
    await system.createTopic('t')
    const resources = [await describeOne('t'), await describeOne('1', { type: brokerResource })]
    for (const { configs } of resources) {
      expect(configs.length).toBeGreaterThan(30)
      for (const { name, documentation } of configs) expect(documentation, name).toMatch(/^[A-Z].*[.]$/)
    }
  })

  it('tells the defaults that an operator gave as such, of the topic and of the broker', async () => {
    await system.start({ streams: { defaultTopicConfig: { 'max.message.bytes': '77' } } })
    await system.createTopic('t')
    const topic = await describeOne('t', { keys: ['max.message.bytes'] })
    expect(topic.configs).toMatchObject([
      {
        value: '77',
        configSource: 4,
        synonyms: [
          { name: 'message.max.bytes', value: '77', source: 4 },
          { name: 'message.max.bytes', value: '1048588', source: 5 },
        ],
      },
    ])
    const broker = await describeOne('1', { type: brokerResource, keys: ['message.max.bytes'] })
    expect(broker.configs).toMatchObject([{ value: '77', configSource: 4, readOnly: true }])
    const { topics } = await system.call(createTopics, 7, createRequest({ name: 'new' }))
    expect(topics[0]?.configs?.find(({ name }) => name === 'max.message.bytes')).toMatchObject({
      value: '77',
      configSource: 4,
    })
  })

  it('tells what the broker was told', async () => {
    await system.start({ api: { autoCreateTopics: false, defaultPartitions: 3, idleTimeoutMs: 5 } })
    const { configs } = await describeOne('1', { type: brokerResource })
    const values = new Map(configs.map(({ name, value, configSource }) => [name, [value, configSource]]))
    expect(values.get('auto.create.topics.enable')).toEqual(['false', 4])
    expect(values.get('num.partitions')).toEqual(['3', 4])
    expect(values.get('connections.max.idle.ms')).toEqual(['5', 4])
    expect(values.get('socket.request.max.bytes')).toEqual(['104857600', 5])
    expect(values.get('advertised.listeners')).toEqual(['PLAINTEXT://broker.test:9092', 4])
    expect(values.get('node.id')).toEqual(['1', 4])
    expect([...values.keys()]).toEqual([...values.keys()].sort())
  })

  it.each([
    ['missing', topicResource, 3],
    ['a b', topicResource, 17],
    ['', topicResource, 17],
    ['2', brokerResource, 42],
    ['x', brokerResource, 42],
    ['1', 8, 42],
    ['g', 32, 42],
    ['x', 99, 42],
  ])('refuses %j of type %i with %i', async (name, type, errorCode) => {
    expect(await describeOne(name, { type })).toMatchObject({ errorCode, configs: [], resourceName: name })
  })
})

describe('IncrementalAlterConfigs', () => {
  beforeEach(() => system.createTopic('t', { 'retention.ms': '1000' }))

  it('sets, appends, subtracts and deletes, and the answers are in force', async () => {
    expect(await change('t', ['segment.bytes', set, ' 2000000 '], ['cleanup.policy', append, 'compact'])).toMatchObject(
      {
        errorCode: 0,
        errorMessage: null,
      },
    )
    expect(await settingOf('t', 'segment.bytes')).toBe('2000000')
    expect(await settingOf('t', 'cleanup.policy')).toBe('delete,compact')
    await change('t', ['cleanup.policy', subtract, 'delete'], ['retention.ms', remove, null])
    expect(await settingOf('t', 'cleanup.policy')).toBe('compact')
    expect(await settingOf('t', 'retention.ms')).toBe('-1')
    await system.start()
    expect(await settingOf('t', 'cleanup.policy')).toBe('compact')
  })

  it('acts on the open partition at once', async () => {
    const large = batchOf(['x'.repeat(5000)])
    expect(await system.produce('t', large)).toMatchObject({ errorCode: 0 })
    await change('t', ['max.message.bytes', set, '1000'])
    expect(await system.produce('t', large)).toMatchObject({ errorCode: 10 })
    await change('t', ['max.message.bytes', remove, null], ['message.timestamp.type', set, 'LogAppendTime'])
    expect(await system.produce('t', large)).toMatchObject({
      errorCode: 0,
      logAppendTimeMs: BigInt(system.clock.nowMs()),
    })
    await change('t', ['cleanup.policy', set, 'compact'])
    expect(await system.produce('t', large)).toMatchObject({ errorCode: 87 })
    await change('t', ['cleanup.policy', remove, null], ['compression.type', set, 'gzip'])
    await system.produce('t', large)
    const { records } = await system.fetch('t', 2)
    expect(records?.length).toBeLessThan(500)
  })

  it.each([
    ['retention.ms', set, 'soon', 40],
    ['no.such.key', set, '1', 40],
    ['pico.schema', set, 'missing', 40],
    ['pico.schema', set, 'no name', 40],
    ['pico.schema.validate', set, 'true', 40],
    ['retention.ms', append, '1', 40],
    ['retention.ms', subtract, '1', 40],
    ['retention.ms', set, null, 42],
    ['retention.ms', 7, '1', 42],
  ])('refuses %s (operation %i), naming the key', async (name, operation, value, errorCode) => {
    expect(await change('t', [name, operation, value])).toMatchObject({
      errorCode,
      errorMessage: expect.stringContaining(name),
    })
    expect(await settingOf('t', 'retention.ms')).toBe('1000')
  })

  it('refuses to append more than a value may have', async () => {
    const throttled = 'follower.replication.throttled.replicas'
    const items = (from: number) => Array.from({ length: 3000 }, (_, index) => `${from + index}:1`).join()
    expect(await change('t', [throttled, set, items(10_000)])).toMatchObject({ errorCode: 0 })
    expect(await change('t', [throttled, append, items(20_000)])).toMatchObject({
      errorCode: 40,
      errorMessage: expect.stringContaining(throttled),
    })
    expect(await settingOf('t', throttled)).toBe(items(10_000))
  })

  it('refuses what a broker has, naming the keys', async () => {
    const configs = [{ name: 'num.partitions', configOperation: set, value: '5' }]
    for (const resourceName of ['1', '']) {
      const resources = [{ resourceType: brokerResource, resourceName, configs }]
      const { responses } = await system.call(incrementalAlterConfigs, 1, { resources, validateOnly: false })
      expect(responses).toMatchObject([{ errorCode: 40, errorMessage: expect.stringContaining('num.partitions') }])
    }
  })

  it('judges each resource by itself, and one that comes twice not at all', async () => {
    await system.createTopic('u')
    const one = (resourceName: string, value: string) => {
      return { resourceType: topicResource, resourceName, configs: [{ name: 'flush.ms', configOperation: set, value }] }
    }
    const resources = [one('t', 'x'), one('u', '5'), one('missing', '5'), one('v', '1'), one('v', '2')]
    const { responses } = await system.call(incrementalAlterConfigs, 0, { resources, validateOnly: false })
    expect(responses.map(({ resourceName, errorCode }) => [resourceName, errorCode])).toEqual([
      ['t', 40],
      ['u', 0],
      ['missing', 3],
      ['v', 42],
      ['v', 42],
    ])
    expect(await settingOf('u', 'flush.ms')).toBe('5')
  })

  it('changes nothing where it is only to check', async () => {
    const configs = [{ name: 'retention.ms', configOperation: set, value: '5' }]
    const resources = [{ resourceType: topicResource, resourceName: 't', configs }]
    const { responses } = await system.call(incrementalAlterConfigs, 1, { resources, validateOnly: true })
    expect(responses).toMatchObject([{ errorCode: 0 }])
    expect(await settingOf('t', 'retention.ms')).toBe('1000')
  })
})

describe('AlterConfigs', () => {
  it.each([0, 1, 2])('version %i replaces all that was set', async (version) => {
    await system.createTopic('t', { 'retention.ms': '1000', 'flush.ms': '7' })
    const ask = async (configs: { name: string; value: string | null }[], validateOnly = false) => {
      const resources = [{ resourceType: topicResource, resourceName: 't', configs }]
      return (await system.call(alterConfigs, version, { resources, validateOnly })).responses[0]?.errorCode
    }
    expect(await ask([{ name: 'flush.ms', value: '9' }], true)).toBe(0)
    expect(await ask([{ name: 'flush.ms', value: 'x' }])).toBe(40)
    expect(await ask([{ name: 'flush.ms', value: null }])).toBe(42)
    expect(await settingOf('t', 'flush.ms')).toBe('7')
    expect(await ask([{ name: 'flush.ms', value: '9' }])).toBe(0)
    expect([await settingOf('t', 'flush.ms'), await settingOf('t', 'retention.ms')]).toEqual(['9', '-1'])
    expect(await ask([])).toBe(0)
    expect(await settingOf('t', 'flush.ms')).toBe('9223372036854775807')
  })
})
