import { readFileSync } from 'node:fs'
import { incrementSequence } from '@pico/record-batch'
import { describe, expect, it } from 'vitest'
import { ProducerLedger } from '../src/producer-ledger.ts'
import { afterBatch, judgeBatch, type ProducerState } from '../src/producer-state.ts'
import { ProducerTable, producersPerStreamMax } from '../src/producer-table.ts'
import { StreamFacts } from '../src/stream-facts.ts'
import { encodeFacts, restoreFacts } from '../src/stream-facts-format.ts'

type Step = [nowMs: number, producerId: number, epoch: number, firstSequence: number, count: number, verdict: string]

/** What Kafka 4.4's own ProducerStateManager said to random batches, captured by golden/ProducerOracle.java. */
const kafka: { expirationMs: number; runs: Step[][] } = JSON.parse(
  readFileSync(new URL('golden/producers.json', import.meta.url), 'utf8'),
)

const int32Max = 2 ** 31 - 1
const durable = Promise.resolve()

/** Answers a step as the gate would, in the words of the golden file. */
function answer(ledger: ProducerLedger, [nowMs, producerId, producerEpoch, firstSequence, count]: Step, next: number) {
  const lastSequence = incrementSequence(firstSequence, count - 1)
  const batch = { producerId, producerEpoch, firstSequence, lastSequence }
  const verdict = ledger.judge(batch, nowMs)
  if (verdict.kind === 'duplicate') return `=${verdict.of.baseOffset}@${verdict.of.timestampMs}`
  if (verdict.kind === 'old-epoch') return 'INVALID_PRODUCER_EPOCH'
  if (verdict.kind === 'out-of-order') return 'OUT_OF_ORDER_SEQUENCE_NUMBER'
  const remembered = { firstSequence, lastSequence, baseOffset: next, lastOffset: next + count - 1, timestampMs: nowMs }
  ledger.assign(batch, remembered, { nowMs, expiresAtMs: nowMs + kafka.expirationMs }, durable)
  return String(next)
}

describe("Kafka's verdicts on random batches", () => {
  it.each(kafka.runs.map((steps, run) => ({ run, steps })))(
    'run $run: are ours, with every batch in flight',
    ({ steps }) => {
      const ledger = new ProducerLedger(new ProducerTable())
      expect(replay(steps, ledger, () => ledger)).toEqual(steps.map((step) => step[5]))
    },
  )

  it.each(kafka.runs.map((steps, run) => ({ run, steps })))(
    'run $run: are ours, with every batch durable',
    ({ steps }) => {
      const ledger = new ProducerLedger(new ProducerTable())
      const commit = (next: number, nowMs: number) => {
        ledger.committed(next, nowMs)
        return ledger
      }
      expect(replay(steps, ledger, commit)).toEqual(steps.map((step) => step[5]))
    },
  )

  function replay(steps: Step[], first: ProducerLedger, after: (next: number, nowMs: number) => ProducerLedger) {
    let ledger = first
    let next = 0
    return steps.map((step) => {
      const verdict = answer(ledger, step, next)
      if (verdict === String(next)) next += step[4]
      ledger = after(next, step[0])
      return verdict
    })
  }
})

describe('a producer', () => {
  const batch = (firstSequence: number, lastSequence: number, producerEpoch = 0) => ({
    producerId: 7,
    producerEpoch,
    firstSequence,
    lastSequence,
  })
  const known = (firstSequence: number, lastSequence: number, before?: ProducerState, producerEpoch = 0) =>
    afterBatch(before, producerEpoch, { firstSequence, lastSequence, baseOffset: 0, lastOffset: 0, timestampMs: 0 }, 1)

  it('that is unknown may begin anywhere', () => {
    expect(judgeBatch(undefined, batch(41, 45, 3))).toEqual({ kind: 'new', startsOver: true })
  })

  it('goes on after its last sequence, past 2^31 - 1 at 0', () => {
    expect(judgeBatch(known(0, 4), batch(5, 9))).toEqual({ kind: 'new', startsOver: false })
    expect(judgeBatch(known(int32Max - 1, int32Max), batch(0, 3))).toEqual({ kind: 'new', startsOver: false })
    expect(judgeBatch(known(int32Max - 1, 0), batch(1, 3))).toEqual({ kind: 'new', startsOver: false })
    expect(judgeBatch(known(0, 4), batch(6, 9))).toEqual({ kind: 'out-of-order', expectedSequence: 5 })
    expect(judgeBatch(known(0, 4), batch(0, 3))).toEqual({ kind: 'out-of-order', expectedSequence: 5 })
    expect(judgeBatch(known(0, int32Max), batch(1, 3))).toEqual({ kind: 'out-of-order', expectedSequence: 0 })
  })

  it('is recognised by exactly the same batch among the last five', () => {
    let state = known(0, 0)
    for (let sequence = 1; sequence <= 5; sequence++) state = known(sequence, sequence, state)
    for (let sequence = 1; sequence <= 5; sequence++) {
      expect(judgeBatch(state, batch(sequence, sequence))).toMatchObject({ kind: 'duplicate' })
    }
    expect(judgeBatch(state, batch(0, 0))).toEqual({ kind: 'out-of-order', expectedSequence: 6 })
    expect(judgeBatch(state, batch(4, 5))).toEqual({ kind: 'out-of-order', expectedSequence: 6 })
  })

  it('begins a new epoch at 0, and no older one counts from then on', () => {
    expect(judgeBatch(known(0, 4), batch(5, 9, 1))).toEqual({ kind: 'out-of-order', expectedSequence: 0 })
    expect(judgeBatch(known(0, 4), batch(0, 4, 5))).toEqual({ kind: 'new', startsOver: false })
    const bumped = known(0, 4, known(0, 4), 5)
    expect(bumped.batches).toHaveLength(1)
    expect(judgeBatch(bumped, batch(0, 4, 4))).toEqual({ kind: 'old-epoch', knownEpoch: 5 })
  })
})

describe('the table of producers', () => {
  const state = (expiresAtMs: number) =>
    afterBatch(
      undefined,
      0,
      { firstSequence: 0, lastSequence: 0, baseOffset: 0, lastOffset: 0, timestampMs: 0 },
      expiresAtMs,
    )

  it('forgets at the very millisecond of expiry', () => {
    const table = new ProducerTable()
    table.set(1, state(100))
    expect(table.get(1, 99)).toBeDefined()
    expect(table.get(1, 100)).toBeUndefined()
    table.forgetExpired(99)
    expect(table.size).toBe(1)
    table.forgetExpired(100)
    expect(table.size).toBe(0)
  })

  it('is bounded: whoever was silent for longest goes first', () => {
    const table = new ProducerTable()
    for (let producerId = 0; producerId < producersPerStreamMax; producerId++) table.set(producerId, state(100))
    table.set(0, state(100))
    table.set(producersPerStreamMax, state(100))
    expect(table.size).toBe(producersPerStreamMax)
    expect(table.get(0, 0)).toBeDefined()
    expect(table.get(1, 0)).toBeUndefined()
  })

  it('leaves nothing behind when all have expired', () => {
    const facts = new StreamFacts()
    facts.producers.set(1, state(100))
    expect(encodeFacts(facts, 100)).toBeNull()
    expect(restoreFacts(encodeFacts(facts, 99), []).producers.get(1, 99)).toEqual(state(100))
  })
})
