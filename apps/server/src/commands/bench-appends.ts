import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchStream } from './bench-target.ts'
import { CommandFailure } from './command-failure.ts'

export interface AppendLoad {
  readonly recordBytes: number
  readonly seconds: number
  readonly inFlight: number
  readonly recordsPerRequest: number
  readonly streams: number
  readonly warmupSeconds: number
  readonly targetMibPerSecond: number | null
}

/** Of what was acknowledged within the time that counts. */
export interface AppendFigures {
  readonly seconds: number
  readonly requests: number
  readonly records: number
  readonly bytes: number
  readonly recordsPerSecond: number
  readonly mibPerSecond: number
  readonly latencyMs: LatencyMs
}

export interface LatencyMs {
  readonly mean: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

export interface SecondFigures {
  readonly second: number
  readonly warmup: boolean
  readonly recordsPerSecond: number
  readonly mibPerSecond: number
  readonly latencyMs: LatencyMs
}

/** Keeps so many requests under way. The first failure ends it: figures of a server that refuses would say nothing. */
export async function appendUnderLoad(
  streams: readonly BenchStream[],
  load: AppendLoad,
  onSecond: (second: SecondFigures) => Promise<void>,
  signal: AbortSignal,
): Promise<AppendFigures> {
  const stop = new AbortController()
  const ended = AbortSignal.any([signal, stop.signal])
  const counts = new Counts()
  const pace = new Pace(load)
  const requestBytes = load.recordBytes * load.recordsPerRequest
  const workers = Array.from({ length: load.inFlight }, async (_, worker) => {
    for (let turn = worker; !ended.aborted; turn += load.inFlight) {
      await pace.next(requestBytes)
      if (ended.aborted) return
      const begunNs = process.hrtime.bigint()
      await (streams[turn % streams.length] as BenchStream).append()
      counts.add(load.recordsPerRequest, requestBytes, process.hrtime.bigint() - begunNs)
    }
  })
  const failed = Promise.all(workers).then(() => undefined)
  const measured = measure(counts, load, onSecond, ended)
  try {
    await Promise.race([failed, measured])
    return await measured
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof Error ? new CommandFailure(`an append failed: ${error.message}`) : error
  } finally {
    stop.abort()
    await Promise.allSettled([failed, measured])
  }
}

async function measure(
  counts: Counts,
  load: AppendLoad,
  onSecond: (second: SecondFigures) => Promise<void>,
  signal: AbortSignal,
): Promise<AppendFigures> {
  let begunMs = performance.now()
  for (let second = 1 - load.warmupSeconds; second <= load.seconds; second++) {
    const fromMs = performance.now()
    await sleep(1000, undefined, { signal })
    const { recordsPerSecond, mibPerSecond, latencyMs } = figures(counts.takeSecond(), performance.now() - fromMs)
    await onSecond({ second, warmup: second < 1, recordsPerSecond, mibPerSecond, latencyMs })
    if (second === 0) {
      counts.takeAll()
      begunMs = performance.now()
    }
  }
  return figures(counts.takeAll(), performance.now() - begunMs)
}

interface Counted {
  requests: number
  records: number
  bytes: number
  readonly latencyNs: RecordableHistogram
}

const nothing = (): Counted => ({ requests: 0, records: 0, bytes: 0, latencyNs: createHistogram() })

class Counts {
  #second = nothing()
  #all = nothing()

  add(records: number, bytes: number, latencyNs: bigint): void {
    for (const counted of [this.#second, this.#all]) {
      counted.requests++
      counted.records += records
      counted.bytes += bytes
      counted.latencyNs.record(latencyNs)
    }
  }

  takeSecond(): Counted {
    const taken = this.#second
    this.#second = nothing()
    return taken
  }

  takeAll(): Counted {
    const taken = this.#all
    this.#all = nothing()
    return taken
  }
}

function figures({ requests, records, bytes, latencyNs }: Counted, durationMs: number): AppendFigures {
  const seconds = durationMs / 1000
  const ms = (percentile: number) => (requests === 0 ? 0 : latencyNs.percentile(percentile) / 1e6)
  return {
    seconds,
    requests,
    records,
    bytes,
    recordsPerSecond: records / seconds,
    mibPerSecond: bytes / 2 ** 20 / seconds,
    latencyMs: {
      mean: requests === 0 ? 0 : latencyNs.mean / 1e6,
      ...{ p50: ms(50), p95: ms(95), p99: ms(99), p999: ms(99.9), max: requests === 0 ? 0 : latencyNs.max / 1e6 },
    },
  }
}

/** No faster than the load says. */
class Pace {
  readonly #bytesPerMs: number
  #freeAtMs = performance.now()

  constructor({ targetMibPerSecond }: AppendLoad) {
    this.#bytesPerMs = targetMibPerSecond === null ? Number.POSITIVE_INFINITY : (targetMibPerSecond * 2 ** 20) / 1000
  }

  async next(bytes: number): Promise<void> {
    if (this.#bytesPerMs === Number.POSITIVE_INFINITY) return
    const nowMs = performance.now()
    const waitMs = this.#freeAtMs - nowMs
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + bytes / this.#bytesPerMs
    if (waitMs > 0) await sleep(waitMs)
  }
}
