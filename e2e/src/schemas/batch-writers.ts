import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import kafkajs from 'kafkajs'
import { run } from '../child-process.ts'
import { type Codec, propertiesOf } from '../clients/client.ts'
import { shortJvm } from '../clients/java.ts'
import { compressionTypes } from '../clients/kafkajs.ts'
import { javaTools, pythonTools } from '../toolchain.ts'

const { Kafka, logLevel } = kafkajs

export interface SentRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
}

/** Records that go out together. */
export interface SentBatch {
  readonly topic: string
  readonly records: readonly SentRecord[]
}

/** What the client says became of a record. */
export type RecordOutcome =
  | { readonly offset: number; readonly error?: never; readonly message?: never }
  | { readonly offset?: never; readonly error: string; readonly message: string }

/** A client library whose idempotent producer writes batch after batch and goes on whatever becomes of one. */
export interface BatchWriter {
  readonly name: string
  /** Fails when what it runs on is missing. */
  readonly tool: () => Promise<unknown>
  /** What it says of a record that is to blame for a batch that is INVALID_RECORD, and of the others in it. */
  readonly errors: { readonly blamed: string; readonly neighbour: string }
  /** It tells what the broker says of each record. */
  readonly tellsReasons: boolean
  /** All by one producer, each when the one before is settled. An outcome a record of each batch. */
  write(bootstrap: string, codec: Codec, batches: readonly SentBatch[]): Promise<RecordOutcome[][]>
}

const python = join(dirname(fileURLToPath(import.meta.url)), '../../python/produce_outcomes.py')

export const batchWriters: readonly BatchWriter[] = [
  {
    name: 'kafkajs',
    tool: async () => undefined,
    errors: { blamed: 'INVALID_RECORD', neighbour: 'INVALID_RECORD' },
    tellsReasons: false,
    async write(bootstrap, codec, batches) {
      const kafka = new Kafka({ clientId: 'e2e', brokers: [bootstrap], logLevel: logLevel.NOTHING })
      const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
      await producer.connect()
      const outcomes: RecordOutcome[][] = []
      try {
        for (const { topic, records } of batches) {
          const messages = records.map((record) => ({ ...record, partition: 0 }))
          const sent = producer.send({ topic, acks: -1, compression: compressionTypes[codec], messages })
          const outcome = await sent.then(
            ([answer]) =>
              (index: number) => ({ offset: Number(answer?.baseOffset) + index }),
            (error: Error & { type?: string }) => () => ({ error: error.type ?? error.name, message: error.message }),
          )
          outcomes.push(records.map((_, index) => outcome(index)))
        }
      } finally {
        await producer.disconnect()
      }
      return outcomes
    },
  },
  {
    name: 'Java client 4.4',
    tool: javaTools,
    errors: { blamed: 'InvalidRecordException', neighbour: 'KafkaException' },
    tellsReasons: true,
    async write(bootstrap, codec, batches) {
      const { classpath } = await javaTools()
      const properties = [...idempotent(bootstrap, codec), 'batch.size=1000000', 'delivery.timeout.ms=120000']
      const args = [...shortJvm, '-cp', classpath, 'ProduceOutcomes', ...properties]
      const { stdout } = await run('java', args, { input: linesOf(batches) })
      return outcomesOf(stdout)
    },
  },
  {
    name: 'confluent-kafka (Python)',
    tool: pythonTools,
    errors: { blamed: 'INVALID_RECORD', neighbour: 'INVALID_RECORD' },
    tellsReasons: false,
    async write(bootstrap, codec, batches) {
      const tools = await pythonTools()
      const { stdout } = await run(tools.python, [python, ...idempotent(bootstrap, codec)], { input: linesOf(batches) })
      return outcomesOf(stdout)
    },
  },
]

/** They linger until they are flushed: what is handed over together is one batch. */
function idempotent(bootstrap: string, codec: Codec): string[] {
  return [...propertiesOf(bootstrap, { codec, acks: 'all', idempotence: true }), 'linger.ms=30000']
}

function linesOf(batches: readonly SentBatch[]): string {
  const base64 = (bytes: Buffer | null) => bytes?.toString('base64') ?? null
  return batches
    .map(({ topic, records }) => {
      const encoded = records.map(({ key, value }) => ({ key: base64(key), value: base64(value) }))
      return `${JSON.stringify({ topic, records: encoded })}\n`
    })
    .join('')
}

function outcomesOf(stdout: Buffer): RecordOutcome[][] {
  const lines = stdout.toString().split('\n')
  return lines.filter((line) => line.startsWith('[')).map((line) => JSON.parse(line) as RecordOutcome[])
}
