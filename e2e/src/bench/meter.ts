import { percentile } from '../percentile.ts'
import { cpuSeconds } from '../process-usage.ts'

export interface Latencies {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** What a load has seen between `begin` and `end`. */
export interface Metered {
  readonly seconds: number
  /** Requests answered. */
  readonly completed: number
  readonly latencyMs: Latencies
  /** Of one core. */
  readonly loadCpuShare: number
  readonly serverCpuShare: number
}

/** Counts answers and how long they took, and what the time cost the processors of this process and of the server. */
export class Meter {
  readonly #serverPid: number
  readonly #latencies: number[] = []
  #before: { readonly at: number; readonly own: NodeJS.CpuUsage; readonly serverSeconds: number } | null = null

  constructor(serverPid: number) {
    this.#serverPid = serverPid
  }

  get isMeasuring(): boolean {
    return this.#before !== null
  }

  get completed(): number {
    return this.#latencies.length
  }

  begin(): void {
    this.#before = { at: performance.now(), own: process.cpuUsage(), serverSeconds: cpuSeconds(this.#serverPid) }
  }

  /** An answer came to what was sent at `sentAt`, of `performance.now()`. */
  note(sentAt: number): void {
    if (this.#before !== null) this.#latencies.push(performance.now() - sentAt)
  }

  end(): Metered {
    const before = this.#before
    if (before === null) throw new Error('nothing is being measured')
    this.#before = null
    const seconds = (performance.now() - before.at) / 1000
    const own = process.cpuUsage(before.own)
    const ascending = this.#latencies.sort((a, b) => a - b)
    return {
      seconds,
      completed: ascending.length,
      latencyMs: {
        p50: percentile(ascending, 0.5),
        p99: percentile(ascending, 0.99),
        max: ascending.at(-1) ?? Number.NaN,
      },
      loadCpuShare: (own.user + own.system) / 1e6 / seconds,
      serverCpuShare: (cpuSeconds(this.#serverPid) - before.serverSeconds) / seconds,
    }
  }
}
