import { setTimeout as sleep } from 'node:timers/promises'
import { PicoClient } from '@pico/client'
import { contentOf, logName, type ProducerHistory, type ReaderHistory, recordValue } from '../durability/history.ts'
import type { LoadProducer } from '../durability/producer.ts'
import type { TailReader } from '../durability/reader.ts'

export interface PicoClientSettings {
  /** The one node that it knows: it is away at times, and what it redirects to is remembered. */
  readonly endpoint: string
  readonly topic: string
}

/** The producer of @pico/client, with its batches and its five requests under way. */
export function startPicoClientProducer(settings: PicoClientSettings & { readonly pauseMs: number }): LoadProducer {
  const { endpoint, topic, pauseMs } = settings
  const name = `${topic}-client`
  const client = new PicoClient({ endpoint, answerTimeoutMs: 6000 })
  const producer = client.stream(`/${topic}`).producer({ id: name })
  const history: ProducerHistory = { name, log: logName(topic), idempotent: true, acknowledged: [], sent: 0 }
  const refusals: string[] = []
  let stopping = false
  const run = async () => {
    while (!stopping) {
      const first = history.sent
      const { acknowledged } = await producer.append(recordValue(name, first))
      history.sent++
      acknowledged.then(
        (offset) => {
          if (offset === null) refusals.push(`${name}: record ${first} is acknowledged without its place`)
          else history.acknowledged.push({ first, count: 1, offset, answeredAtMs: performance.now() })
        },
        (error: unknown) => refusals.push(`${name}: record ${first}: ${error}`),
      )
      if (first % 5 === 4) await sleep(pauseMs)
    }
  }
  const done = run()
  done.catch((error: unknown) => refusals.push(`${name}: ${error}`))
  return {
    history,
    refusals,
    retries: new Map(), // the client keeps them to itself
    async stop(timeoutMs) {
      stopping = true
      await done.catch(() => undefined) // in `refusals`
      try {
        await producer.close({ signal: AbortSignal.timeout(timeoutMs) })
      } finally {
        await client.close()
      }
    },
  }
}

/** The tail of @pico/client, by server-sent events. It tells nothing of ends. */
export function startPicoClientReader({ endpoint, topic }: PicoClientSettings): TailReader {
  const client = new PicoClient({ endpoint, answerTimeoutMs: 6000 })
  const history: ReaderHistory = {
    ...{ name: `reader of ${topic} by server-sent events`, log: logName(topic), seen: [], ends: [] },
  }
  const refusals: string[] = []
  const left = new AbortController()
  const run = async () => {
    try {
      for await (const { seq, text } of client
        .stream(`/${topic}`)
        .tail({ from: 0, live: 'sse', signal: left.signal })) {
        history.seen.push({ offset: seq, content: contentOf(text ?? 'null') })
      }
    } catch (error) {
      if (!left.signal.aborted) refusals.push(`${history.name} at ${history.seen.length}: ${error}`)
    }
  }
  const done = run()
  return {
    history,
    refusals,
    async stop() {
      left.abort()
      await done
      await client.close()
    },
  }
}
