import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { HttpObserver } from '../../server/observer.ts'
import { httpMetrics } from './http-metrics.ts'
import { type KafkaTraffic, kafkaMetrics } from './kafka-metrics.ts'
import { type LogFigures, logMetrics } from './log-metrics.ts'
import { type StoreFigures, storeMetrics } from './store-metrics.ts'

/**
 * What a server tells Prometheus. Labels are protocols, APIs, routes, classes of status and names of errors: nothing that grows with
 * streams, groups or clients.
 */
export interface ServerMetrics {
  readonly kafka: KafkaTraffic
  /** For a listener of that protocol: `pico`, `ds`, `schema-registry`. */
  http(protocol: string): HttpObserver
  /** Whose figures are told from now on. */
  watchLog(log: { readonly stats: LogFigures }): void
  /** Of a store over the network, by the flag that names it: `storage`, `wal`. */
  watchStore(name: string, figures: () => StoreFigures): void
  readonly contentType: string
  /** In the text format of Prometheus. */
  text(): Promise<string>
}

export interface ServerFacts {
  readonly version: string
  readonly nodeId: number
  /** Whether requests are served: 1 or 0 in `pico_ready`. */
  isServing(): boolean
}

export function createServerMetrics({ version, nodeId, isServing }: ServerFacts): ServerMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'pico_info',
    help: 'Which server this is: always 1',
    labelNames: ['version', 'node_id'],
    registers: [registry],
  }).set({ version, node_id: String(nodeId) }, 1)
  new Gauge({
    name: 'pico_serving',
    help: '1 while requests are served: not while starting, draining or fenced',
    registers: [registry],
    collect() {
      this.set(isServing() ? 1 : 0)
    },
  })
  let log: { readonly stats: LogFigures } | null = null
  logMetrics(registry, () => log?.stats ?? null)
  const stores = new Map<string, () => StoreFigures>()
  storeMetrics(registry, stores)
  return {
    kafka: kafkaMetrics(registry),
    http: httpMetrics(registry),
    watchLog(watched) {
      log = watched
    },
    watchStore(name, figures) {
      stores.set(name, figures)
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
  }
}
