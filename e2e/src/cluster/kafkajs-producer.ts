import { setTimeout as sleep } from 'node:timers/promises'
import kafkajs from 'kafkajs'
import { logName, type ProducerHistory, recordValue } from '../durability/history.ts'
import type { LoadProducer } from '../durability/producer.ts'

export interface KafkajsProducerSettings {
  /** `host:port`, with commas between. */
  readonly bootstrap: string
  readonly topic: string
  readonly recordsPerBatch: number
  readonly pauseMs: number
}

/** The idempotent producer of kafkajs, one request at a time, which is all that it can. */
export async function startKafkajsProducer(settings: KafkajsProducerSettings): Promise<LoadProducer> {
  const { topic, recordsPerBatch: count } = settings
  const { Kafka, logLevel } = kafkajs
  const kafka = new Kafka({
    ...{ clientId: 'e2e', brokers: settings.bootstrap.split(','), logLevel: logLevel.NOTHING },
    ...{ requestTimeout: 5000, retry: { retries: 10_000, initialRetryTime: 100, maxRetryTime: 500 } },
  })
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  const name = `${topic}-kafkajs`
  const history: ProducerHistory = { name, log: logName(topic), idempotent: true, acknowledged: [], sent: 0 }
  const refusals: string[] = []
  let stopping = false
  const run = async () => {
    while (!stopping) {
      const first = history.sent
      history.sent += count
      const values = Array.from({ length: count }, (_, index) => recordValue(name, first + index))
      try {
        const answers = await producer.send({ topic, messages: values.map((value) => ({ partition: 0, value })) })
        const answeredAtMs = performance.now()
        history.acknowledged.push({ first, count, offset: Number(answers[0]?.baseOffset), answeredAtMs })
      } catch (error) {
        if (!(error instanceof Error)) throw error
        refusals.push(`${name}: records from ${first}: ${error.name} ${error.message}`)
        return // what follows would take the numbers of these
      }
      await sleep(settings.pauseMs)
    }
  }
  const done = run()
  done.catch(() => undefined) // for whoever stops it
  return {
    history,
    refusals,
    retries: new Map(), // the client keeps them to itself
    async stop(timeoutMs) {
      stopping = true
      const late = new AbortController()
      const timeout = sleep(timeoutMs, 'late' as const, { signal: late.signal }).catch(() => undefined)
      const first = await Promise.race([done, timeout])
      late.abort()
      await producer.disconnect()
      if (first === 'late') throw new Error(`${name}: no answer for ${timeoutMs} ms after the load`)
    },
  }
}
