import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AppendOutcome, Partition } from '../src/index.ts'
import { append, openPartition, openTopic, producerBatch, readValues, TestSystem, walKinds } from './system.ts'

const dayMs = 86_400_000
const sequences = 2 ** 31

/** What a producer sends, in terms of what it has in the log: so that random choices are interesting ones. */
type Sent =
  | { readonly kind: 'next'; readonly skip: number }
  | { readonly kind: 'repeat'; readonly back: number }
  | { readonly kind: 'epoch'; readonly bump: number; readonly sequence: number }
type Step =
  | { readonly do: 'append'; readonly producerId: number; readonly count: number; readonly sent: Sent }
  | { readonly do: 'settle' | 'fail' | 'fail-second' | 'crash' | 'pack' | 'hour' | 'day' }

interface Taken {
  readonly producerId: number
  readonly epoch: number
  readonly first: number
  readonly count: number
  readonly offset: number
  readonly atMs: number
}

/** The rules of kafka-compat 2.3 over the whole history, kept as the plain list of what was taken. */
class Model {
  log: Taken[] = []

  judge(batch: Omit<Taken, 'offset'>): string {
    const mine = this.log.filter(({ producerId }) => producerId === batch.producerId)
    const last = mine.at(-1)
    if (last === undefined || batch.atMs - last.atMs >= dayMs) return 'new'
    // The window: the last five of this epoch since the producer was last unknown.
    const window: Taken[] = []
    for (const [index, taken] of mine.entries()) {
      const before = mine[index - 1]
      if (before !== undefined && (before.epoch !== taken.epoch || taken.atMs - before.atMs >= dayMs)) window.length = 0
      window.push(taken)
    }
    const same = window
      .slice(-5)
      .find(({ epoch, first, count }) => epoch === batch.epoch && first === batch.first && count === batch.count)
    if (same !== undefined) return `duplicate of ${same.offset}`
    if (batch.epoch < last.epoch) return 'refused 47'
    const next = batch.epoch > last.epoch ? 0 : (last.first + last.count) % sequences
    return batch.first === next ? 'new' : 'refused 45'
  }

  get end(): number {
    const last = this.log.at(-1)
    return last === undefined ? 0 : last.offset + last.count
  }
}

const sent: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('next' as const), skip: fc.constantFrom(0, 0, 0, 0, 1, 2) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('repeat' as const), back: fc.integer({ min: 0, max: 7 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('epoch' as const),
      bump: fc.integer({ min: -1, max: 2 }),
      sequence: fc.constantFrom(0, 0, 3, sequences - 2),
    }),
  },
)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      producerId: fc.integer({ min: 1, max: 2 }),
      count: fc.integer({ min: 1, max: 3 }),
      sent,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('settle', 'settle', 'fail', 'fail-second', 'crash', 'pack', 'hour', 'day'),
    }),
  },
)

describe.each(walKinds)('producers over a %s WAL', (kind) => {
  it('are judged as the rules say over what is in the log, whatever fails in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => run(kind, steps)),
      { numRuns: 15 },
    )
  }, 60_000)
})

async function run(kind: (typeof walKinds)[number], steps: readonly Step[]): Promise<void> {
  const system = await TestSystem.open(kind)
  try {
    let node = await system.start()
    let partition = await openTopic(node.streams)
    const model = new Model()
    let inFlight: AppendOutcome[] = []
    /** What the log holds for certain; the model runs ahead of it while batches are in flight. */
    let durable = 0

    const settle = async () => {
      const results = await Promise.allSettled(inFlight.map((outcome) => outcome.accepted?.committed))
      inFlight = []
      // Flushes fail from some point on: what is left is the beginning of what was assigned.
      model.log = model.log.filter(({ offset }) => offset < partition.highWatermark)
      expect(partition.highWatermark).toBe(model.end)
      expect(partition.highWatermark).toBeGreaterThanOrEqual(durable)
      durable = partition.highWatermark
      return results
    }

    for (const { ...step } of steps) {
      switch (step.do) {
        case 'append': {
          const batch = { ...choose(model, step), atMs: system.clock.nowMs() }
          const expected = model.judge(batch)
          const offset = model.end
          const outcome = send(partition, batch)
          expect(describeOutcome(outcome, offset)).toBe(expected)
          if (expected === 'new') model.log.push({ ...batch, offset })
          inFlight.push(outcome)
          break
        }
        case 'settle':
          for (const result of await settle()) expect(result.status).toBe('fulfilled')
          break
        case 'fail': {
          await settle()
          system.failFlushes()
          const batch = choose(model, { producerId: 1, count: 2, sent: { kind: 'next', skip: 0 } })
          const atMs = system.clock.nowMs()
          expect(model.judge({ ...batch, atMs })).toBe('new')
          const doomed = send(partition, batch)
          const again = send(partition, batch)
          expect(again.accepted?.baseOffset).toBe(doomed.accepted?.baseOffset)
          await expect(doomed.accepted?.committed).rejects.toThrow()
          await expect(again.accepted?.committed).rejects.toThrow()
          system.store.heal()
          break
        }
        case 'fail-second':
          await new Promise((resolve) => setImmediate(resolve))
          system.failFlushes()
          await settle()
          system.store.heal()
          break
        case 'crash':
          await settle()
          node = await system.start()
          partition = await openPartition(node.streams)
          break
        case 'pack':
          await settle()
          await node.log.pack()
          break
        case 'hour':
          system.clock.pass(3_600_000)
          break
        case 'day':
          system.clock.pass(dayMs)
          break
      }
    }
    await settle()
    expect(await readValues(partition)).toEqual(
      model.log.flatMap(({ offset, count, producerId, epoch, first }) =>
        Array.from({ length: count }, (_, index) => `${offset + index}=${producerId}/${epoch}/${first}.${index}`),
      ),
    )
  } finally {
    await system.close()
  }
}

function choose(
  model: Model,
  { producerId, count, sent }: { producerId: number; count: number; sent: Sent },
): { producerId: number; epoch: number; first: number; count: number } {
  const mine = model.log.filter((taken) => taken.producerId === producerId)
  const last = mine.at(-1)
  const next = last === undefined ? sequences - 4 : (last.first + last.count) % sequences
  const epoch = last?.epoch ?? 0
  if (sent.kind === 'next') return { producerId, epoch, first: (next + sent.skip) % sequences, count }
  if (sent.kind === 'epoch') return { producerId, epoch: Math.max(0, epoch + sent.bump), first: sent.sequence, count }
  const repeated = mine.at(-1 - sent.back)
  return repeated === undefined
    ? { producerId, epoch, first: next, count }
    : { producerId, epoch: repeated.epoch, first: repeated.first, count: repeated.count }
}

function send(
  partition: Partition,
  { producerId, epoch, first, count }: { producerId: number; epoch: number; first: number; count: number },
): AppendOutcome {
  return append(partition, producerBatch(producerId, first, { epoch, count, value: `${producerId}/${epoch}/${first}` }))
}

function describeOutcome({ accepted, refused }: AppendOutcome, next: number): string {
  if (refused !== undefined) return `refused ${refused.errorCode}`
  return accepted.baseOffset === next ? 'new' : `duplicate of ${accepted.baseOffset}`
}
