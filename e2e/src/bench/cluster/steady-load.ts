import { setTimeout as sleep } from 'node:timers/promises'
import type { AppendingClient } from './outcome.ts'

/** An append that was acknowledged, by `performance.now()`; asked first, however often it had to be asked. */
export interface Append {
  readonly askedAtMs: number
  readonly acknowledgedAtMs: number
}

/** What the writer of one stream saw. */
export interface StreamHistory {
  readonly stream: string
  readonly protocol: AppendingClient['protocol']
  readonly appends: readonly Append[]
}

export interface SteadyLoad {
  readonly histories: readonly StreamHistory[]
  /** Errors that passed, by name, with how often they came. */
  readonly passing: ReadonlyMap<string, number>
  /** Errors that no client retries. */
  readonly refused: readonly string[]
  /** Lets every append at hand be acknowledged. @throws Error when one is not in time */
  stop(timeoutMs: number): Promise<void>
}

/** What a client waits after an error before it asks again. */
const backoffMs = 50

/** Appends to every stream at intervals, one append at a time to each, repeated until it is acknowledged; begins spread over an interval. */
export function startSteadyLoad(
  streams: readonly { readonly stream: string; readonly client: AppendingClient }[],
  intervalMs: number,
): SteadyLoad {
  const passing = new Map<string, number>()
  const refused: string[] = []
  const stopping = new AbortController()
  let isAbandoned = false

  const write = async (stream: string, client: AppendingClient, appends: Append[], firstMs: number) => {
    for (let dueMs = firstMs; !stopping.signal.aborted; ) {
      const waitMs = dueMs - performance.now()
      if (waitMs > 0) await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (stopping.signal.aborted) return
      const askedAtMs = performance.now()
      while (!isAbandoned) {
        const outcome = await client.append(stream)
        if (outcome.kind === 'acknowledged') {
          appends.push({ askedAtMs, acknowledgedAtMs: performance.now() })
          break
        }
        if (outcome.kind === 'refused') {
          refused.push(`${client.protocol} ${stream}: ${outcome.error}`)
          break
        }
        const name = `${client.protocol}: ${outcome.error}`
        passing.set(name, (passing.get(name) ?? 0) + 1)
        if (!outcome.isLed) await sleep(backoffMs)
      }
      // Who is late does not catch up: the rate is a ceiling.
      dueMs = Math.max(dueMs + intervalMs, performance.now())
    }
  }

  const startMs = performance.now()
  const histories: StreamHistory[] = []
  const writers = streams.map(({ stream, client }, index) => {
    const appends: Append[] = []
    histories.push({ stream, protocol: client.protocol, appends })
    return write(stream, client, appends, startMs + (index / streams.length) * intervalMs)
  })
  const done = Promise.all(writers)
  done.catch(() => undefined) // for whoever stops it
  return {
    histories,
    passing,
    refused,
    async stop(timeoutMs) {
      stopping.abort()
      const late = setTimeout(() => {
        isAbandoned = true
      }, timeoutMs)
      await done.finally(() => clearTimeout(late))
      if (isAbandoned) throw new Error(`appends were not acknowledged within ${timeoutMs} ms of the end of the load`)
    },
  }
}
