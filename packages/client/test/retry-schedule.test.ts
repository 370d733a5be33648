import { expect, test } from 'vitest'
import { RetrySchedule } from '../src/retry-schedule.ts'

test('delays double up to the longest, each drawn from its upper half', () => {
  const least = new RetrySchedule({ firstDelayMs: 10, longestDelayMs: 100, random: () => 0 }, 0)
  const most = new RetrySchedule({ firstDelayMs: 10, longestDelayMs: 100, random: () => 1 }, 0)
  const delays = (schedule: RetrySchedule) => Array.from({ length: 6 }, () => schedule.nextDelayMs(null, 0))
  expect(delays(least)).toEqual([5, 10, 20, 40, 50, 50])
  expect(delays(most)).toEqual([10, 20, 40, 80, 100, 100])
})

test('what the server asks for is kept, with jitter on top', () => {
  const schedule = new RetrySchedule({ firstDelayMs: 10, random: () => 1 }, 0)
  expect(schedule.nextDelayMs(2000, 0)).toBe(2010)
})

test('time without success ends it, and a success begins anew', () => {
  const schedule = new RetrySchedule({ firstDelayMs: 10, giveUpAfterMs: 1000, random: () => 1 }, 0)
  expect(schedule.nextDelayMs(null, 980)).toBe(10)
  expect(schedule.nextDelayMs(null, 985)).toBeNull()
  schedule.succeeded(985)
  expect(schedule.nextDelayMs(null, 1900)).toBe(10)
})
