import { expect, it } from 'vitest'
import { judgeLines, sourceLine } from '../src/connect/line-judge.ts'

/** The judge of `connect` finds what can be wrong with a copied file of five lines. */
const sink = (...lines: (number | string)[]) =>
  judgeLines(
    lines.map((line) => (typeof line === 'number' ? sourceLine(line) : line)),
    5,
  )

it('takes a copy, without a seam', () => {
  expect(sink(1, 2, 3, 4, 5)).toEqual({ missing: [], faults: [], seams: 0, torn: 0 })
})

it('takes what came again, and tells where', () => {
  expect(sink(1, 2, 3, 2, 3, 4, 5, 5)).toEqual({ missing: [], faults: [], seams: 2, torn: 0 })
  expect(sink(1, 2, 3, 1, 3, 4, 5)).toEqual({ missing: [], faults: [], seams: 2, torn: 0 })
})

it.each(['<', '<4', sourceLine(4).slice(0, 10), sourceLine(4)])(
  'takes the end that a dead worker left, "%s"',
  (end) => {
    expect(sink(1, 2, 3, `${end}${sourceLine(3)}`, 4, 5)).toEqual({ missing: [], faults: [], seams: 1, torn: 1 })
  },
)

it('tells what is missing', () => {
  expect(sink(1, 2, 3).missing).toEqual([4, 5])
  expect(sink().missing).toEqual([1, 2, 3, 4, 5])
})

it.each([
  ['a line is left out', [1, 2, 4, 5]],
  ['a line comes too late', [1, 3, 2, 4, 5]],
  ['a line was never written', [1, 2, 3, 4, 5, 6]],
  ['a line is altered', [1, 2, sourceLine(3).replace('o', 'x'), 4, 5]],
  ['a line has lost its end', [1, 2, sourceLine(3).slice(0, -1), 4, 5]],
  ['two lines are mixed', [1, 2, `${sourceLine(3).replace('o', 'x')}${sourceLine(4)}`, 5]],
  ['a line is empty', [1, 2, '', 3, 4, 5]],
])('%s: wrong', (_what, lines) => {
  expect(sink(...lines).faults).not.toEqual([])
})
