import { createHash } from 'node:crypto'

/**
 * The last offset of each key, for keys of any length in bounded memory: a key is its hash of 128 bits, as in Kafka's SkimpyOffsetMap.
 * About 100 bytes a key.
 */
export class LatestOffsets {
  readonly #keysMax: number
  readonly #offsets = new Map<string, number>()

  constructor(keysMax: number) {
    this.#keysMax = keysMax
  }

  get isEmpty(): boolean {
    return this.#offsets.size === 0
  }

  /** Whether so many more keys are sure to have room. */
  hasRoomFor(keys: number): boolean {
    return this.#offsets.size + keys <= this.#keysMax
  }

  set(key: Uint8Array, offset: number): void {
    this.#offsets.set(hashOf(key), offset)
  }

  /** -1 when the key is not there. */
  get(key: Uint8Array): number {
    return this.#offsets.get(hashOf(key)) ?? -1
  }
}

function hashOf(key: Uint8Array): string {
  return createHash('md5').update(key).digest('latin1')
}
