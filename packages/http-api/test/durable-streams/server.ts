import { openLog, systemClock } from '@pico/log'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { openMemoryStore } from '@pico/storage/memory'
import { openStreams, type PathStream, recordBatchEntries, type Streams } from '@pico/streams'
import { durableStreamsService } from '../../src/durable-streams/service.ts'
import type { DurableStreamsSettings } from '../../src/durable-streams/settings.ts'
import { openHttpServer } from '../../src/server/http-server.ts'
import { silentHttpObserver } from '../../src/server/observer.ts'
import { defaultHttpServerSettings } from '../../src/server/settings.ts'
import type { Logger } from '../../src/server/surroundings.ts'
import { PrefixJudge } from '../prefix-judge.ts'

export interface TestServer {
  readonly url: string
  readonly port: number
  readonly streams: Streams
  readonly schemas: PrefixJudge
  /** Who waits at a tail, or is sent events. */
  readonly liveReaders: number
  readonly connections: number
  /** What was logged as a warning or an error. */
  readonly complaints: readonly string[]
  request(method: string, path: string, headers?: Record<string, string>, body?: string | Uint8Array): Promise<Response>
  stream(name: string): Promise<PathStream>
  close(): Promise<void>
}

/** A whole system in memory, behind a listener of Durable Streams. */
export async function openTestServer(
  settings: Partial<DurableStreamsSettings & { bodyBytesMax: number }> = {},
): Promise<TestServer> {
  const { bodyBytesMax = 1024 * 1024, ...durableStreams } = settings
  const clock = systemClock
  const store = openMemoryStore()
  const metadata = await openSqliteMetadata({ path: ':memory:' })
  const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, clock.nowMs())
  const log = await openLog(
    { store, wal: { kind: 'local', store }, metadata, node, clock, format: recordBatchEntries },
    { segmentBytes: 4 * 1024 * 1024 },
  )
  const schemas = new PrefixJudge(metadata)
  const clusterId = await metadata.nodes.clusterId()
  const streams = await openStreams({ log, metadata, node, clusterId, clock, schemas }, {})
  const complaints: string[] = []
  const complain = (fields: object, message: string) => {
    complaints.push(`${message} ${JSON.stringify(fields)} ${'err' in fields ? String(fields.err) : ''}`)
  }
  const logger: Logger = { debug() {}, info() {}, warn: complain, error: complain }
  let liveReaders = 0
  const observer = {
    ...silentHttpObserver,
    liveReaderOpened: () => void liveReaders++,
    liveReaderClosed: () => void liveReaders--,
  }
  const service = durableStreamsService(
    { streams: streams.paths, schemas, clock, observer, random: Math.random },
    { longPollTimeoutMs: 400, ...durableStreams },
  )
  const listener = await openHttpServer(
    service,
    { clock, log: logger, room: streams },
    { ...defaultHttpServerSettings, host: '127.0.0.1', port: 0, bodyBytesMax },
  )
  const url = `http://127.0.0.1:${listener.port}`
  return {
    url,
    port: listener.port,
    streams,
    schemas,
    complaints,
    get connections() {
      return listener.connections
    },
    get liveReaders() {
      return liveReaders
    },
    request: (method, path, headers = {}, body) =>
      fetch(`${url}${path}`, { method, headers, body: body === undefined ? null : Buffer.from(body) }),
    async stream(name) {
      const stream = await streams.paths.open(name)
      if (typeof stream === 'string' || 'kind' in stream)
        throw new Error(`no stream ${name}: ${JSON.stringify(stream)}`)
      return stream
    },
    async close() {
      await listener.close(0)
      await streams.close()
      await log.close()
      await metadata.close()
    },
  }
}

export interface SseEvent {
  readonly event: string
  readonly data: string
}

export interface Control {
  readonly streamNextOffset: string
  readonly streamCursor?: string
  readonly upToDate?: true
  readonly streamClosed?: true
}

/** The events of a connection, read as WHATWG HTML 9.2.6 has it, until it ends or `isEnough`. */
export async function readEvents(
  response: Response,
  isEnough: (events: readonly SseEvent[]) => boolean = () => false,
): Promise<SseEvent[]> {
  const events: SseEvent[] = []
  let text = ''
  const decoder = new TextDecoder()
  if (response.body === null) return events
  for await (const chunk of response.body) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      const field = (name: string) =>
        lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''))
      if (field('data').length > 0) events.push({ event: field('event').at(-1) ?? '', data: field('data').join('\n') })
    }
    if (isEnough(events)) break
  }
  return events
}

export function controlsOf(events: readonly SseEvent[]): Control[] {
  return events.filter(({ event }) => event === 'control').map(({ data }) => JSON.parse(data) as Control)
}

export function dataOf(events: readonly SseEvent[]): string[] {
  return events.filter(({ event }) => event === 'data').map(({ data }) => data)
}
