import { expect, it } from 'vitest'
import type { Attempt, Outcome } from '../src/cross/attempts.ts'
import type { StoredRecord } from '../src/cross/cross-record.ts'
import { faultsOf } from '../src/cross/judge.ts'

/** The judge of `cross-protocol` finds what can be wrong with a log. */
const record = (text: string) => ({ key: null, value: Buffer.from(text), headers: [], timestampMs: null })
const attempt = (text: string, outcome: Outcome): Attempt => {
  const records = [record(`${text}1`), record(`${text}2`)]
  return { what: text, records, raisesTimestamps: true, sentMs: 100, answeredMs: 200, outcome }
}
const kept = attempt('a', { kind: 'kept', baseOffset: 0 })
const somewhere = attempt('b', { kind: 'kept', baseOffset: null })
const unknown = attempt('c', { kind: 'unknown' })
const refused = attempt('d', { kind: 'refused' })
const all = [kept, somewhere, unknown, refused]

const log = (...texts: string[]): StoredRecord[] =>
  texts.map((text, offset) => ({ ...record(text), offset, timestampMs: 150 }))

it.each([[['a1', 'a2', 'b1', 'b2', 'c1', 'c2']], [['a1', 'a2', 'c1', 'c2', 'b1', 'b2']], [['a1', 'a2', 'b1', 'b2']]])(
  '%j is right',
  (texts) => {
    expect(faultsOf(log(...texts), all)).toEqual([])
  },
)

it.each([
  ['an acknowledged request is lost', ['b1', 'b2']],
  ['it is elsewhere', ['b1', 'b2', 'a1', 'a2']],
  ['it is there twice', ['a1', 'a2', 'a1', 'a2', 'b1', 'b2']],
  ['what is kept somewhere is nowhere', ['a1', 'a2']],
  ['a repetition was taken twice', ['a1', 'a2', 'b1', 'b2', 'b1', 'b2']],
  ['half of a request is there', ['a1', 'a2', 'b1', 'b2', 'c1']],
  ['records changed places', ['a1', 'a2', 'b2', 'b1']],
  ['a refused request is there', ['a1', 'a2', 'b1', 'b2', 'd1', 'd2']],
  ['nobody wrote it', ['a1', 'a2', 'b1', 'b2', 'x']],
])('%s: wrong', (_what, texts) => {
  expect(faultsOf(log(...texts), all)).not.toEqual([])
})

it.each([
  ['before the request', 99],
  ['after the answer', 201],
])('a timestamp %s is wrong', (_what, timestampMs) => {
  const records = log('a1', 'a2').map((each) => ({ ...each, timestampMs }))
  expect(faultsOf(records, [kept])).not.toEqual([])
})

it('a timestamp below an earlier one is wrong', () => {
  const [first, second] = log('a1', 'a2') as [StoredRecord, StoredRecord]
  expect(
    faultsOf(
      [
        { ...first, timestampMs: 180 },
        { ...second, timestampMs: 170 },
      ],
      [kept],
    ),
  ).toHaveLength(1)
})
