import { setTimeout as sleep } from 'node:timers/promises'
import { type HttpAnswer, numberIn } from '../cross/http-call.ts'
import { contentOf, type LogRecord, logName, type ReaderHistory } from '../durability/history.ts'
import { type LoadState, startLoop } from '../durability/load-loop.ts'
import type { TailReader } from '../durability/reader.ts'
import { ConnectionLostError } from '../raw-kafka.ts'
import { isPassing } from './http-producer.ts'
import type { HttpRoutes } from './http-routes.ts'

export interface HttpReaderSettings {
  readonly routes: HttpRoutes
  /** Path of the stream, and the topic that it is. */
  readonly path: string
  readonly topic: string
  readonly timeoutMs: number
}

/** Follows a stream from its beginning with long polls, each to any node, and asks for its end in between. */
export function startHttpReader({ routes, path, topic, timeoutMs }: HttpReaderSettings): TailReader {
  const log = logName(topic)
  const history: ReaderHistory = { name: `HTTP reader of ${log}`, log, seen: [], ends: [] }
  const refusals: string[] = []
  const state: LoadState = { isStopping: false, isAbandoned: false }

  const ask = async (method: 'GET' | 'HEAD', target: string): Promise<void> => {
    const askedAtMs = performance.now()
    const answer = await routes.ask({ method, target, timeoutMs })
    const answeredAtMs = performance.now()
    if (method === 'GET' && isPassing(answer)) return
    if (method === 'HEAD' && answer.status === 503) return
    if (answer.status !== 200 && answer.status !== 204) {
      refusals.push(`${history.name}: ${method} ${target}: ${answer.status} ${answer.body}`)
      return
    }
    if (method === 'GET' && answer.status === 200) history.seen.push(...recordsOf(answer))
    const isEnd = method === 'HEAD' || answer.headers['pico-up-to-date'] === 'true'
    if (!isEnd) return
    const of = `${answer.url} (${method}, ${answer.status})`
    history.ends.push({ askedAtMs, answeredAtMs, offset: numberIn(answer, 'pico-next-seq'), of })
  }

  const run = async () => {
    for (let turn = 0; !state.isStopping; turn++) {
      const last = history.seen.at(-1)?.offset ?? -1
      try {
        if (turn % 4 === 3) await ask('HEAD', path)
        else await ask('GET', `${path}?seq=${last + 1}&live=long-poll`)
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error
      }
      await sleep(50)
    }
  }
  return {
    history,
    refusals,
    ...startLoop(history.name, state, run),
  }
}

/** All that a stream has, page by page. @throws ConnectionLostError when it may be asked for again */
export async function readAllOverHttp(routes: HttpRoutes, path: string): Promise<LogRecord[]> {
  const all: LogRecord[] = []
  for (;;) {
    const target = `${path}?seq=${all.length}`
    const answer = await routes.ask({ method: 'GET', target })
    if (isPassing(answer)) throw new ConnectionLostError(`GET ${target}: ${answer.status} ${answer.body}`)
    if (answer.status !== 200) throw new Error(`GET ${target}: ${answer.status} ${answer.body}`)
    const page = recordsOf(answer)
    all.push(...page)
    if (answer.headers['pico-up-to-date'] === 'true') return all
    if (page.length === 0) throw new Error(`GET ${target}: nothing, before the tail`)
  }
}

function recordsOf(answer: HttpAnswer): LogRecord[] {
  const page = JSON.parse(answer.body.toString()) as readonly { readonly seq: number; readonly body: string }[]
  return page.map(({ seq, body }) => ({ offset: seq, content: contentOf(body) }))
}
