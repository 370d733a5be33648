import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { HedgeBudget, hedged } from '../src/s3/hedge.ts'
import { Latencies } from '../src/s3/latencies.ts'
import { retryDelayMs } from '../src/s3/retry-delay.ts'
import { Slots } from '../src/s3/slots.ts'

const limits = { retryDelayMsMin: 50, retryDelayMsMax: 2000 }

describe('the pause before another try', () => {
  test('doubles up to its limit, and lies in its upper half', () => {
    const least = [1, 2, 3, 6, 7, 20].map((failures) => retryDelayMs(failures, false, 0, limits))
    expect(least).toEqual([25, 50, 100, 800, 1000, 1000])
    expect(retryDelayMs(1, false, 0.999, limits)).toBeCloseTo(50, 0)
    expect(retryDelayMs(20, false, 0.999, limits)).toBeLessThanOrEqual(2000)
  })

  test('is longer for a store that asks for mercy', () => {
    expect(retryDelayMs(1, true, 0, limits)).toBe(100)
    expect(retryDelayMs(9, true, 0.999, limits)).toBeLessThanOrEqual(2000)
  })
})

describe('how long a get may take before it counts as slow', () => {
  test('is what nineteen of twenty like it took lately', () => {
    const latencies = new Latencies()
    expect(latencies.slowMs(1000)).toBe(500)
    for (let ms = 1; ms <= 100; ms++) latencies.add(1000, ms)
    expect(latencies.slowMs(1000)).toBe(95)
    expect(latencies.slowMs(900)).toBe(95) // of the same power of two
    expect(latencies.slowMs(4_000_000)).toBe(500)
    for (let i = 0; i < 128; i++) latencies.add(1000, 7)
    expect(latencies.slowMs(1000)).toBe(7)
  })
})

describe('second requests', () => {
  test('are a share of the first ones, with a few saved up at most', () => {
    const budget = new HedgeBudget(0.25)
    expect(budget.spend()).toBe(false)
    for (let i = 0; i < 4; i++) budget.earn()
    expect([budget.spend(), budget.spend()]).toEqual([true, false])
    for (let i = 0; i < 1000; i++) budget.earn()
    expect(Array.from({ length: 20 }, () => budget.spend()).filter(Boolean).length).toBe(8)
  })

  const isAnswer = (error: unknown) => error === missing
  const missing = new Error('missing')
  const broken = new Error('broken')

  /** The n-th send waits so many ms, then resolves or rejects; infinite ones end only when aborted. */
  function sends(script: readonly (readonly [ms: number, result: string | Error])[]) {
    const aborted: number[] = []
    let sent = 0
    const send = async (signal: AbortSignal) => {
      const [ms, result] = script[sent++] ?? [0, new Error('one send too many')]
      const number = sent
      signal.addEventListener('abort', () => aborted.push(number))
      await sleep(ms === Number.POSITIVE_INFINITY ? 60_000 : ms, undefined, { signal })
      if (result instanceof Error) throw result
      return result
    }
    return { send, aborted, sent: () => sent }
  }
  const hedgedBy = (
    send: (signal: AbortSignal) => Promise<string>,
    may = true,
    signal = new AbortController().signal,
  ) => hedged({ send, signal, afterMs: 20, maySendAgain: () => (may ? () => undefined : null), isAnswer })

  test('are not made where the first one is quick or none may be made', async () => {
    const quick = sends([[1, 'first']])
    expect(await hedgedBy(quick.send)).toBe('first')
    const slow = sends([[60, 'first']])
    expect(await hedgedBy(slow.send, false)).toBe('first')
    expect([quick.sent(), slow.sent()]).toEqual([1, 1])
  })

  test('win, and the first one is aborted', async () => {
    const { send, aborted } = sends([
      [Number.POSITIVE_INFINITY, 'first'],
      [1, 'second'],
    ])
    expect(await hedgedBy(send)).toBe('second')
    expect(aborted).toContain(1)
  })

  test('are waited for when the first one fails, and the other way round', async () => {
    expect(
      await hedgedBy(
        sends([
          [30, broken],
          [60, 'second'],
        ]).send,
      ),
    ).toBe('second')
    expect(
      await hedgedBy(
        sends([
          [90, 'first'],
          [1, broken],
        ]).send,
      ),
    ).toBe('first')
    await expect(
      hedgedBy(
        sends([
          [30, broken],
          [60, broken],
        ]).send,
      ),
    ).rejects.toBe(broken)
  })

  test('are not waited for when an error is the answer, or all is aborted', async () => {
    const first = sends([
      [40, missing],
      [Number.POSITIVE_INFINITY, 'second'],
    ])
    await expect(hedgedBy(first.send)).rejects.toBe(missing)
    const both = sends([
      [Number.POSITIVE_INFINITY, ''],
      [Number.POSITIVE_INFINITY, ''],
    ])
    const controller = new AbortController()
    const waiting = hedgedBy(both.send, true, controller.signal)
    setTimeout(() => controller.abort(new Error('enough')), 50)
    await expect(waiting).rejects.toThrow()
    expect(both.aborted).toEqual([1, 2])
  })
})

describe('slots', () => {
  const { signal } = new AbortController()

  test('are so many, given in the order asked for, to the urgent first', async () => {
    const slots = new Slots(1)
    const release = await slots.take(false, signal)
    expect(slots.takeIfFree()).toBeNull()
    const order: string[] = []
    const taken = (['a', 'b', 'urgent'] as const).map(async (name) => {
      const free = await slots.take(name === 'urgent', signal)
      order.push(name)
      free()
    })
    release()
    await Promise.all(taken)
    expect(order).toEqual(['urgent', 'a', 'b'])
    expect(slots.takeIfFree()).not.toBeNull()
  })

  test('who gives up while in line leaves it', async () => {
    const slots = new Slots(1)
    const release = await slots.take(false, signal)
    const controller = new AbortController()
    const waiting = slots.take(false, controller.signal)
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    release()
    expect(slots.takeIfFree()).not.toBeNull()
  })
})
