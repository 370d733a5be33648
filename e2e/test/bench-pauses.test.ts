import { describe, expect, it } from 'vitest'
import { durationsMs, longestAppendMs, resumedAfterMs, spreadOf } from '../src/bench/cluster/pauses.ts'

const history = {
  appends: [
    { askedAtMs: 0, acknowledgedAtMs: 10 },
    { askedAtMs: 100, acknowledgedAtMs: 400 },
    { askedAtMs: 500, acknowledgedAtMs: 520 },
  ],
}

describe('pauses of a stream', () => {
  it('ends with the next acknowledgement, whenever that append was asked for', () => {
    expect(resumedAfterMs(history, 50, 0)).toBe(350)
    expect(resumedAfterMs(history, 150, 0)).toBe(250)
    expect(resumedAfterMs(history, 400, 0)).toBe(120)
  })

  it('does not end with what was acknowledged before the end, and came late', () => {
    expect(resumedAfterMs(history, 390, 10)).toBe(130)
    expect(resumedAfterMs(history, 390, 9)).toBe(10)
  })

  it('does not end without one', () => {
    expect(resumedAfterMs(history, 520, 0)).toBeUndefined()
    expect(resumedAfterMs({ appends: [] }, 0, 0)).toBeUndefined()
  })

  it('are as long as the longest append of which any part lies in the time', () => {
    expect(longestAppendMs(history, 0, 600)).toBe(300)
    expect(longestAppendMs(history, 350, 360)).toBe(300)
    expect(longestAppendMs(history, 410, 600)).toBe(20)
    expect(longestAppendMs(history, 410, 420)).toBeUndefined()
  })

  it('are counted where the whole append lies in the time', () => {
    expect(durationsMs([history, history], 5, 520)).toEqual([20, 20, 300, 300])
  })

  it('are told in percentiles, whatever their order', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(spreadOf(values)).toEqual({ p50: 50, p99: 99, max: 100 })
  })
})
