import type { Writable } from 'node:stream'

/** Whoever read our output has gone: a reason to end, and none to complain. */
export class BrokenPipe extends Error {
  readonly code = 'PICO_BROKEN_PIPE'
  override readonly name = 'BrokenPipe'
}

/** Standard output, no faster than it is read. */
export class Output {
  readonly #stream: Writable
  readonly #broken = new AbortController()

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.#broken.abort(error.code === 'EPIPE' ? new BrokenPipe('the output is no longer read') : error)
    })
  }

  /** Aborts, with a BrokenPipe as its reason, when nobody reads any more. */
  get broken(): AbortSignal {
    return this.#broken.signal
  }

  async write(content: string | Uint8Array): Promise<void> {
    this.#broken.signal.throwIfAborted()
    if (content.length === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#stream.write(content, () => resolve()) // of an error, the signal knows
    await promise
    this.#broken.signal.throwIfAborted()
  }

  /** One JSON text a line. */
  writeJson(value: unknown): Promise<void> {
    return this.write(`${JSON.stringify(value)}\n`)
  }
}
