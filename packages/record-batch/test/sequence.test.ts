import { expect, test } from 'vitest'
import { BatchBuilder, BatchView, decrementSequence, incrementSequence } from '../src/index.ts'

const last = 2 ** 31 - 1

test('a sequence goes on at 0 after 2^31 - 1', () => {
  expect(incrementSequence(0, 0)).toBe(0)
  expect(incrementSequence(5, 10)).toBe(15)
  expect(incrementSequence(last, 0)).toBe(last)
  expect(incrementSequence(last, 1)).toBe(0)
  expect(incrementSequence(last - 1, 5)).toBe(3)
  expect(incrementSequence(last, last)).toBe(last - 1)
})

test('a sequence goes back to 2^31 - 1 before 0', () => {
  expect(decrementSequence(15, 10)).toBe(5)
  expect(decrementSequence(0, 1)).toBe(last)
  expect(decrementSequence(3, 5)).toBe(last - 1)
})

test('decrementing undoes incrementing across the wrap', () => {
  for (const sequence of [0, 1, last - 2, last]) {
    for (const step of [0, 1, 100, last]) {
      expect(decrementSequence(incrementSequence(sequence, step), step)).toBe(sequence)
    }
  }
})

test('the last sequence of a batch wraps with it', () => {
  const builder = new BatchBuilder({ producerId: 1, producerEpoch: 0, baseSequence: last - 1 })
  for (let i = 0; i < 5; i++) builder.append({ value: 'x' })
  expect(new BatchView(builder.build()).lastSequence).toBe(2)
})

test('a batch without a sequence has no last one', () => {
  const builder = new BatchBuilder()
  builder.append({ value: 'x' })
  expect(new BatchView(builder.build()).lastSequence).toBe(-1)
})
