import { type ClientSettings, openTransport } from './client-settings.ts'
import { DurableStream } from './durable-stream.ts'
import type { Transport } from './transport.ts'

/** A server that speaks the Durable Streams protocol, ours or another; `endpoint` is where its streams are. */
export class DurableStreamsClient {
  readonly #transport: Transport

  constructor(settings: ClientSettings) {
    this.#transport = openTransport(settings)
  }

  stream(name: string): DurableStream {
    return new DurableStream(this.#transport, name)
  }

  /** Breaks off what is under way: producers and readers reject. */
  close(): Promise<void> {
    return this.#transport.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
