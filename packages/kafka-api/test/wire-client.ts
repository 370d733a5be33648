import { connect, type Socket } from 'node:net'
import {
  type Api,
  decodeResponse,
  encodeRequest,
  type Fields,
  FrameSplitter,
  type StructInput,
  type StructOf,
} from '@pico/kafka-codec'

/** A client that says exactly what a test wants: requests as bytes, answers in the order they come. */
export class WireClient {
  readonly socket: Socket
  readonly #splitter = new FrameSplitter({ maxFrameBytes: 1 << 28 })
  readonly #frames: Uint8Array[] = []
  #waiting: (() => void) | undefined
  #closed = false
  /** Resolves when the connection has ended, whoever ended it. */
  readonly closed: Promise<void>

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#frames.push(...this.#splitter.push(Buffer.from(chunk)))
      this.#waiting?.()
    })
    socket.on('error', () => socket.destroy()) // a reset is one of the ways to be closed
    this.closed = new Promise((resolve) =>
      socket.on('close', () => {
        this.#closed = true
        this.#waiting?.()
        resolve()
      }),
    )
  }

  static async connect(port: number): Promise<WireClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return new WireClient(socket)
  }

  get isClosed(): boolean {
    return this.#closed
  }

  get received(): number {
    return this.#frames.length
  }

  sendBytes(bytes: Uint8Array): void {
    this.socket.write(bytes)
  }

  send<Q extends Fields, A extends Fields>(
    api: Api<Q, A>,
    version: number,
    body: StructInput<Q>,
    correlationId = 1,
  ): void {
    this.sendBytes(requestBytes(api, version, body, correlationId))
  }

  /** The next answer's payload; rejects when the connection ends before it comes. */
  async next(): Promise<Uint8Array> {
    while (this.#frames.length === 0) {
      if (this.#closed) throw new Error('the connection ended without an answer')
      await new Promise<void>((resolve) => {
        this.#waiting = resolve
      })
    }
    return this.#frames.shift()!
  }

  async answer<Q extends Fields, A extends Fields>(
    api: Api<Q, A>,
    version: number,
  ): Promise<{ correlationId: number; body: StructOf<A> }> {
    const { header, body } = decodeResponse(api, version, await this.next())
    return { correlationId: header.correlationId, body }
  }

  close(): void {
    this.socket.destroy()
  }
}

export function requestBytes<Q extends Fields, A extends Fields>(
  api: Api<Q, A>,
  version: number,
  body: StructInput<Q>,
  correlationId = 1,
): Buffer {
  return Buffer.concat(encodeRequest(api, version, { correlationId, clientId: 'test' }, body))
}
