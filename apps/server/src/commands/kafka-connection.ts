import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import {
  type Api,
  CodecError,
  decodeResponse,
  encodeRequest,
  type Fields,
  FrameError,
  FrameSplitter,
  type StructInput,
  type StructOf,
} from '@pico/kafka-codec'
import { formatHostPort, type HostPort } from '../host-port.ts'
import { CommandFailure } from './command-failure.ts'

const frameBytesMax = 256 * 1024 * 1024

/** One connection to a broker: requests may overlap, and are answered in order. Nothing is tried again. */
export class KafkaConnection {
  readonly #socket: Socket
  readonly #splitter = new FrameSplitter({ maxFrameBytes: frameBytesMax })
  readonly #unanswered: PromiseWithResolvers<Uint8Array>[] = []
  #correlationId = 0

  private constructor(socket: Socket, address: HostPort) {
    this.#socket = socket
    const fail = (reason: string) => {
      const failure = new CommandFailure(`the broker at ${formatHostPort(address)} ${reason}`)
      for (const { reject } of this.#unanswered.splice(0)) reject(failure)
      socket.destroy()
    }
    socket.on('error', ({ message }) => fail(`is lost: ${message}`))
    socket.on('close', () => fail('closed the connection'))
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const payload of this.#splitter.push(chunk)) this.#unanswered.shift()?.resolve(payload)
      } catch (error) {
        if (!(error instanceof FrameError)) throw error
        fail(`does not speak the Kafka protocol: ${error.message}`)
      }
    })
  }

  /** @throws CommandFailure */
  static async open(address: HostPort, signal: AbortSignal): Promise<KafkaConnection> {
    const socket = connect({ ...address, noDelay: true })
    try {
      await once(socket, 'connect', { signal })
    } catch (error) {
      socket.destroy()
      signal.throwIfAborted()
      const reason = error instanceof Error ? error.message : String(error)
      throw new CommandFailure(`no broker can be reached at ${formatHostPort(address)}: ${reason}`)
    }
    return new KafkaConnection(socket, address)
  }

  /** Requests without an answer yet. */
  get pending(): number {
    return this.#unanswered.length
  }

  /** @throws CommandFailure when the connection ends before the answer */
  async ask<Request extends Fields, Response extends Fields>(
    api: Api<Request, Response>,
    version: number,
    body: StructInput<Request>,
  ): Promise<StructOf<Response>> {
    if (this.#socket.destroyed) throw new CommandFailure('the connection to the broker has ended')
    const buffers = encodeRequest(api, version, { correlationId: this.#correlationId++, clientId: 'pico-bench' }, body)
    const answer = Promise.withResolvers<Uint8Array>()
    this.#unanswered.push(answer)
    this.#socket.cork()
    for (const buffer of buffers) this.#socket.write(buffer)
    this.#socket.uncork()
    const payload = await answer.promise
    try {
      return decodeResponse(api, version, payload).body
    } catch (error) {
      throw error instanceof CodecError
        ? new CommandFailure(`the broker cannot be understood: ${error.message}`)
        : error
    }
  }

  close(): void {
    this.#socket.destroy()
  }
}
