import type { PathStream } from '@pico/streams'

/**
 * Which records of open streams are known to be JSON, so that they need not be judged again at every read: one range of offsets a
 * stream, because a log is written at its end and mostly read from there, or from its beginning on. What is durable never changes.
 */
export class KnownJson {
  readonly #ranges = new WeakMap<PathStream, { from: number; to: number }>()

  has(stream: PathStream, offset: number): boolean {
    const range = this.#ranges.get(stream)
    return range !== undefined && offset >= range.from && offset < range.to
  }

  /** Of durable records only: the offsets of others may be given out again. */
  add(stream: PathStream, from: number, to: number): void {
    const known = this.#ranges.get(stream)
    if (known === undefined || from > known.to || to < known.from) {
      if (known === undefined || to - from >= known.to - known.from) this.#ranges.set(stream, { from, to })
      return
    }
    known.from = Math.min(known.from, from)
    known.to = Math.max(known.to, to)
  }
}
