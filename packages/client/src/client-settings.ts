import type { RetrySettings } from './retry-schedule.ts'
import { Transport } from './transport.ts'

export interface ClientSettings {
  /** `http://127.0.0.1:4437`. */
  readonly endpoint: string
  /** A bearer token; also sent to the servers of the cluster that the endpoint redirects to. */
  readonly token?: string | null
  /** HTTP/2: on http: by prior knowledge, on https: where the server has it. Default false. */
  readonly http2?: boolean
  /** Connections to a server for appends and reads, producers not counted. Default: as many as there are calls at a time. */
  readonly connectionsMax?: number | null
  /** Default 10,000. */
  readonly connectTimeoutMs?: number
  /** Default 30,000; live reads have longer. */
  readonly answerTimeoutMs?: number
  readonly retry?: RetrySettings
}

export function openTransport(settings: ClientSettings): Transport {
  return new Transport({
    token: null,
    http2: false,
    connectionsMax: null,
    connectTimeoutMs: 10_000,
    answerTimeoutMs: 30_000,
    retry: {},
    ...settings,
  })
}
