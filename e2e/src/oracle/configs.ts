import { alterConfigs, describeConfigs, incrementalAlterConfigs } from '@pico/kafka-codec'
import { errorText, type Scenario, type Session } from './session.ts'

const topicResource = 2
const brokerResource = 4
const operations = { set: 0, delete: 1, append: 2, subtract: 3 } as const

/** DescribeConfigs, AlterConfigs, IncrementalAlterConfigs (kafka-compat 2.10). */
export const configs: readonly Scenario[] = [
  {
    name: 'every key of a topic',
    async run(session) {
      await session.makeTopic({ 'max.message.bytes': '2000000', 'cleanup.policy': 'compact,delete' })
      for (let version = 1; version <= 4; version++) {
        await session.note(`version ${version}: keys`, async () =>
          (await describe(session, { version })).entries.map(({ name }) => name),
        )
      }
      // Version 0 is not served by Kafka 4 any more.
      const all = async () => (await describe(session, {})).entries
      await session.note('types', async () => (await all()).map(({ name, type }) => `${name}: ${type}`))
      await session.note('defaults', async () =>
        (await all())
          .filter(({ name }) => name !== 'retention.ms') // ours keeps records until it is told otherwise
          .map(({ name, value }) => `${name}=${value}`),
      )
      await session.note('what was set, and where it comes from', async () =>
        (await all()).filter(({ source }) => source === 1),
      )
      await session.note('read-only or sensitive', async () =>
        (await all()).filter((entry) => entry.readOnly || entry.isSensitive),
      )
      await session.note('documented', async () =>
        (await describe(session, { documentation: true })).entries.filter((entry) => !entry.isDocumented),
      )
      await session.note('without synonyms', async () =>
        (await describe(session, { synonyms: false })).entries.filter((entry) => entry.synonyms.length > 0),
      )
      await session.note('synonyms', async () =>
        (await all())
          // Of these the oracle's broker sets one by itself, and has hours where we have milliseconds.
          .filter(
            ({ name }) => !/^(min.insync.replicas|retention.ms|segment.ms|segment.jitter.ms|flush.ms)$/.test(name),
          )
          .map(({ name, synonyms }) => `${name}: ${synonyms.join(' ')}`),
      )
    },
  },
  {
    name: 'some keys of a topic',
    async run(session) {
      await session.makeTopic({ 'retention.bytes': '1000' })
      const some = (keys: readonly string[]) => describe(session, { keys })
      await session.note('two', () => some(['retention.bytes', 'cleanup.policy']))
      await session.note('an unknown one', () => some(['no.such.key']))
      await session.note('the same twice', () => some(['retention.bytes', 'retention.bytes']))
      await session.note('an empty list', async () => (await some([])).entries.length)
    },
  },
  {
    name: 'configurations of what is not there',
    async run(session) {
      await session.makeTopic()
      const error = async (resource: Resource) => (await describe(session, resource)).error
      await session.note('a topic', () => error({ resource: `${session.topic}-missing` }))
      await session.note('a topic without a name', () => error({ resource: '' }))
      await session.note('an illegal topic', () => error({ resource: 'a b' }))
      await session.note('another broker', () => error({ type: brokerResource, resource: '77' }))
      await session.note('a broker with letters', () => error({ type: brokerResource, resource: 'x' }))
      await session.note('a resource of no type', () => error({ type: 0, resource: 'x' }))
      await session.note('a resource of an unknown type', () => error({ type: 77, resource: 'x' }))
      await session.note('good and bad together', async () => {
        const connection = await session.connection()
        const resource = (name: string) => {
          return { resourceType: topicResource, resourceName: name, configurationKeys: ['retention.bytes'] }
        }
        const { results } = await connection.ask(describeConfigs, 4, {
          resources: [resource(session.topic), resource(`${session.topic}-missing`), resource(session.topic)],
          includeSynonyms: false,
          includeDocumentation: false,
        })
        return results
          .map(({ resourceName, errorCode, configs }) => ({
            missing: resourceName.endsWith('missing'),
            error: errorText(errorCode),
            configs: configs.length,
          }))
          .sort((a, b) => Number(a.missing) - Number(b.missing))
      })
    },
  },
  {
    name: 'the broker',
    async run(session) {
      const some = ['auto.create.topics.enable', 'num.partitions', 'default.replication.factor', 'delete.topic.enable']
      const more = [
        'message.max.bytes',
        'log.cleanup.policy',
        'offsets.retention.minutes',
        'group.max.session.timeout.ms',
      ]
      await session.note('keys that tools look at', async () =>
        (await describe(session, { type: brokerResource, resource: '1', keys: [...some, ...more] })).entries.map(
          ({ name, value, type }) => `${name}=${value} ${type}`,
        ),
      )
      await session.note('its id', () => describe(session, { type: brokerResource, resource: '1', keys: ['node.id'] }))
      await session.note('the defaults of all brokers', async () => {
        const { error, entries } = await describe(session, { type: brokerResource, resource: '' })
        return { error, entries: entries.filter(({ name }) => name !== 'min.insync.replicas') } // set by Kafka itself
      })
    },
  },
  {
    name: 'single settings are changed',
    async run(session) {
      await session.makeTopic({ 'retention.ms': '1000' })
      const step = noteChange(session)
      await step('set', [['segment.bytes', operations.set, '2000000']])
      await step('set again', [['segment.bytes', operations.set, ' 3000000 ']])
      await step('delete', [['segment.bytes', operations.delete, null]])
      await step('delete what is not set', [['segment.bytes', operations.delete, null]])
      await step('delete with a value', [['retention.ms', operations.delete, '5']])
      await step('append to a default', [['cleanup.policy', operations.append, 'compact']])
      await step('append what is there', [['cleanup.policy', operations.append, 'compact']])
      await step('subtract', [['cleanup.policy', operations.subtract, 'delete']])
      await step('subtract what is not there', [['cleanup.policy', operations.subtract, 'delete']])
      await step('subtract the last', [['cleanup.policy', operations.subtract, 'compact']])
      await step('append to a number', [['retention.ms', operations.append, '1']])
      await step('subtract from a number', [['retention.ms', operations.subtract, '1']])
      await step('an unknown operation', [['retention.ms', 9, '1']])
      await step('several at once', [
        ['max.message.bytes', operations.set, '500'],
        ['message.timestamp.type', operations.set, 'LogAppendTime'],
        ['compression.type', operations.set, 'gzip'],
      ])
      await step('one bad among good ones', [
        ['max.message.bytes', operations.set, '700'],
        ['compression.type', operations.set, 'zip'],
      ])
      await step('none', [])
    },
  },
  {
    name: 'settings that cannot be',
    async run(session) {
      await session.makeTopic()
      const step = noteChange(session)
      await step('an unknown key', [['no.such.key', operations.set, '1']])
      await step('an unknown key, deleted', [['no.such.key', operations.delete, null]])
      await step('an unknown key, appended to', [['no.such.key', operations.append, '1']])
      await step('text for a number', [['retention.ms', operations.set, 'soon']])
      await step('too small', [['retention.ms', operations.set, '-2']])
      await step('empty', [['retention.ms', operations.set, '']])
      await step('null', [['retention.ms', operations.set, null]])
      await step('null, appended', [['cleanup.policy', operations.append, null]])
      await step('an unknown policy', [['cleanup.policy', operations.append, 'shred']])
      await step('the same key twice', [
        ['retention.ms', operations.set, '1'],
        ['retention.ms', operations.set, '2'],
      ])
      const throttled = 'follower.replication.throttled.replicas'
      const items = (from: number) => Array.from({ length: 3000 }, (_, index) => `${from + index}:1`).join()
      await step('long', [[throttled, operations.set, items(10_000)]])
      await step('too long', [[throttled, operations.append, items(20_000)]])
      await step('short again', [[throttled, operations.delete, null]])
      await step('only to validate, good', [['retention.ms', operations.set, '77']], { validateOnly: true })
      await step('only to validate, bad', [['retention.ms', operations.set, 'x']], { validateOnly: true })
      const good: Change[] = [['retention.ms', operations.set, '1']]
      await step('a topic that is missing', good, { resource: `${session.topic}-missing` })
      await step('a topic without a name', good, { resource: '' })
      await step('another broker', [['log.cleaner.threads', operations.set, '1']], {
        type: brokerResource,
        resource: '77',
      })
      await step('a broker with letters', good, { type: brokerResource, resource: 'x' })
      await step('a resource of an unknown type', good, { type: 77, resource: 'x' })
      await session.note('the same topic twice', async () => {
        const connection = await session.connection()
        const resource = {
          resourceType: topicResource,
          resourceName: session.topic,
          configs: [{ name: 'retention.ms', configOperation: operations.set, value: '1' }],
        }
        const { responses } = await connection.ask(incrementalAlterConfigs, 1, {
          resources: [resource, resource],
          validateOnly: false,
        })
        return responses.map(({ errorCode }) => errorText(errorCode))
      })
      await session.note('nothing of it is left', () => overrides(session))
    },
  },
  {
    name: 'all settings are replaced',
    async run(session) {
      await session.makeTopic({ 'retention.ms': '1000', 'max.message.bytes': '5000' })
      for (let version = 0; version <= 2; version++) {
        await session.note(`version ${version}`, async () => {
          const answer = await replace(session, { version, configs: [['retention.bytes', `${version}`]] })
          return [answer, await overrides(session)]
        })
      }
      const step = (title: string, given: Parameters<typeof replace>[1]) =>
        session.note(title, async () => [await replace(session, given), await overrides(session)])
      await step('by nothing', { configs: [] })
      await step('an unknown key', { configs: [['no.such.key', '1']] })
      await step('a bad value', { configs: [['retention.ms', 'soon']] })
      await step('a null', { configs: [['retention.ms', null]] })
      await step('the same key twice', {
        configs: [
          ['retention.ms', '1'],
          ['retention.ms', '2'],
        ],
      })
      await step('only to validate', { configs: [['retention.ms', '1']], validateOnly: true })
      await step('a topic that is missing', { configs: [], resource: `${session.topic}-missing` })
      await step('a topic without a name', { configs: [], resource: '' })
    },
  },
  {
    name: 'changed settings are in force',
    async run(session) {
      await session.makeTopic()
      const large = { records: [{ value: Buffer.alloc(2000) }] }
      await session.note('before', () => session.produce(large))
      await change(session, { changes: [['max.message.bytes', operations.set, '1000']] })
      await session.note('too large now', () => settled(() => session.produce(large), 'MESSAGE_TOO_LARGE'))
      await change(session, { changes: [['max.message.bytes', operations.delete, null]] })
      await session.note('as before', () => settled(() => session.produce(large), 'NONE'))
      await change(session, { changes: [['message.timestamp.type', operations.set, 'LogAppendTime']] })
      await session.note('stamped', () => stamped(session))
      await change(session, { changes: [['cleanup.policy', operations.set, 'compact']] })
      await session.note('a record without key', () => settled(() => session.produce(large), 'INVALID_RECORD'))
    },
  },
]

/** Kafka's broker learns of a change a moment after its controller has answered. */
async function settled<T extends { readonly error: string }>(
  attempt: () => Promise<T>,
  wanted: string,
): Promise<string> {
  let answer = await attempt()
  for (let again = 0; again < 100 && answer.error !== wanted; again++) {
    await new Promise((resolve) => setTimeout(resolve, 30))
    answer = await attempt()
  }
  return answer.error
}

async function stamped(session: Session): Promise<string> {
  for (let again = 0; again < 100; again++) {
    const { logAppendTime } = await session.produce({ records: [{ value: Buffer.from('x') }] })
    if (logAppendTime === 'some') return logAppendTime
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  return 'never'
}

interface Resource {
  readonly version?: number
  readonly type?: number
  /** Default: the scenario's topic. */
  readonly resource?: string
  readonly keys?: readonly string[] | null
  readonly synonyms?: boolean
  readonly documentation?: boolean
}

async function describe(session: Session, question: Resource) {
  const { version = 4, type = topicResource, resource = session.topic, keys = null } = question
  const connection = await session.connection()
  const { results } = await connection.ask(describeConfigs, version, {
    resources: [{ resourceType: type, resourceName: resource, configurationKeys: keys }],
    includeSynonyms: question.synonyms ?? true,
    ...(version >= 3 && { includeDocumentation: question.documentation ?? false }),
  })
  const [result] = results
  return {
    error: errorText(result?.errorCode ?? -1),
    entries: (result?.configs ?? [])
      .filter(({ name }) => !name.startsWith('pico.')) // our own, which Kafka does not have
      .map((entry) => ({
        name: entry.name,
        value: entry.value,
        type: entry.configType,
        source: entry.configSource,
        readOnly: entry.readOnly,
        isSensitive: entry.isSensitive,
        isDocumented: (entry.documentation ?? '') !== '',
        synonyms: entry.synonyms.map(({ name, value, source }) => `${name}=${value}(${source})`),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

async function overrides(session: Session): Promise<string[]> {
  const { entries } = await describe(session, {})
  return entries.filter(({ source }) => source === 1).map(({ name, value }) => `${name}=${value}`)
}

type Change = [name: string, operation: number, value: string | null]

interface ChangeQuestion {
  readonly version?: number
  readonly type?: number
  readonly resource?: string
  readonly changes: readonly Change[]
  readonly validateOnly?: boolean
}

/** Carries out a change by each version, for it does the same again, and notes the answers and what is set then. */
function noteChange(session: Session) {
  return (title: string, changes: readonly Change[], question: Omit<ChangeQuestion, 'changes'> = {}) =>
    session.note(title, async () => {
      const answers: string[] = []
      for (const version of [0, 1]) answers.push(await change(session, { version, changes, ...question }))
      return { answers, set: await overrides(session) }
    })
}

async function change(session: Session, question: ChangeQuestion): Promise<string> {
  const { version = 1, type = topicResource, resource = session.topic, changes, validateOnly = false } = question
  const connection = await session.connection()
  const { responses } = await connection.ask(incrementalAlterConfigs, version, {
    resources: [
      {
        resourceType: type,
        resourceName: resource,
        configs: changes.map(([name, configOperation, value]) => ({ name, configOperation, value })),
      },
    ],
    validateOnly,
  })
  return errorText(responses[0]?.errorCode ?? -1)
}

async function replace(
  session: Session,
  question: {
    readonly version?: number
    readonly resource?: string
    readonly configs: readonly [name: string, value: string | null][]
    readonly validateOnly?: boolean
  },
): Promise<string> {
  const { version = 2, resource = session.topic, configs, validateOnly = false } = question
  const connection = await session.connection()
  const { responses } = await connection.ask(alterConfigs, version, {
    resources: [
      {
        resourceType: topicResource,
        resourceName: resource,
        configs: configs.map(([name, value]) => ({ name, value })),
      },
    ],
    validateOnly,
  })
  return errorText(responses[0]?.errorCode ?? -1)
}
