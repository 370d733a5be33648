import { describe, expect, test } from 'vitest'
import { LogCache, type Slab } from '../src/log-cache.ts'

const MiB = 1024 * 1024
const slabBytes = 8 * MiB

/** As an append that fills a slab and is durable at once. */
function fill(cache: LogCache): Slab {
  const slab = cache.reserve(slabBytes)
  slab.unsettledBytes = 0
  return slab
}

describe('the log cache', () => {
  test('never has more than its capacity, and no memory but what it had before once it is full', () => {
    const evicted: Slab[] = []
    const cache = new LogCache(4 * slabBytes, (slab) => evicted.push(slab))
    const memories = new Set<Uint8Array>()
    for (let n = 0; n < 20; n++) {
      memories.add(fill(cache).bytes)
      expect(cache.sizeBytes).toBeLessThanOrEqual(4 * slabBytes)
    }
    expect(memories.size).toBe(4)
    expect(evicted).toHaveLength(16)
  })

  test('gives memory that somebody looks at to nobody else until it is released', () => {
    const cache = new LogCache(2 * slabBytes, () => undefined)
    const read = fill(cache)
    read.memory.hold()
    const later = [fill(cache), fill(cache), fill(cache)]
    expect(later.some(({ bytes }) => bytes === read.bytes)).toBe(false)
    read.memory.release()
    // The oldest now, which has to go next: but its memory cannot be had.
    later[1]?.memory.hold()
    expect(fill(cache).bytes === read.bytes).toBe(true)
  })

  test('has more than its capacity while that is on its way to the WAL, and lets go of it afterwards', () => {
    const cache = new LogCache(2 * slabBytes, () => undefined)
    const slabs = [1, 2, 3, 4].map(() => cache.reserve(slabBytes))
    expect(cache.sizeBytes).toBe(4 * slabBytes)
    for (const slab of slabs) slab.unsettledBytes = 0
    cache.evict()
    expect(cache.sizeBytes).toBe(2 * slabBytes)
  })
})
