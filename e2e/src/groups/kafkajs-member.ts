import { setTimeout as sleep } from 'node:timers/promises'
import kafkajs from 'kafkajs'

/**
 * A member of a consumer group with kafkajs, which commits by itself, as a program of its own: so it can be killed. Leaves
 * the group on SIGTERM. Prints what member-report.ts reads. Arguments: bootstrap, group, topic, session timeout in ms.
 */
const [bootstrap = '', groupId = '', topic = '', sessionTimeout = ''] = process.argv.slice(2)

const { Kafka, KafkaJSError, logLevel } = kafkajs
const kafka = new Kafka({
  clientId: 'e2e',
  brokers: bootstrap.split(','),
  logLevel: logLevel.ERROR,
  retry: { retries: 300, initialRetryTime: 100, maxRetryTime: 1000 },
})
const consumer = kafka.consumer({ groupId, sessionTimeout: Number(sessionTimeout), heartbeatInterval: 500 })
let held: readonly number[] = []
let stopping = false

function say(kind: string, more: object): void {
  process.stdout.write(`${JSON.stringify({ atMs: Date.now(), kind, ...more })}\n`)
}

/** It is told only of a rebalance, and of what it has after it; meanwhile it has nothing. */
function giveUp(): void {
  if (held.length > 0) say('gaveUp', { partitions: held })
  held = []
}

consumer.on(consumer.events.REBALANCING, giveUp)
consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
  giveUp()
  held = payload.memberAssignment[topic] ?? []
  say('owns', { partitions: held })
})
consumer.on(consumer.events.COMMIT_OFFSETS, ({ payload }) => {
  const partitions = payload.topics.flatMap((each) => each.partitions)
  say('committed', { offsets: partitions.map(({ partition, offset }) => [partition, Number(offset)]) })
})
/** When the connection ends while kafkajs looks for the coordinator, it gives up for good: its user has to begin anew. */
consumer.on(consumer.events.CRASH, async ({ payload }) => {
  giveUp()
  if (!payload.restart) await beginAnew()
})
process.once('SIGTERM', async () => {
  stopping = true
  await consumer.disconnect()
  process.exit(0)
})
await beginAnew()

/** Until it has begun: it gives up as well when the broker that it was sent to has just gone. */
async function beginAnew(): Promise<void> {
  while (!stopping) {
    try {
      return await begin()
    } catch (error) {
      if (!(error instanceof KafkaJSError)) throw error
      console.error(error.message)
      await sleep(200)
    }
  }
}

async function begin(): Promise<void> {
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    autoCommitInterval: 500,
    eachMessage: async ({ partition, message }) => {
      say('processed', { partition, offset: Number(message.offset), value: `${message.value}` })
    },
  })
}
