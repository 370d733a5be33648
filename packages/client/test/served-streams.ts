import { defaultHttpSettings, type HttpListener, type HttpSettings, listenHttp } from '@pico/http-api'
import { type Log, openLog, systemClock } from '@pico/log'
import type { Metadata } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { type FaultInjection, withFaults } from '@pico/storage/faults'
import { openMemoryStore } from '@pico/storage/memory'
import { openStreams, recordBatchEntries, type Streams } from '@pico/streams'

/** A whole system in memory behind a real listener, which can end and come back on the same port. */
export class ServedStreams {
  readonly store: ReturnType<typeof openMemoryStore> & FaultInjection = withFaults(openMemoryStore())
  readonly problems: string[] = []
  readonly #metadata: Metadata
  readonly #settings: Partial<HttpSettings>
  #log!: Log
  #streams!: Streams
  #listener!: HttpListener
  port = 0

  private constructor(metadata: Metadata, settings: Partial<HttpSettings>) {
    this.#metadata = metadata
    this.#settings = settings
  }

  static async open(settings: Partial<HttpSettings> = {}): Promise<ServedStreams> {
    const served = new ServedStreams(await openSqliteMetadata({ path: ':memory:' }), settings)
    await served.#start()
    return served
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async #start(): Promise<void> {
    const { store } = this
    const clock = systemClock
    const metadata = this.#metadata
    const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, clock.nowMs())
    this.#log = await openLog(
      { store, wal: { kind: 'local', store }, metadata, node, clock, format: recordBatchEntries },
      { segmentBytes: 1 << 23 },
    )
    const clusterId = await metadata.nodes.clusterId()
    this.#streams = await openStreams({ log: this.#log, metadata, node, clusterId, clock }, {})
    const problem = (fields: object, message: string) => {
      this.problems.push(`${message} ${JSON.stringify(fields)}`)
    }
    const log = { debug() {}, info() {}, warn() {}, error: problem }
    const settings = { ...defaultHttpSettings, longPollTimeoutMs: 300, sseKeepAliveMs: 200, ...this.#settings }
    this.#listener = await listenHttp(
      { streams: this.#streams, clock, log },
      { ...settings, host: '127.0.0.1', port: this.port },
    )
    this.port = this.#listener.port
  }

  async restart(pauseMs = 0): Promise<void> {
    await this.#stop()
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    await this.#start()
  }

  async #stop(): Promise<void> {
    await this.#listener.close(0)
    await this.#streams.close()
    await this.#log.close()
  }

  async close(): Promise<void> {
    await this.#stop()
    await this.#metadata.close()
  }
}
