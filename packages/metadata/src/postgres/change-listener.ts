import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { ChangeKind } from '../changes.ts'

export interface ChangeListenerSettings {
  /** A connection of its own: what a pool lends is for transactions. */
  readonly client: pg.ClientConfig
  /** SQL expression of the channel's name. */
  readonly channel: string
  readonly onStatement: ((sql: string) => void) | undefined
}

/** Waits between attempts to connect double from the one to the other, and are drawn at random. */
const firstWaitMs = 100
const lastWaitMs = 5_000
/** A connection that is dead without having ended is noticed after so long, and the time that an answer may take. */
const checkEveryMs = 30_000
const endWithinMs = 1_000

const kinds = ['topics', 'transfers', 'nodes'] as const satisfies readonly ChangeKind[]

/**
 * Hears what transactions of all processes tell (LISTEN), on one connection, which is there while anybody watches and is made again for
 * ever. Each time it has been made, watchers are called for every kind: nobody knows what was told before.
 */
export class ChangeListener {
  readonly #settings: ChangeListenerSettings
  readonly #watchers = new Set<(kind: ChangeKind) => void>()
  /** While somebody watches. */
  #listening: { readonly stop: AbortController; readonly ended: Promise<void> } | null = null
  readonly #ending = new Set<Promise<void>>()
  #isClosed = false

  constructor(settings: ChangeListenerSettings) {
    this.#settings = settings
  }

  watch(onChange: (kind: ChangeKind) => void): () => void {
    if (this.#isClosed) return () => undefined
    // Wrapped, so that who watches twice has to end both.
    const watcher = (kind: ChangeKind) => onChange(kind)
    this.#watchers.add(watcher)
    this.#listening ??= this.#start()
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size === 0) this.#stop()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#watchers.clear()
    this.#stop()
    await Promise.all(this.#ending)
  }

  #start() {
    const stop = new AbortController()
    return { stop, ended: this.#run(stop.signal) }
  }

  #stop(): void {
    if (this.#listening === null) return
    const { stop, ended } = this.#listening
    this.#listening = null
    stop.abort()
    this.#ending.add(ended)
    void ended.then(() => this.#ending.delete(ended))
  }

  async #run(signal: AbortSignal): Promise<void> {
    let waitMs = firstWaitMs
    while (!signal.aborted) {
      const connection = await ListeningConnection.open(this.#settings, (kind) => this.#call(kind), signal)
      if (connection !== null) {
        waitMs = firstWaitMs
        if (!signal.aborted) for (const kind of kinds) this.#call(kind)
        await connection.lost(signal)
        await connection.end()
      }
      await pause(waitMs * (0.5 + Math.random() / 2), signal)
      waitMs = Math.min(waitMs * 2, lastWaitMs)
    }
  }

  #call(kind: ChangeKind): void {
    for (const onChange of this.#watchers) onChange(kind)
  }
}

class ListeningConnection {
  readonly #client: pg.Client
  readonly #settings: ChangeListenerSettings
  readonly #ended = new AbortController()
  #channel = ''

  private constructor(settings: ChangeListenerSettings, onChange: (kind: ChangeKind) => void) {
    this.#settings = settings
    this.#client = new pg.Client(settings.client)
    this.#client.on('end', () => this.#ended.abort())
    // Without somebody who hears it, the failure of a connection would end the process.
    this.#client.on('error', () => this.#ended.abort())
    this.#client.on('notification', ({ payload }) => {
      const kind = kinds.find((it) => it === payload)
      if (kind !== undefined) onChange(kind)
    })
  }

  /** Null when it could not be made: the server may be back later, and whoever has to know asks. */
  static async open(
    settings: ChangeListenerSettings,
    onChange: (kind: ChangeKind) => void,
    signal: AbortSignal,
  ): Promise<ListeningConnection | null> {
    const connection = new ListeningConnection(settings, onChange)
    // One that is ended while it is made never tells whoever waits for it.
    const unwanted = Promise.withResolvers<false>()
    const stop = () => unwanted.resolve(false)
    signal.addEventListener('abort', stop)
    const made = connection.#listen().then(
      () => true,
      () => false,
    )
    const isOpen = await Promise.race([made, unwanted.promise])
    signal.removeEventListener('abort', stop)
    if (isOpen) return connection
    await connection.end()
    return null
  }

  /** Resolves when it has ended, gives no answer, hears the wrong channel (the tables were replaced), or is not wanted any more. */
  async lost(signal: AbortSignal): Promise<void> {
    const over = AbortSignal.any([signal, this.#ended.signal])
    for (;;) {
      await pause(checkEveryMs, over)
      if (over.aborted) return
      const channel = await this.#channelName().catch(() => null)
      if (channel !== this.#channel) return
    }
  }

  /** Within a moment: a connection that is dead does not end by being asked to. */
  async end(): Promise<void> {
    const waiting = new AbortController()
    await Promise.race([this.#client.end(), pause(endWithinMs, waiting.signal)])
    waiting.abort()
  }

  async #listen(): Promise<void> {
    await this.#client.connect()
    this.#channel = await this.#channelName()
    await this.#query(`listen ${this.#channel}`)
  }

  async #channelName(): Promise<string> {
    const { rows } = await this.#query<{ channel: string }>(`select ${this.#settings.channel} as channel`)
    return rows[0]?.channel ?? ''
  }

  #query<R extends pg.QueryResultRow>(text: string): Promise<pg.QueryResult<R>> {
    this.#settings.onStatement?.(text)
    return this.#client.query<R>(text)
  }
}

/** Resolves after that time, or when the signal says so. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}
