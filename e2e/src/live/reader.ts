import assert from 'node:assert'
import { HttpConnection } from '../http-connection.ts'

export type ReaderKind = 'sse' | 'long-poll'

interface JsonRecord {
  readonly seq: number
  readonly body: string
}

/** Called with each record in order, as soon as it came. */
export type OnRecord = (record: JsonRecord, receivedAt: number) => void

/**
 * Follows a stream in the Pico protocol by server-sent events or by long polls. Records that are missing, repeated or out
 * of order end the process. Connects again, from where it is, when the server ended the connection.
 */
export class LiveReader {
  /** Of the next record. */
  seq: number
  reconnects = 0
  readonly #port: number
  readonly #path: string
  readonly #kind: ReaderKind
  readonly #onRecord: OnRecord
  #connection: HttpConnection | null = null
  #text = ''
  #isClosed = false
  #onWaiting: (() => void) | null = null

  constructor(port: number, path: string, kind: ReaderKind, fromSeq: number, onRecord: OnRecord) {
    this.#port = port
    this.#path = path
    this.#kind = kind
    this.seq = fromSeq
    this.#onRecord = onRecord
  }

  /** Resolves when its request is written; with events, when they have begun. */
  async connect(): Promise<void> {
    const waiting = new Promise<void>((resolve) => {
      this.#onWaiting = resolve
    })
    this.#text = ''
    const connection = await HttpConnection.open(this.#port, {
      onHead: () => {
        if (this.#kind === 'sse') this.#onWaiting?.()
      },
      onBody: (bytes) => {
        this.#text += bytes.toString('latin1')
        if (this.#kind === 'sse') this.#takeEvents()
      },
      onEnd: (head) => {
        assert(head.status === 200 || head.status === 204, `a live read was answered:\n${head}`)
        // Events end when their time is up.
        if (this.#kind === 'sse') this.#connectAgain()
        else this.#takePoll(head.status)
      },
      onLost: () => this.#connectAgain(),
    })
    this.#connection = connection
    if (this.#isClosed) return connection.destroy()
    this.#ask(connection)
    if (this.#kind === 'long-poll') this.#onWaiting?.()
    await waiting
  }

  /** Reads nothing more, as a client that is stuck. */
  pause(): void {
    this.#connection?.socket.pause()
  }

  resume(): void {
    this.#connection?.socket.resume()
  }

  close(): void {
    this.#isClosed = true
    this.#connection?.destroy()
  }

  #ask(connection: HttpConnection): void {
    connection.send(`GET ${this.#path}?seq=${this.seq}&live=${this.#kind} HTTP/1.1\r\nHost: live\r\n\r\n`)
  }

  #connectAgain(): void {
    if (this.#isClosed) return
    this.reconnects++
    this.#connection?.destroy()
    this.connect().catch((error) => {
      throw error // nothing waits for it: ends the process
    })
  }

  #takePoll(status: number): void {
    const receivedAt = performance.now()
    const text = this.#text
    this.#text = ''
    if (status === 200) this.#takeRecords(text, receivedAt)
    if (this.#connection !== null) this.#ask(this.#connection)
  }

  #takeEvents(): void {
    const receivedAt = performance.now()
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end < 0) return
      const event = this.#text.slice(0, end)
      this.#text = this.#text.slice(end + 2)
      if (event.startsWith('event: data\n')) this.#takeRecords(event.slice(event.indexOf('\ndata:') + 6), receivedAt)
    }
  }

  #takeRecords(text: string, receivedAt: number): void {
    for (const record of JSON.parse(text) as JsonRecord[]) {
      assert(
        record.seq === this.seq,
        `${this.#path} by ${this.#kind}: ${record.seq} came where ${this.seq} was to come`,
      )
      this.seq++
      this.#onRecord(record, receivedAt)
    }
  }
}
