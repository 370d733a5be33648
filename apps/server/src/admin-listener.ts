import {
  type AdminBackend,
  createServerMetrics,
  type HttpListener,
  listenAdmin,
  openApiDocument,
  Readiness,
  type ServerMetrics,
} from '@pico/http-api'
import type { GroupReader } from '@pico/kafka-api'
import { systemClock } from '@pico/log'
import type { Metadata } from '@pico/metadata'
import type { Membership, Streams } from '@pico/streams'
import type { Logger } from 'pino'
import { formatHostPort, type HostPort } from './host-port.ts'
import type { ServerConfig } from './serve-config.ts'
import { listening } from './startup-problems.ts'
import { version } from './version.ts'

/** What tells the outside how the server is; there from the first moment, also while there is nothing else yet. */
export interface Watch {
  readonly readiness: Readiness
  readonly metrics: ServerMetrics
  /** Null with --no-admin. */
  readonly listener: HttpListener | null
  /** From now on the admin API shows this. */
  show(backend: AdminBackend, picoUrl: string | null): void
}

/** Serves health, metrics and the admin API. @throws StartupError */
export async function openWatch({ admin, nodeId }: ServerConfig, log: Logger): Promise<Watch> {
  const readiness = new Readiness(systemClock)
  const metrics = createServerMetrics({
    version: version(),
    nodeId,
    isServing: () => readiness.state === 'serving',
  })
  let backend: AdminBackend | null = null
  let picoUrl: string | null = null
  let listener: HttpListener | null = null
  if (admin !== null) {
    const openapi = () =>
      openApiDocument({
        version: version(),
        adminUrl: urlOf(listener === null ? admin.listen : { host: listener.host, port: listener.port }),
        picoUrl,
      })
    listener = await listening('admin-listen', admin.listen, () =>
      listenAdmin({ clock: systemClock, log, readiness, metrics, backend: () => backend, openapi }, admin.listen),
    )
  }
  return {
    readiness,
    metrics,
    listener,
    show(shown, shownPicoUrl) {
      backend = shown
      picoUrl = shownPicoUrl
    },
  }
}

export interface Shown {
  readonly streams: Streams
  readonly metadata: Metadata
  readonly membership: Membership
  /** No other process has this database. */
  readonly isAlone: boolean
  readonly groups: GroupReader | null
  readonly readiness: Readiness
  readonly httpAddress: string | null
  readonly kafkaAddress: string | null
}

/** What the admin API shows and changes. */
export function adminBackend(shown: Shown): AdminBackend {
  const { streams, metadata, membership, isAlone, groups, readiness, httpAddress, kafkaAddress } = shown
  return {
    node: membership.node,
    streams,
    directory: metadata,
    groups,
    advertisedAddress: httpAddress,
    kafkaAddress,
    isAlone,
    isFenced: () => membership.isOver || readiness.state === 'fenced',
  }
}

export function urlOf(where: HostPort): string {
  return `http://${formatHostPort(where)}`
}
