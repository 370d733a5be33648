import type { ToolStep } from './tool-script.ts'

const tools = 'org.apache.kafka.tools'
const topic = 'tools'

/** What an operator does with Kafka's own tools on an ordinary day. Each step builds on those before. */
export function adminScript(deleteRecordsFile: string): readonly ToolStep[] {
  return [
    step('topics: create', 'TopicCommand', [
      '--create',
      '--topic',
      topic,
      '--partitions',
      '1',
      '--config',
      'retention.ms=100000000',
    ]),
    step('topics: create again', 'TopicCommand', ['--create', '--topic', topic]),
    step('topics: create if missing', 'TopicCommand', ['--create', '--topic', topic, '--if-not-exists']),
    step('topics: create by hand', 'TopicCommand', [
      '--create',
      '--topic',
      `${topic}-by-hand`,
      '--replica-assignment',
      '1',
    ]),
    step('topics: create with a bad name', 'TopicCommand', ['--create', '--topic', 'a b']),
    step('topics: create with a bad setting', 'TopicCommand', [
      '--create',
      '--topic',
      'bad',
      '--config',
      'retention.ms=soon',
    ]),
    step('topics: create with an unknown setting', 'TopicCommand', [
      '--create',
      '--topic',
      'bad',
      '--config',
      'no.such.key=1',
    ]),
    step('topics: list', 'TopicCommand', ['--list', '--exclude-internal']),
    step('topics: describe', 'TopicCommand', ['--describe', '--topic', topic], withoutIds),
    step(
      'topics: describe those with overrides',
      'TopicCommand',
      ['--describe', '--topics-with-overrides', '--exclude-internal'],
      overridden,
    ),
    step('topics: describe those without a leader', 'TopicCommand', ['--describe', '--unavailable-partitions']),
    step('topics: describe a missing one', 'TopicCommand', ['--describe', '--topic', 'missing']),
    step('topics: as many partitions', 'TopicCommand', ['--alter', '--topic', topic, '--partitions', '1']),

    step('configs: describe a topic', 'ConfigCommand', [...entity, '--describe']),
    step('configs: describe all of a topic', 'ConfigCommand', [...entity, '--describe', '--all'], withoutDefaults),
    step('configs: change a topic', 'ConfigCommand', [
      ...entity,
      '--alter',
      '--add-config',
      'max.message.bytes=5000,cleanup.policy=[compact,delete]',
    ]),
    step('configs: describe the changed topic', 'ConfigCommand', [...entity, '--describe']),
    step('configs: unset', 'ConfigCommand', [
      ...entity,
      '--alter',
      '--delete-config',
      'max.message.bytes,cleanup.policy',
    ]),
    step(
      'configs: a bad value',
      'ConfigCommand',
      [...entity, '--alter', '--add-config', 'retention.ms=soon'],
      firstLine,
    ),
    step(
      'configs: an unknown key',
      'ConfigCommand',
      [...entity, '--alter', '--add-config', 'no.such.key=1'],
      firstLine,
    ),
    step(
      'configs: unset an unknown key',
      'ConfigCommand',
      [...entity, '--alter', '--delete-config', 'no.such.key'],
      firstLine,
    ),
    step(
      'configs: a missing topic',
      'ConfigCommand',
      ['--entity-type', 'topics', '--entity-name', 'missing', '--alter', '--add-config', 'retention.ms=1'],
      firstLine,
    ),
    step('configs: describe the broker', 'ConfigCommand', [
      '--entity-type',
      'brokers',
      '--entity-name',
      '1',
      '--describe',
    ]),

    {
      ...step('console producer', 'ConsoleProducer', [
        '--topic',
        topic,
        '--reader-property',
        'parse.key=true',
        '--reader-property',
        'key.separator=:',
      ]),
      input: lines(20),
    },
    step('console consumer', 'consumer.ConsoleConsumer', [
      '--topic',
      topic,
      '--from-beginning',
      '--max-messages',
      '20',
      '--formatter-property',
      'print.key=true',
      '--formatter-property',
      'print.offset=true',
      '--formatter-property',
      'print.partition=true',
    ]),
    step('console consumer of a group', 'consumer.ConsoleConsumer', [
      '--topic',
      topic,
      '--from-beginning',
      '--max-messages',
      '5',
      '--group',
      'tools-group',
      '--command-property',
      'max.poll.records=5',
    ]),
    step('console consumer from an offset', 'consumer.ConsoleConsumer', [
      '--topic',
      topic,
      '--partition',
      '0',
      '--offset',
      '18',
      '--max-messages',
      '2',
    ]),

    step('offsets: latest', 'GetOffsetShell', ['--topic', topic]),
    ...[-1, -2, -3, -4, -5].map((time) =>
      step(
        `offsets: time ${time}`,
        'GetOffsetShell',
        ['--topic', topic, '--time', `${time}`],
        time === -3 ? withoutOffset : undefined,
      ),
    ),
    step('offsets: of a missing topic', 'GetOffsetShell', ['--topic', 'missing']),

    // The console consumers' groups have random names.
    { ...step('groups: list', 'consumer.group.ConsumerGroupCommand', ['--list'], consoleGroup), isUnordered: true },
    step('groups: describe', 'consumer.group.ConsumerGroupCommand', ['--describe', '--group', 'tools-group']),
    step('groups: state', 'consumer.group.ConsumerGroupCommand', ['--describe', '--group', 'tools-group', '--state']),
    step('groups: reset', 'consumer.group.ConsumerGroupCommand', [
      '--reset-offsets',
      '--group',
      'tools-group',
      '--topic',
      topic,
      '--to-offset',
      '3',
      '--execute',
    ]),
    step('groups: describe after a reset', 'consumer.group.ConsumerGroupCommand', [
      '--describe',
      '--group',
      'tools-group',
    ]),
    step('groups: delete offsets', 'consumer.group.ConsumerGroupCommand', [
      '--delete-offsets',
      '--group',
      'tools-group',
      '--topic',
      topic,
    ]),
    step('groups: delete', 'consumer.group.ConsumerGroupCommand', ['--delete', '--group', 'tools-group']),
    step(
      'groups: describe a missing one',
      'consumer.group.ConsumerGroupCommand',
      ['--describe', '--group', 'tools-group'],
      firstLine,
    ),

    step('delete records', 'DeleteRecordsCommand', ['--offset-json-file', deleteRecordsFile]),
    step('offsets: earliest after that', 'GetOffsetShell', ['--topic', topic, '--time', '-2']),
    step('log dirs', 'LogDirsCommand', ['--describe', '--topic-list', topic], logDirs),

    step(
      'verifiable producer',
      'VerifiableProducer',
      ['--topic', `${topic}-verified`, '--max-messages', '50'],
      verified,
    ),
    step(
      'verifiable consumer',
      'VerifiableConsumer',
      ['--topic', `${topic}-verified`, '--group-id', 'verified', '--max-messages', '50', '--reset-policy', 'earliest'],
      verified,
    ),
    step('cluster: id', 'ClusterTool', ['cluster-id'], (line) => line.replace(/: .*/, ': ID')),

    step('api versions', 'BrokerApiVersionsCommand', [], usable),
    { name: 'admin client', tool: 'AdminSteps', args: ['BROKER'] },

    step('topics: delete', 'TopicCommand', ['--delete', '--topic', `${topic}.*`]),
    step('topics: delete again', 'TopicCommand', ['--delete', '--topic', topic]),
  ]
}

const entity = ['--entity-type', 'topics', '--entity-name', topic]

function step(
  name: string,
  tool: string,
  args: readonly string[],
  normalize?: NonNullable<ToolStep['normalize']>,
): ToolStep {
  // The cluster tool has its own place for the address, the GetOffsetShell too.
  const where = ['--bootstrap-server', 'BROKER']
  return {
    name,
    tool: `${tools}.${tool}`,
    args: tool === 'ClusterTool' ? [...args, ...where] : [...where, ...args],
    ...(normalize && { normalize }),
  }
}

/** Which record has the largest time depends on how fast they were written. */
function withoutOffset(line: string): string {
  return line.replace(/\d+$/, 'N')
}

function consoleGroup(line: string): string {
  return line.replace(/^console-consumer-\d+$/, 'console-consumer-N')
}

function lines(count: number): string {
  return Array.from({ length: count }, (_, index) => `key-${index % 3}:value-${index}\n`).join('')
}

function withoutIds(line: string): string {
  // The Kafka of the comparison sets min.insync.replicas by itself, when it starts.
  return line.replace(/TopicId: \S+/, 'TopicId: ID').replace(/min\.insync\.replicas=1,?/, '')
}

/** A topic is listed among those with overrides of Kafka for that one setting alone. */
function overridden(line: string): string | null {
  const kept = withoutIds(line)
  return /Configs: ?$/.test(kept) ? null : kept
}

/** Ours keeps records until it is told otherwise; Kafka has defaults in other units, and one that it sets itself. */
function withoutDefaults(line: string): string | null {
  if (line.startsWith('pico.')) return null // our own, which Kafka does not have
  if (/^(min.insync.replicas|segment.ms|segment.jitter.ms|flush.ms|retention.ms)=/.test(line)) return null
  return line
}

/** The reason: what follows is a stack trace, or a message in other words. */
function firstLine(line: string): string | null {
  if (/^(at |Caused by|\.\.\.)/.test(line)) return null
  return line.replace(/(Exception): .*/, '$1')
}

function logDirs(line: string): string {
  return line
    .replaceAll(/"logDir":"[^"]*"/g, '"logDir":"DIR"')
    .replaceAll(/"size":[1-9]\d*/g, '"size":SOME')
    .replaceAll(/"(total|usable)Bytes":-?\d+/g, '"$1Bytes":SOME')
}

/**
 * JSON lines, each with the time it was printed. The producer prints from a thread of its own, until long after it is said to be done;
 * that all has come is what the consumer tells.
 */
function verified(line: string): string | null {
  if (!line.startsWith('{') || /"name":"(producer_send_success|startup_complete)"/.test(line)) return null
  return line.replaceAll(/"timestamp":\d+,?/g, '')
}

/** What the Java client can use: not what it cannot. */
function usable(line: string): string | null {
  const [, name, version] = /^(\w+)\(\d+\): .*\[usable: (\d+)\]/.exec(line) ?? []
  return name === undefined ? null : `${name} ${version}`
}
