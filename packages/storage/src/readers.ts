/** Followed in one object; beyond that the one that was quiet the longest starts anew with short spans. */
const readersMax = 64

/**
 * The sequential readers of one object, told apart by nothing but where each of them should read next. Two at the same place
 * are one reader, which is all that readahead needs.
 */
export class Readers {
  /** How long a reader's next span may be, by the position it should read next. The quietest first. */
  readonly #expected = new Map<number, number>()

  /** Somebody reads at `position`: the bytes of the next span if this goes on where a reader left off, else null. */
  arrive(position: number): number | null {
    const spanBytes = this.#expected.get(position)
    if (spanBytes === undefined) return null
    this.#expected.delete(position)
    return spanBytes
  }

  leaveFor(nextPosition: number, spanBytes: number): void {
    this.#expected.delete(nextPosition)
    this.#expected.set(nextPosition, spanBytes)
    if (this.#expected.size <= readersMax) return
    const [quietest] = this.#expected.keys()
    if (quietest !== undefined) this.#expected.delete(quietest)
  }
}
