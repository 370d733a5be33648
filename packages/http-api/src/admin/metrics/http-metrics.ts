import { Counter, Gauge, type Registry } from 'prom-client'
import type { HttpObserver } from '../../server/observer.ts'
import { ByKey, DurationHistogram } from './duration-histogram.ts'

/** An observer for the listeners that serve streams over HTTP, by the name of their protocol. */
export function httpMetrics(registry: Registry): (protocol: string) => HttpObserver {
  const registers = [registry]
  const durations = new DurationHistogram(
    registry,
    'pico_http_request_duration_seconds',
    'From the head of an HTTP request to the end of its answer; of a live read, to where it begins to wait',
  )
  const counts = new Map<string, { readonly labels: Record<string, string>; count: number }>()
  new Counter({
    name: 'pico_http_requests_total',
    help: 'Answered HTTP requests by route and class of status',
    labelNames: ['protocol', 'route', 'status'],
    registers,
    collect() {
      this.reset()
      for (const { labels, count } of counts.values()) this.inc(labels, count)
    },
  })
  const connections = new Gauge({
    name: 'pico_http_connections',
    help: 'Open HTTP connections',
    labelNames: ['protocol'],
    registers,
  })
  const readers = new Gauge({
    name: 'pico_http_live_readers',
    help: 'HTTP readers that wait at the tail of a stream or are fed by events',
    labelNames: ['protocol', 'kind'],
    registers,
  })

  const observers = new ByKey((protocol): HttpObserver => {
    const byRoute = new ByKey((route) => durations.line({ protocol, route }))
    connections.set({ protocol }, 0)
    for (const kind of ['long-poll', 'sse']) readers.set({ protocol, kind }, 0)
    return {
      connectionOpened: () => connections.inc({ protocol }),
      connectionClosed: () => connections.dec({ protocol }),
      requestAnswered(route, statusCode, latencyMs) {
        byRoute.get(route).observe(latencyMs)
        const status = `${Math.floor(statusCode / 100)}xx`
        const key = `${protocol} ${route} ${status}`
        const counted = counts.get(key)
        if (counted === undefined) counts.set(key, { labels: { protocol, route, status }, count: 1 })
        else counted.count++
      },
      liveReaderOpened: (kind) => readers.inc({ protocol, kind }),
      liveReaderClosed: (kind) => readers.dec({ protocol, kind }),
    }
  })
  return (protocol) => observers.get(protocol)
}
