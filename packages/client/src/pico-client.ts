import { type ListedStream, listingSchema } from '@pico/http-contract'
import { type ClientSettings, openTransport } from './client-settings.ts'
import { PicoError } from './errors.ts'
import { PicoSchemas } from './pico-schemas.ts'
import { type CallOptions, PicoStream } from './pico-stream.ts'
import type { Transport } from './transport.ts'

export interface ListOptions extends CallOptions {
  /** With its slash: `/orders/`. */
  readonly prefix?: string
  /** Only names after this one, in byte order. */
  readonly startAfter?: string
  /** Streams asked for at a time, 1 to 1,000. Default 1,000. */
  readonly pageSize?: number
}

/** A server, or a cluster, that speaks the Pico protocol. */
export class PicoClient {
  readonly schemas: PicoSchemas
  readonly #transport: Transport

  constructor(settings: ClientSettings) {
    this.#transport = openTransport(settings)
    this.schemas = new PicoSchemas(this.#transport)
  }

  stream(name: string): PicoStream {
    return new PicoStream(this.#transport, name)
  }

  /** Every stream, in byte order of names. */
  async *list(options: ListOptions = {}): AsyncGenerator<ListedStream, void, undefined> {
    const { prefix, pageSize = 1000, signal } = options
    let startAfter = options.startAfter
    for (;;) {
      const page = await this.#listPage({ prefix, start_after: startAfter, limit: pageSize }, signal)
      yield* page.streams
      startAfter = page.streams.at(-1)?.name
      if (!page.has_more || startAfter === undefined) return
    }
  }

  /** Breaks off what is under way: producers and readers reject. */
  close(): Promise<void> {
    return this.#transport.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #listPage(query: Record<string, string | number | undefined>, signal: AbortSignal | undefined) {
    const call = {
      method: 'GET',
      path: '/',
      query,
      stream: null,
      sharing: { kind: 'read' },
      repeatable: true,
      signal,
    } as const
    return this.#transport.call(call, async ({ body }) => {
      const parsed = listingSchema.safeParse(await body.json())
      if (!parsed.success)
        throw new PicoError('bad_response', `the listing is not as the protocol has it: ${parsed.error.message}`)
      return parsed.data
    })
  }
}
