import { SharedMemory } from '@pico/binary'
import type { Run } from './run.ts'

const slabBytes = 8 * 1024 * 1024
/** What a run costs beside its bytes, about: it counts against the cache, so that tiny entries cannot exhaust the heap. */
const runOverheadBytes = 256

/** A stretch of memory that entries are copied into, back to back, in the order they were appended. */
export class Slab {
  readonly bytes: Uint8Array
  /** Held by the cache, by a pack while it copies from it, and by readers. */
  readonly memory: SharedMemory
  readonly runs: Run[] = []
  usedBytes = 0
  /** Bytes in flushes that are not settled: such a slab stays. */
  unsettledBytes = 0

  constructor(bytes: Uint8Array, reuse: () => void) {
    this.bytes = bytes
    this.memory = new SharedMemory(bytes, reuse)
  }

  get costBytes(): number {
    return this.bytes.length + this.runs.length * runOverheadBytes
  }
}

/**
 * The recent slabs, oldest first: writes land here on their way to the WAL, and readers near the tail are served from here.
 * What a reader was given is not overwritten before it is released; eviction only lets go of what the cache itself holds.
 */
export class LogCache {
  readonly #capacityBytes: number
  readonly #onEvict: (slab: Slab) => void
  readonly #slabs: Slab[] = []
  /** Memory for slabs that nobody uses; undefined until the first is needed. */
  #spare: Uint8Array[] | undefined

  constructor(capacityBytes: number, onEvict: (slab: Slab) => void) {
    this.#capacityBytes = capacityBytes
    this.#onEvict = onEvict
  }

  /** Room for `lengthBytes` in one piece. The caller writes at the slab's `usedBytes` before it moved. */
  reserve(lengthBytes: number): Slab {
    let slab = this.#slabs.at(-1)
    if (slab === undefined || slab.bytes.length - slab.usedBytes < lengthBytes) {
      const newBytes = Math.max(slabBytes, lengthBytes)
      // First, so that the new slab has the memory of one that goes.
      this.#evict(this.#capacityBytes - newBytes, 0)
      slab = this.#newSlab(newBytes)
      this.#slabs.push(slab)
    }
    slab.usedBytes += lengthBytes
    slab.unsettledBytes += lengthBytes
    return slab
  }

  /** Drops the oldest slabs while there is too much, up to the first that is still on its way to the WAL, or being filled. */
  evict(): void {
    this.#evict(this.#capacityBytes, 1)
  }

  #evict(bytesMax: number, slabsMin: number): void {
    let total = this.sizeBytes
    while (total > bytesMax && this.#slabs.length > slabsMin) {
      const oldest = this.#slabs[0]
      if (oldest === undefined || oldest.unsettledBytes > 0) return
      this.#slabs.shift()
      total -= oldest.costBytes
      this.#onEvict(oldest)
      oldest.memory.release()
    }
  }

  #newSlab(bytes: number): Slab {
    this.#spare ??= this.#allSpare()
    const spare = bytes === slabBytes ? this.#spare.pop() : undefined
    // Beyond the capacity, or while readers hold what was evicted.
    if (spare === undefined) return new Slab(Buffer.allocUnsafeSlow(bytes), () => undefined)
    return new Slab(spare, () => this.#spare?.push(spare))
  }

  /**
   * The memory of all slabs, in one piece: it costs nothing before it is written to, and the garbage collector learns of it once. Of
   * slabs by themselves each was news that made it mark the whole heap: every second, at 8 MB/s, until the cache was full.
   */
  #allSpare(): Uint8Array[] {
    const count = Math.floor(this.#capacityBytes / slabBytes)
    const all = Buffer.allocUnsafeSlow(count * slabBytes)
    return Array.from({ length: count }, (_, n) => all.subarray(n * slabBytes, (n + 1) * slabBytes)).reverse()
  }

  get sizeBytes(): number {
    let total = 0
    for (const slab of this.#slabs) total += slab.costBytes
    return total
  }
}
