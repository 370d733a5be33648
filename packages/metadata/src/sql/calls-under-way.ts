import { MetadataUnavailableError } from '../errors.ts'

/** Lets what is under way finish before a database closes, and nothing begin after. */
export class CallsUnderWay {
  readonly #running = new Set<Promise<unknown>>()
  #closed: Promise<void> | null = null

  get isClosed(): boolean {
    return this.#closed !== null
  }

  /** @throws MetadataUnavailableError when it is closed */
  async run<T>(doing: string, task: () => Promise<T>): Promise<T> {
    if (this.#closed !== null) throw new MetadataUnavailableError(doing, { cause: new Error('it is closed') })
    const running = task()
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Closes with `end` when all that runs has settled. May be repeated. */
  close(end: () => Promise<void>): Promise<void> {
    this.#closed ??= Promise.allSettled(this.#running).then(end)
    return this.#closed
  }
}
