import { expect, test } from 'vitest'
import { FairQueue } from '../src/workers/fair-queue.ts'
import { SlowSchemas } from '../src/workers/slow-schemas.ts'

test('keys take turns, and each keeps its order', () => {
  const queue = new FairQueue<string>(10)
  for (const [key, job] of [
    [1, 'a1'],
    [1, 'a2'],
    [1, 'a3'],
    [2, 'b1'],
    [3, 'c1'],
    [2, 'b2'],
  ] as const) {
    expect(queue.add(key, job)).toBe(true)
  }
  const taken = Array.from({ length: 7 }, () => queue.take(() => true))
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', null])
  expect(queue.length).toBe(0)
})

test('keys that are not accepted keep their place', () => {
  const queue = new FairQueue<string>(10)
  queue.add(1, 'a')
  queue.add(2, 'b')
  expect(queue.take((key) => key === 2)).toBe('b')
  expect(queue.take((key) => key === 2)).toBeNull()
  expect(queue.takeAll()).toEqual(['a'])
})

test('no more is taken than the queue may hold', () => {
  const queue = new FairQueue<string>(2)
  expect([queue.add(1, 'a'), queue.add(2, 'b'), queue.add(3, 'c')]).toEqual([true, true, false])
  queue.take(() => true)
  expect(queue.add(3, 'c')).toBe(true)
})

test('a schema is slow for a while after it was, and for longer after it was the end of a worker', () => {
  const slow = new SlowSchemas(100)
  slow.took(1, 99, false, 0)
  slow.took(2, 100, false, 0)
  slow.took(3, 500, true, 0)
  slow.took(3, 100, false, 1)
  const slowAt = (nowMs: number) => [1, 2, 3].filter((schemaId) => slow.has(schemaId, nowMs))
  expect(slowAt(9_999)).toEqual([2, 3])
  expect(slowAt(10_000)).toEqual([3])
  expect(slowAt(599_999)).toEqual([3])
  expect(slowAt(600_000)).toEqual([])
})
