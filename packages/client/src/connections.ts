import { Client, type Dispatcher, H2CClient, Pool } from 'undici'

export interface ConnectionSettings {
  /** HTTP/2: by prior knowledge on http:, by ALPN on https:. */
  readonly http2: boolean
  /** For requests that are not pipelined, at a time; null for as many as are needed. */
  readonly connectionsMax: number | null
  readonly connectTimeoutMs: number
}

/** How a request may share a connection. */
export type Sharing =
  /** Alone: undici repeats by itself what shares a connection with a request that failed, and this may not be repeated. */
  | { readonly kind: 'alone' }
  /** A read, which may be repeated, and may take long. */
  | { readonly kind: 'read' }
  /** In order with the others of its lane, on one connection. May be repeated. */
  | { readonly kind: 'lane'; readonly lane: number }

/** Lanes per server; producers share them, each staying in one. */
export const laneCount = 16

const pipelinedMax = 100

/** The connections to one server. */
export class OriginConnections {
  readonly #origin: string
  readonly #settings: ConnectionSettings
  readonly #alone: Dispatcher
  readonly #read: Dispatcher
  readonly #lanes = new Map<number, Dispatcher>()

  constructor(origin: string, settings: ConnectionSettings) {
    this.#origin = origin
    this.#settings = settings
    this.#alone = this.#pool()
    this.#read = settings.http2 ? this.#shared() : this.#alone
  }

  request(sharing: Sharing, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    if (sharing.kind === 'alone') return this.#alone.request({ ...options, idempotent: false })
    if (sharing.kind === 'read') return this.#read.request({ ...options, idempotent: true })
    let lane = this.#lanes.get(sharing.lane)
    if (lane === undefined) {
      lane = this.#shared()
      this.#lanes.set(sharing.lane, lane)
    }
    return lane.request({ ...options, idempotent: true, blocking: false })
  }

  async destroy(): Promise<void> {
    const dispatchers = new Set([this.#alone, this.#read, ...this.#lanes.values()])
    await Promise.all([...dispatchers].map((dispatcher) => dispatcher.destroy()))
  }

  /** A connection for each request that is under way. */
  #pool(): Dispatcher {
    const { connectionsMax } = this.#settings
    return new Pool(this.#origin, {
      connections: connectionsMax,
      factory: (origin) => this.#client(origin, 1),
    })
  }

  /** One connection for all. */
  #shared(): Dispatcher {
    return this.#client(this.#origin, pipelinedMax)
  }

  #client(origin: string | URL, pipelining: number): Dispatcher {
    const { http2, connectTimeoutMs } = this.#settings
    const url = new URL(origin)
    const connect = { timeout: connectTimeoutMs }
    if (http2 && url.protocol === 'http:')
      return new H2CClient(url, { pipelining, connect, connectTimeout: connectTimeoutMs })
    return new Client(url, { pipelining, allowH2: http2, connect })
  }
}
