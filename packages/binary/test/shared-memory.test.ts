import { describe, expect, it } from 'vitest'
import { BufferPool, SharedMemory } from '../src/index.ts'

describe('SharedMemory', () => {
  it('is used again when the last holder lets go, and not before', () => {
    let reused = 0
    const memory = new SharedMemory(new Uint8Array(4), () => reused++)
    memory.hold()
    memory.hold()
    memory.release()
    memory.release()
    expect(reused).toBe(0)
    memory.release()
    expect(reused).toBe(1)
  })

  it('cannot be held or released when nobody holds it', () => {
    const memory = new SharedMemory(new Uint8Array(4), () => undefined)
    memory.release()
    expect(() => memory.hold()).toThrow('overwritten')
    expect(() => memory.release()).toThrow('once')
  })
})

describe('BufferPool', () => {
  it('gives what was given back to who asks for as much', () => {
    const pool = new BufferPool({ smallestBytes: 1024 })
    const first = pool.take(1500)
    expect(first.length).toBe(2048)
    expect(pool.take(1500)).not.toBe(first)
    pool.giveBack(first)
    expect(pool.take(5000)).not.toBe(first)
    expect(pool.take(2048)).toBe(first)
  })

  it('rounds up by a quarter at most, but for the smallest', () => {
    const pool = new BufferPool({ smallestBytes: 1024 })
    for (const bytes of [0, 1, 1024]) expect(pool.take(bytes).length).toBe(1024)
    for (const bytes of [4096, 5000, 65_537, 1_000_000, 4 * 1024 * 1024]) {
      const { length } = pool.take(bytes)
      expect(length).toBeGreaterThanOrEqual(bytes)
      expect(length).toBeLessThanOrEqual(bytes * 1.25)
    }
  })

  it('keeps no more than it may', () => {
    const pool = new BufferPool({ smallestBytes: 1024, idleBytesMax: 1024 })
    const [first, second] = [pool.take(1024), pool.take(1024)]
    pool.giveBack(first)
    pool.giveBack(second)
    expect(pool.take(1024)).toBe(first)
    expect(pool.take(1024)).not.toBe(second)
  })
})
