import { setTimeout as sleep } from 'node:timers/promises'
import { type HttpCall, numberIn } from '../cross/http-call.ts'
import { contentOf, logName, type ProducerHistory, recordValue } from '../durability/history.ts'
import { type LoadState, startLoop } from '../durability/load-loop.ts'
import type { LoadProducer } from '../durability/producer.ts'
import { ConnectionLostError } from '../raw-kafka.ts'
import { isPassing } from './http-producer.ts'
import { readAllOverHttp } from './http-reader.ts'
import type { HttpRoutes, RoutedAnswer } from './http-routes.ts'

export interface MortalStreamSettings {
  readonly routes: HttpRoutes
  /** Its name, and the topic's that it is. */
  readonly topic: string
  readonly recordsPerBatch: number
  readonly batchesPerLife: number
  readonly pauseMs: number
  readonly timeoutMs: number
  /** How long a request that was lost may still be on its way to be done: the next life begins after that. */
  readonly lostForMs: number
}

export interface MortalStream extends LoadProducer {
  /** Begun so far. */
  readonly lives: number
}

/** An answer, and whether requests before it were lost: what they asked for may have been done. */
interface Outcome {
  readonly answer: RoutedAnswer
  readonly mayBeRepeated: boolean
}

/**
 * Creates a stream, writes to it, reads it and deletes it, over and over under one name and as one producer, whose sequence numbers begin
 * anew each time. Nothing of one life is left in the next, no node has a stream after its deletion was acknowledged, and none loses one
 * before. The last life is left as it is, and its history is the producer's.
 */
export function startMortalStream(settings: MortalStreamSettings): MortalStream {
  const { routes, topic, recordsPerBatch, batchesPerLife, pauseMs, timeoutMs, lostForMs } = settings
  const path = `/${topic}`
  const breaches: string[] = []
  const retries = new Map<string, number>()
  const state: LoadState = { isStopping: false, isAbandoned: false }
  let lives = 0
  let history = newLife()
  let lostAtMs = Number.NEGATIVE_INFINITY

  function newLife(): ProducerHistory {
    return { name: `${topic}-${++lives}`, log: logName(topic), idempotent: true, acknowledged: [], sent: 0 }
  }

  const isRetried = (why: string) => retries.set(why, (retries.get(why) ?? 0) + 1)

  /** Until there is an answer that is one. */
  async function asked(call: Omit<HttpCall, 'target' | 'timeoutMs'>): Promise<Outcome> {
    for (let mayBeRepeated = false; !state.isAbandoned; await sleep(50)) {
      try {
        const answer = await routes.ask({ ...call, target: path, timeoutMs })
        if (!isPassing(answer)) return { answer, mayBeRepeated }
        isRetried(`${answer.status}`)
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error
        mayBeRepeated = true
        lostAtMs = performance.now()
        isRetried('no answer')
      }
    }
    throw new Error(`${topic} was given up`)
  }

  function expectStatus(what: string, { answer, mayBeRepeated }: Outcome, status: number, repeated = status): void {
    if (answer.status === status || (mayBeRepeated && answer.status === repeated)) return
    breaches.push(`${history.name}: ${what}: ${answer.status} ${answer.body} by ${answer.url}`)
  }

  async function append(): Promise<void> {
    const first = history.sent
    history.sent += recordsPerBatch
    const records = Array.from({ length: recordsPerBatch }, (_, at) => ({
      body: recordValue(history.name, first + at),
    }))
    const headers = {
      'Content-Type': 'application/vnd.picomq.batch+json',
      ...{ 'Pico-Producer-Id': topic, 'Pico-Producer-Epoch': '0', 'Pico-Producer-Seq': `${first}` },
    }
    const outcome = await asked({ method: 'POST', headers, body: JSON.stringify({ records }) })
    expectStatus(`records from ${first}`, outcome, 200)
    if (outcome.answer.status !== 200) return
    const offset = numberIn(outcome.answer, 'pico-next-seq') - recordsPerBatch
    history.acknowledged.push({ first, count: recordsPerBatch, offset, answeredAtMs: performance.now() })
  }

  async function expectWhole(): Promise<void> {
    const read = await readAllOverHttp(routes, path)
    const expected = Array.from(
      { length: history.sent },
      (_, at) => `${at} ${contentOf(recordValue(history.name, at))}`,
    )
    const found = read.map(({ offset, content }) => `${offset} ${content}`)
    if (found.join() !== expected.join()) breaches.push(`${history.name}: has ${found.join()}`)
  }

  async function patiently(work: () => Promise<void>): Promise<void> {
    while (!state.isAbandoned) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error
        await sleep(50)
      }
    }
  }

  const run = async () => {
    for (;;) {
      expectStatus('creation', await asked({ method: 'PUT' }), 201, 200)
      for (let batch = 0; batch < batchesPerLife; batch++) {
        await append()
        await sleep(pauseMs)
      }
      await patiently(expectWhole)
      if (state.isStopping) return
      expectStatus('deletion', await asked({ method: 'DELETE' }), 204, 404)
      expectStatus('after deletion', await asked({ method: 'GET' }), 404)
      await sleep(Math.max(0, lostAtMs + lostForMs - performance.now()))
      history = newLife()
    }
  }

  return {
    get history() {
      return history
    },
    get lives() {
      return lives
    },
    refusals: breaches,
    retries,
    ...startLoop(topic, state, run),
  }
}
