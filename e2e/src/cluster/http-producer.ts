import { setTimeout as sleep } from 'node:timers/promises'
import { type HttpAnswer, numberIn } from '../cross/http-call.ts'
import { logName, type ProducerHistory, recordValue } from '../durability/history.ts'
import { type LoadState, startLoop } from '../durability/load-loop.ts'
import type { LoadProducer } from '../durability/producer.ts'
import { ConnectionLostError } from '../raw-kafka.ts'
import type { HttpRoutes } from './http-routes.ts'

export interface HttpProducerSettings {
  readonly routes: HttpRoutes
  /** Path of the stream, and the topic that it is. */
  readonly path: string
  readonly topic: string
  readonly name: string
  /** By the headers Pico-Producer-…; else a request that may have been carried out is repeated all the same. */
  readonly idempotent: boolean
  readonly recordsPerBatch: number
  readonly pauseMs: number
  readonly timeoutMs: number
}

/** Appends batches over the Pico protocol, one request at a time, each repeated until it is acknowledged. */
export function startHttpProducer(settings: HttpProducerSettings): LoadProducer {
  const { routes, path, name, idempotent, recordsPerBatch: count } = settings
  const history: ProducerHistory = { name, log: logName(settings.topic), idempotent, acknowledged: [], sent: 0 }
  const refusals: string[] = []
  const retries = new Map<string, number>()
  const state: LoadState = { isStopping: false, isAbandoned: false }

  const append = (first: number): Promise<HttpAnswer | ConnectionLostError> => {
    const records = Array.from({ length: count }, (_, index) => ({ body: recordValue(name, first + index) }))
    const headers: Record<string, string> = { 'Content-Type': 'application/vnd.picomq.batch+json' }
    if (idempotent) {
      const stamp = { 'Pico-Producer-Id': name, 'Pico-Producer-Epoch': '0', 'Pico-Producer-Seq': `${first}` }
      Object.assign(headers, stamp)
    }
    const { timeoutMs } = settings
    const call = { method: 'POST', target: path, headers, body: JSON.stringify({ records }), timeoutMs }
    return routes.ask(call).catch((error: unknown) => {
      if (error instanceof ConnectionLostError) return error
      throw error
    })
  }

  const run = async () => {
    while (!state.isStopping) {
      const first = history.sent
      history.sent += count
      while (!state.isAbandoned) {
        const answer = await append(first)
        if (answer instanceof ConnectionLostError) {
          retries.set('no answer', (retries.get('no answer') ?? 0) + 1)
        } else if (answer.status === 200) {
          // Of a repetition it is told only where it ends.
          const offset = numberIn(answer, 'pico-next-seq') - count
          history.acknowledged.push({ first, count, offset, answeredAtMs: performance.now() })
          break
        } else if (isPassing(answer)) {
          retries.set(`${answer.status}`, (retries.get(`${answer.status}`) ?? 0) + 1)
        } else {
          refusals.push(`${name}: records from ${first}: ${answer.status} ${answer.body}`)
          if (idempotent) return // what follows would be refused as well
          break
        }
        await sleep(50)
      }
      await sleep(settings.pauseMs)
    }
  }
  return {
    history,
    refusals,
    retries,
    ...startLoop(name, state, run),
  }
}

/** Says that nothing was written, and that it may be asked again. */
export function isPassing({ status, body }: HttpAnswer): boolean {
  return status === 503 || (status === 409 && JSON.parse(body.toString()).error === 'not_owner')
}
