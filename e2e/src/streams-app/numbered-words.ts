import { Seeded } from '../cross/seeded.ts'

const vocabulary = 100
const wordsPerLine = 8

/**
 * Lines of words for `e2e/java/src/WordCount.java`, and what a right count of them is. Each word carries how often it was written
 * before ("fox#17"), so that a word counted twice, or never, can be told from one that was written more or less often.
 */
export class NumberedWords {
  readonly #random: Seeded
  readonly #written = new Map<string, number>()

  constructor(seed: number) {
    this.#random = new Seeded(seed)
  }

  lines(count: number): string[] {
    return Array.from({ length: count }, () => Array.from({ length: wordsPerLine }, () => this.#word()).join(' '))
  }

  /** How often each word was written. */
  counts(): Map<string, number> {
    return new Map(this.#written)
  }

  #word(): string {
    // The smaller of two: some words are common and some are rare.
    const word = `word-${Math.min(this.#random.whole(0, vocabulary - 1), this.#random.whole(0, vocabulary - 1))}`
    const number = this.#written.get(word) ?? 0
    this.#written.set(word, number + 1)
    return `${word}#${number}`
  }
}

/** What the store of numbers holds of a word of which the first `count` were each seen: that many bits, in hexadecimal. */
export function allNumbers(count: number): string {
  return ((1n << BigInt(count)) - 1n).toString(16)
}
