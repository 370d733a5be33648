/** A seeded source of choices (mulberry32): the same seed makes the same choices. */
export class Seeded {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  one<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.whole(0, choices.length - 1)] ?? choices[0]
  }

  /** The same in another order; any is as likely as any other. */
  shuffled<T>(all: readonly T[]): T[] {
    const shuffled = [...all]
    for (let left = shuffled.length; left > 1; left--) {
      const [taken] = shuffled.splice(this.whole(0, left - 1), 1)
      if (taken !== undefined) shuffled.push(taken)
    }
    return shuffled
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let at = 0; at < length; at++) bytes[at] = this.whole(0, 255)
    return bytes
  }

  /** One that makes other choices, whatever this one is asked for afterwards. */
  fork(): Seeded {
    return new Seeded(this.whole(0, 2 ** 32 - 1))
  }
}

/** `E2E_CROSS_SEED`, or one of the moment: whoever uses it prints it. */
export function seedOfRun(): number {
  const given = process.env['E2E_CROSS_SEED']
  return given === undefined ? Date.now() % 2 ** 31 : Number(given)
}
