/** Followed in one object; beyond that the one that was quiet the longest starts anew with short spans. */
const readersMax = 64

export interface Reader {
  /** How long its next span may be. */
  readonly spanBytes: number
  /** What it reads next was in memory already, or on its way, when it was here last. */
  readonly isProvided: boolean
}

/**
 * The sequential readers of one object, told apart by nothing but where each of them should read next. Two at the same place
 * are one reader, which is all that readahead needs.
 */
export class Readers {
  /** By the position each should read next. The quietest first. */
  readonly #expected = new Map<number, Reader>()

  /** Somebody reads at `position`: the reader that left off there, if this is it. */
  arrive(position: number): Reader | null {
    const reader = this.#expected.get(position)
    if (reader === undefined) return null
    this.#expected.delete(position)
    return reader
  }

  /** The reader that should go on at `position`, if there is one. */
  expectedAt(position: number): Reader | null {
    return this.#expected.get(position) ?? null
  }

  leaveFor(nextPosition: number, reader: Reader): void {
    this.#expected.delete(nextPosition)
    this.#expected.set(nextPosition, reader)
    if (this.#expected.size <= readersMax) return
    const [quietest] = this.#expected.keys()
    if (quietest !== undefined) this.#expected.delete(quietest)
  }
}
