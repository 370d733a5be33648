import { Counter, Gauge, type Registry } from 'prom-client'
import type { HttpObserver } from '../../server/observer.ts'
import { ByKey, DurationHistogram, type Durations } from './duration-histogram.ts'

interface RouteLine {
  readonly protocol: string
  readonly route: string
  readonly durations: Durations
  /** By the hundreds of the status: 1xx to 5xx. */
  readonly counts: number[]
}

/** An observer for the listeners that serve streams over HTTP, by the name of their protocol. */
export function httpMetrics(registry: Registry): (protocol: string) => HttpObserver {
  const registers = [registry]
  const durations = new DurationHistogram(
    registry,
    'pico_http_request_duration_seconds',
    'From the head of an HTTP request to the end of its answer; of a live read, to where it begins to wait',
  )
  const lines: RouteLine[] = []
  new Counter({
    name: 'pico_http_requests_total',
    help: 'Answered HTTP requests by route and class of status',
    labelNames: ['protocol', 'route', 'status'],
    registers,
    collect() {
      this.reset()
      for (const { protocol, route, counts } of lines) {
        for (const [hundreds, count] of counts.entries()) {
          if (count > 0) this.inc({ protocol, route, status: `${hundreds}xx` }, count)
        }
      }
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
    const byRoute = new ByKey((route) => {
      const line = { protocol, route, durations: durations.line({ protocol, route }), counts: [0, 0, 0, 0, 0, 0] }
      lines.push(line)
      return line
    })
    connections.set({ protocol }, 0)
    for (const kind of ['long-poll', 'sse']) readers.set({ protocol, kind }, 0)
    return {
      connectionOpened: () => connections.inc({ protocol }),
      connectionClosed: () => connections.dec({ protocol }),
      requestAnswered(route, statusCode, latencyMs) {
        const line = byRoute.get(route)
        line.durations.observe(latencyMs)
        line.counts[Math.floor(statusCode / 100)]!++
      },
      liveReaderOpened: (kind) => readers.inc({ protocol, kind }),
      liveReaderClosed: (kind) => readers.dec({ protocol, kind }),
    }
  })
  return (protocol) => observers.get(protocol)
}
