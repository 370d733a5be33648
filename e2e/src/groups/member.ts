import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import kafkajs from 'kafkajs'
import { type ProcessSettings, type RunningProcess, startProcess } from '../child-process.ts'
import { shortJvm } from '../clients/java.ts'
import { javaTools, kcatTool, pythonTools } from '../toolchain.ts'
import { processedValue } from './member-report.ts'

/** One member of a consumer group, with its client's own ways to join, assign and commit. */
export interface GroupMember {
  /** The values it has read, in order: those of records that it read again too. */
  readonly values: readonly string[]
  /** Leaves the group as its client does it, with a last commit. */
  stop(): Promise<void>
}

export interface Subscription {
  readonly bootstrap: string
  readonly groupId: string
  readonly topics: readonly string[]
}

export interface MemberKind {
  readonly name: string
  /** Fails when what it runs on is missing. */
  readonly tool: () => Promise<unknown>
  start(subscription: Subscription): Promise<GroupMember>
}

/** Short enough that a test sees a dead member go, and as short as a broker allows. */
export const shortSessionTimeoutMs = 6000

/** As clients of Java and librdkafka name them. */
export function propertiesOf({ bootstrap, groupId }: Pick<Subscription, 'bootstrap' | 'groupId'>): string[] {
  return [
    `bootstrap.servers=${bootstrap}`,
    `group.id=${groupId}`,
    'auto.offset.reset=earliest',
    'enable.auto.commit=true',
    'auto.commit.interval.ms=500',
    `session.timeout.ms=${shortSessionTimeoutMs}`,
    'heartbeat.interval.ms=500',
  ]
}

const kcatMember: MemberKind = {
  name: 'kcat -G',
  tool: kcatTool,
  async start(subscription) {
    const { kcat } = await kcatTool()
    // Range, the default, gives the first member everything where each topic has one partition.
    const given = [...propertiesOf(subscription), 'partition.assignment.strategy=roundrobin']
    const properties = given.flatMap((property) => ['-X', property])
    // Without -E it ends when its broker goes away.
    const args = ['-q', '-u', '-E', '-f', '%s\\n', ...properties, '-G', subscription.groupId, ...subscription.topics]
    return processMember({ name: 'kcat', command: kcat, args })
  },
}

const pythonMember: MemberKind = {
  name: 'confluent-kafka (Python)',
  tool: pythonTools,
  async start(subscription) {
    const { python } = await pythonTools()
    const given = [...propertiesOf(subscription), 'partition.assignment.strategy=cooperative-sticky']
    const args = [pythonProgram('group_member.py'), subscription.topics.join(','), ...given]
    return processMember({ name: 'confluent-kafka', command: python, args }, processedValue)
  },
}

/** The console consumer of Kafka 4.4, with one of the Java client's assignors. */
function javaMember(assignor: string, more: readonly string[] = []): MemberKind {
  return {
    name: `kafka-console-consumer (${assignor}${more.length > 0 ? ', static' : ''})`,
    tool: javaTools,
    async start(subscription) {
      const { classpath } = await javaTools()
      const { bootstrap, groupId, topics } = subscription
      const properties = [
        ...propertiesOf(subscription),
        `partition.assignment.strategy=org.apache.kafka.clients.consumer.${assignor}`,
        'metadata.max.age.ms=1000',
        ...more.map((property) => property.replace('%', `${++instances}`)),
      ].flatMap((property) => ['--command-property', property])
      const which = ['--bootstrap-server', bootstrap, '--group', groupId, '--include', topics.join('|')]
      const tool = 'org.apache.kafka.tools.consumer.ConsoleConsumer'
      return processMember({
        name: 'kafka-console-consumer',
        command: 'java',
        args: [...shortJvm, '-cp', classpath, tool, ...which, ...properties],
      })
    },
  }
}

let instances = 0

const kafkaJsMember: MemberKind = {
  name: 'kafkajs',
  tool: async () => undefined,
  async start({ bootstrap, groupId, topics }) {
    const { Kafka, logLevel } = kafkajs
    const kafka = new Kafka({
      clientId: 'e2e',
      brokers: [bootstrap],
      logLevel: logLevel.NOTHING,
      retry: { retries: 30 },
    })
    const consumer = kafka.consumer({ groupId, sessionTimeout: shortSessionTimeoutMs, heartbeatInterval: 500 })
    const values: string[] = []
    await consumer.connect()
    await consumer.subscribe({ topics: [...topics], fromBeginning: true })
    await consumer.run({
      eachMessage: async ({ message }) => {
        values.push(`${message.value}`)
      },
    })
    return { values, stop: () => consumer.disconnect() }
  },
}

export const memberKinds: readonly MemberKind[] = [
  kafkaJsMember,
  kcatMember,
  pythonMember,
  javaMember('CooperativeStickyAssignor'),
  javaMember('StickyAssignor', ['group.instance.id=instance-%']),
]

export function pythonProgram(name: string): string {
  return join(dirname(fileURLToPath(import.meta.url)), '../../python', name)
}

/** A process that prints a line for each record, by default its value, and leaves its group on SIGTERM. */
async function processMember(
  settings: ProcessSettings,
  valueIn: (line: string) => string | undefined = (line) => line,
): Promise<GroupMember> {
  const values: string[] = []
  const running = await startPrinting(settings, (line) => {
    const value = valueIn(line)
    if (value !== undefined) values.push(value)
  })
  return {
    values,
    async stop() {
      const exit = await running.stop()
      if (exit.forced) throw new Error(`${running.name} did not end:\n${running.output().slice(-4000)}`)
    },
  }
}

/** Starts a process whose output is taken line by line. */
export function startPrinting(settings: ProcessSettings, take: (line: string) => void): Promise<RunningProcess> {
  let unfinished = ''
  return startProcess({
    ...settings,
    onStdout(chunk) {
      const lines = (unfinished + chunk.toString()).split('\n')
      unfinished = lines.pop() ?? ''
      for (const line of lines) take(line)
    },
  })
}
