import { BufferPool } from '@pico/binary'
import { describe, expect, test } from 'vitest'

const kib = 1024

describe('a pool of buffers', () => {
  test('gives what it was given back, to whoever asks for about as much', () => {
    const pool = new BufferPool()
    const first = pool.take(100 * kib)
    expect(first.length).toBeGreaterThanOrEqual(100 * kib)
    expect(first.length).toBeLessThanOrEqual(125 * kib)
    expect(pool.take(100 * kib)).not.toBe(first)
    pool.giveBack(first)
    expect(pool.take(300 * kib)).not.toBe(first)
    expect(pool.take(99 * kib)).toBe(first)
  })

  test('keeps no more than it may', () => {
    const pool = new BufferPool({ idleBytesMax: 256 * kib })
    const taken = Array.from({ length: 8 }, () => pool.take(64 * kib))
    for (const buffer of taken) pool.giveBack(buffer)
    const again = Array.from({ length: 8 }, () => pool.take(64 * kib))
    expect(again.filter((buffer) => taken.includes(buffer))).toHaveLength(4)
    const large = pool.take(512 * kib)
    pool.giveBack(large)
    expect(pool.take(512 * kib)).not.toBe(large)
  })

  test('lets go of the sizes that nobody asks for any more', () => {
    const pool = new BufferPool({ idleBytesMax: 1024 * kib })
    const old = Array.from({ length: 16 }, () => pool.take(64 * kib))
    for (const buffer of old) pool.giveBack(buffer)
    const recent = pool.take(512 * kib)
    pool.giveBack(recent)
    expect(pool.take(512 * kib)).toBe(recent)
    pool.giveBack(recent)
    const kept = Array.from({ length: 16 }, () => pool.take(64 * kib)).filter((buffer) => old.includes(buffer))
    expect(kept).toHaveLength(8)
  })
})
