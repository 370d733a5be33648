import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AppendRecordsOutcome, CloseOutcome, HttpProducerStamp } from '../src/index.ts'
import { created, newStream, opened } from './path-system.ts'
import { append, batchOf, type Node, readValues, TestSystem, walKinds } from './system.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const ids = ['p', 'q'] as const

type Step =
  | {
      readonly do: 'append'
      readonly by: 'nobody' | HttpProducerStamp['counts']
      readonly id: number
      readonly count: number
      readonly sent: Sent
      readonly streamSeq: string | null
      readonly match: number | null
      readonly close: boolean
    }
  | {
      readonly do: 'close'
      readonly by: 'nobody' | HttpProducerStamp['counts']
      readonly id: number
      readonly sent: Sent
    }
  | { readonly do: 'kafka' | 'settle' | 'fail' | 'crash' | 'stop' | 'pack' | 'hour' | 'day' | 'fork' }

/** What a producer sends, in terms of what it has in the stream: so that random choices are interesting ones. */
type Sent =
  | { readonly kind: 'next'; readonly skip: number }
  | { readonly kind: 'repeat'; readonly back: number }
  | { readonly kind: 'epoch'; readonly bump: number; readonly sequence: number }

interface Taken {
  readonly offset: number
  readonly count: number
  readonly atMs: number
  readonly by: HttpProducerStamp | null
  readonly streamSeq: string | null
  readonly closes: boolean
  readonly text: string
}

/** The rules of durable-streams.md 1.4 to 1.7 over the whole history, kept as the plain list of what was taken. */
class Model {
  log: Taken[] = []
  /** By a request without records. */
  closedBy: HttpProducerStamp | null | undefined = undefined

  get end(): number {
    const last = this.log.at(-1)
    return last === undefined ? 0 : last.offset + last.count
  }

  get isClosed(): boolean {
    return this.closedBy !== undefined || this.log.some(({ closes }) => closes)
  }

  get closer(): HttpProducerStamp | null {
    return this.closedBy ?? this.log.find(({ closes }) => closes)?.by ?? null
  }

  judge(
    by: HttpProducerStamp | null,
    count: number,
    atMs: number,
    terms: { streamSeq: string | null; match: number | null } = { streamSeq: null, match: null },
  ): string {
    const producer = by === null ? 'new' : this.judgeProducer(by, count, atMs)
    if (this.isClosed) {
      if (by !== null && same(by, this.closer)) return 'duplicate closed'
      if (by?.counts === 'records' && producer.startsWith('duplicate')) return producer
      return `closed ${this.end}`
    }
    if (producer !== 'new') return producer
    if (terms.match !== null && terms.match !== this.end) return `match-failed ${this.end}`
    const lastSeq = this.log.findLast(({ streamSeq }) => streamSeq !== null)?.streamSeq ?? null
    if (terms.streamSeq !== null && lastSeq !== null && Buffer.compare(latin1(terms.streamSeq), latin1(lastSeq)) <= 0) {
      return `stream-seq ${lastSeq}`
    }
    return 'new'
  }

  /** Those of one producer of one kind since it was last unknown. */
  known(by: HttpProducerStamp, atMs: number): (Taken & { by: HttpProducerStamp })[] {
    const mine = this.log.filter((taken): taken is Taken & { by: HttpProducerStamp } => {
      return taken.by?.id === by.id && taken.by.counts === by.counts
    })
    const last = mine.at(-1)
    if (last === undefined || atMs - last.atMs >= dayMs) return []
    const begins = mine.findLastIndex(({ atMs }, index) => index > 0 && atMs - (mine[index - 1]?.atMs ?? 0) >= dayMs)
    return mine.slice(Math.max(begins, 0))
  }

  judgeProducer(by: HttpProducerStamp, count: number, atMs: number): string {
    const known = this.known(by, atMs)
    const last = known.at(-1)
    if (last === undefined) return by.sequence === 0 ? 'new' : 'gap 0'
    if (by.epoch < last.by.epoch) return `old-epoch ${last.by.epoch}`
    if (by.epoch > last.by.epoch) return by.sequence === 0 ? 'new' : 'epoch-not-from-zero'
    const lastSequence = lastOf(last.by, last.count)
    if (lastOf(by, count) <= lastSequence) {
      const epochBegins = known.findLastIndex(({ by: other }) => other.epoch !== by.epoch) + 1
      const of = known
        .slice(epochBegins)
        .slice(-5)
        .find((taken) => taken.by.sequence <= by.sequence && lastOf(by, count) <= lastOf(taken.by, taken.count))
      const from = of === undefined ? null : of.offset + (by.counts === 'records' ? by.sequence - of.by.sequence : 0)
      const to =
        of === undefined || from === null ? null : by.counts === 'records' ? from + count : of.offset + of.count
      return `duplicate of ${from}-${to}, last ${lastSequence}`
    }
    return by.sequence === lastSequence + 1 ? 'new' : `gap ${lastSequence + 1}`
  }
}

const sent: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('next' as const), skip: fc.constantFrom(0, 0, 0, 0, 1, -1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('repeat' as const), back: fc.integer({ min: 0, max: 7 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('epoch' as const),
      bump: fc.integer({ min: -1, max: 2 }),
      sequence: fc.constantFrom(0, 0, 3),
    }),
  },
)
const by = fc.constantFrom(
  'nobody' as const,
  'records' as const,
  'records' as const,
  'requests' as const,
  'requests' as const,
)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      by,
      id: fc.integer({ min: 0, max: 1 }),
      count: fc.integer({ min: 1, max: 3 }),
      sent,
      streamSeq: fc.constantFrom(null, null, null, null, 'a', 'B', '2', '10', 'b', '\u00e9', '\u00e9x'),
      match: fc.constantFrom(null, null, null, null, null, 0, 1),
      close: fc.constantFrom(...Array.from({ length: 30 }, () => false), true),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('close' as const, 'hour' as const, 'hour' as const),
      by,
      id: fc.integer({ min: 0, max: 1 }),
      sent,
    }) as fc.Arbitrary<Step>,
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('kafka', 'settle', 'settle', 'fail', 'crash', 'crash', 'stop', 'pack', 'hour', 'day', 'fork'),
    }),
  },
)

const runs = Number(process.env['PICO_MODEL_RUNS'] ?? 15)

describe.each(walKinds)('HTTP producers, Stream-Seq and closing over a %s WAL', (kind) => {
  it('are judged as the rules say over what is in the log, whatever fails in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => run(kind, steps)),
      { numRuns: runs },
    )
  }, 600_000)
})

async function run(kind: (typeof walKinds)[number], steps: readonly Step[]): Promise<void> {
  const system = await TestSystem.open(kind)
  try {
    let node: Node = await system.start()
    let name = '/stream'
    created(await node.streams.paths.create(newStream(name)))
    let stream = await opened(node.streams, name)
    let model = new Model()
    let inFlight: Promise<void>[] = []
    let written = 0

    const settle = async () => {
      const results = await Promise.allSettled(inFlight)
      inFlight = []
      // Flushes fail from some point on: what is left is the beginning of what was assigned.
      model.log = model.log.filter(({ offset }) => offset < stream.highWatermark)
      expect(stream.highWatermark).toBe(model.end)
      expect(stream.closed).toBe(model.isClosed)
      return results
    }
    const check = async () => {
      expect(await readValues(stream)).toEqual(
        model.log.flatMap(({ offset, count, text }) =>
          Array.from({ length: count }, (_, index) => `${offset + index}=${text}.${index}`),
        ),
      )
      expect(await node.streams.paths.describe(name)).toMatchObject({ closed: model.isClosed, nextOffset: model.end })
    }

    for (const step of steps) {
      const atMs = system.clock.nowMs()
      switch (step.do) {
        case 'append': {
          const stamp = step.by === 'nobody' ? null : choose(model, step.by, step.id, step.sent, atMs)
          const match = step.match === null ? null : model.end + step.match
          written += 1
          const text = String(written)
          const expected = model.judge(stamp, step.count, atMs, { streamSeq: step.streamSeq, match })
          const records = Array.from({ length: step.count }, (_, index) => ({ value: `${text}.${index}` }))
          const outcome = stream.appendRecords(records, {
            ...(stamp !== null && { producer: stamp }),
            ...(match !== null && { matchOffset: match }),
            ...(step.streamSeq !== null && { streamSeq: step.streamSeq }),
            close: step.close,
          })
          expect(inShort(outcome)).toBe(expected)
          if (outcome.kind === 'appended') {
            expect(outcome).toMatchObject({ baseOffset: model.end, nextOffset: model.end + step.count })
            const { count, streamSeq, close: closes } = step
            model.log.push({ offset: model.end, count, atMs, by: stamp, streamSeq, closes, text })
          }
          if (outcome.kind !== 'refused') inFlight.push(outcome.committed)
          break
        }
        case 'close': {
          const stamp = step.by === 'nobody' ? null : choose(model, step.by, step.id, step.sent, atMs)
          const isAgain = model.isClosed && stamp === null
          const expected = isAgain ? 'new' : model.judge(stamp, 1, atMs)
          // Half of the time with appends in flight, which it comes after.
          const closing = stream.closeNow(stamp ?? undefined)
          if (expected === 'new' && !model.isClosed) {
            const refused = stream.appendRecords([{ value: 'late' }])
            expect(refused).toMatchObject({ kind: 'refused', why: { kind: 'closed', nextOffset: model.end } })
          }
          const outcome = await closing
          expect(inShort(outcome)).toBe(expected)
          if (outcome.kind === 'closed' && !isAgain) model.closedBy = stamp
          if (outcome.kind === 'closed') expect(outcome.nextOffset).toBe(model.end)
          break
        }
        case 'kafka': {
          written += 1
          const text = String(written)
          const outcome = append(stream, batchOf([`${text}.0`]))
          expect(outcome.refused?.errorCode).toBe(model.isClosed ? 44 : undefined)
          if (outcome.accepted === undefined) break
          model.log.push({ offset: model.end, count: 1, atMs, by: null, streamSeq: null, closes: false, text })
          inFlight.push(outcome.accepted.committed)
          break
        }
        case 'settle':
          for (const result of await settle()) expect(result.status).toBe('fulfilled')
          break
        case 'fail': {
          await settle()
          if (model.isClosed) break
          system.failFlushes()
          const last = { id: 'f', epoch: 0, sequence: 0, counts: 'requests' } as const
          const terms = { producer: last, streamSeq: '\u00ff', close: true }
          const doomed = stream.appendRecords([{ value: 'x' }], terms)
          const again = stream.appendRecords([{ value: 'x' }], terms)
          expect(inShort(again)).toBe('duplicate closed')
          expect(stream.closed).toBe(false)
          for (const outcome of [doomed, again]) {
            if (outcome.kind === 'refused') throw new Error('refused')
            await expect(outcome.committed).rejects.toThrow()
          }
          system.store.heal()
          break
        }
        case 'crash':
        case 'stop':
          await settle()
          if (step.do === 'stop') {
            await node.streams.close()
            await node.log.close()
          }
          node = await system.start()
          expect(await node.streams.paths.describe(name)).toMatchObject({ closed: model.isClosed })
          stream = await opened(node.streams, name)
          await check()
          break
        case 'pack':
          await settle()
          await node.log.pack()
          break
        case 'hour':
          system.clock.jump(hourMs)
          break
        case 'day':
          system.clock.jump(dayMs)
          break
        case 'fork': {
          await settle()
          const offset = Math.floor(model.end / 2)
          const fork = { source: name, offset, subOffset: 0 }
          name = `${name}x`
          created(await node.streams.paths.create(newStream(name, { fork })))
          stream = await opened(node.streams, name)
          const kept = new Model()
          for (const taken of model.log) {
            const count = Math.min(taken.count, offset - taken.offset)
            if (count > 0) kept.log.push({ ...taken, count, by: null, streamSeq: null, closes: false })
          }
          model = kept
          break
        }
      }
    }
    await settle()
    await check()
  } finally {
    await system.close()
  }
}

function choose(
  model: Model,
  counts: HttpProducerStamp['counts'],
  id: number,
  sent: Sent,
  atMs: number,
): HttpProducerStamp {
  const producer = { id: ids[id % ids.length] ?? 'p', counts }
  const mine = model.known({ ...producer, epoch: 0, sequence: 0 }, atMs)
  const last = mine.at(-1)
  const epoch = last?.by.epoch ?? 0
  const next = last === undefined ? 0 : lastOf(last.by, last.count) + 1
  if (sent.kind === 'next') return { ...producer, epoch, sequence: Math.max(0, next + sent.skip) }
  if (sent.kind === 'epoch') return { ...producer, epoch: Math.max(0, epoch + sent.bump), sequence: sent.sequence }
  return mine.at(-1 - sent.back)?.by ?? { ...producer, epoch, sequence: next }
}

function lastOf({ counts, sequence }: HttpProducerStamp, count: number): number {
  return counts === 'records' ? sequence + count - 1 : sequence
}

function same(a: HttpProducerStamp, b: HttpProducerStamp | null): boolean {
  return a.id === b?.id && a.counts === b.counts && a.epoch === b.epoch && a.sequence === b.sequence
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

function inShort(outcome: AppendRecordsOutcome | CloseOutcome): string {
  if (outcome.kind === 'appended' || outcome.kind === 'closed') return 'new'
  if (outcome.kind === 'duplicate') {
    if (outcome.closed) return 'duplicate closed'
    return `duplicate of ${outcome.of?.baseOffset ?? null}-${outcome.of?.nextOffset ?? null}, last ${outcome.lastSequence}`
  }
  const { why } = outcome
  switch (why.kind) {
    case 'closed':
    case 'match-failed':
      return `${why.kind} ${why.nextOffset}`
    case 'sequence-gap':
      return `gap ${why.expectedSequence}`
    case 'old-epoch':
      return `old-epoch ${why.currentEpoch}`
    case 'stream-seq':
      return `stream-seq ${why.lastStreamSeq}`
    default:
      return why.kind
  }
}
