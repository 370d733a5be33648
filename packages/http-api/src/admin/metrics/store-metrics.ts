import { Counter, type Registry } from 'prom-client'

/** What a store over the network counts; see S3Counts of @pico/storage. */
export interface StoreFigures {
  readonly retries: number
  readonly throttled: number
  readonly hedges: number
  /** Requests by what they ask for, a handful of kinds. */
  readonly byOperation: Readonly<Record<string, number>>
}

const counters: readonly (readonly [keyof Omit<StoreFigures, 'byOperation'>, name: string, help: string])[] = [
  ['retries', 'pico_store_retries_total', 'Requests that were sent again after they had failed'],
  ['throttled', 'pico_store_throttled_total', 'Requests that the store refused because there were too many'],
  ['hedges', 'pico_store_hedges_total', 'Reads that were sent a second time because the first was slow'],
]

/** `stores` are asked when somebody looks, each by the flag that names it. */
export function storeMetrics(registry: Registry, stores: ReadonlyMap<string, () => StoreFigures>): void {
  const registers = [registry]
  new Counter({
    name: 'pico_store_requests_total',
    help: 'Requests sent to the store, those sent again included',
    labelNames: ['store', 'operation'],
    registers,
    collect() {
      this.reset()
      for (const [store, figures] of stores) {
        for (const [operation, count] of Object.entries(figures().byOperation)) this.inc({ store, operation }, count)
      }
    },
  })
  for (const [figure, name, help] of counters) {
    new Counter({
      name,
      help,
      labelNames: ['store'],
      registers,
      collect() {
        this.reset()
        for (const [store, figures] of stores) this.inc({ store }, figures()[figure])
      },
    })
  }
}
