import { withFaults } from '@pico/storage/faults'
import { openMemoryStore } from '@pico/storage/memory'
import { describe, expect, test } from 'vitest'
import type { Log, LogStream, PackedRange } from '../src/index.ts'
import { type LostAnswer, losableCalls } from './lost-answers.ts'
import { TestSystem, type WalKind, walKinds } from './system.ts'
import { entry, foldedTags, stamp, tagsOf } from './test-entries.ts'
import { VirtualClock } from './virtual-clock.ts'

/** What must be true of one stream, kept beside it in the plainest way. */
class Model {
  /** Tags acknowledged, by offset. */
  readonly acknowledged = new Map<number, number>()
  /** Tags ever handed in. */
  readonly attempted = new Set<number>()
  start = 0

  check(found: readonly { baseOffset: number; tag: number }[], startOffset: number, trace: readonly string[]): void {
    const why = trace.slice(-40).join('\n')
    expect(startOffset, why).toBe(this.start)
    for (const [i, { baseOffset, tag }] of found.entries()) {
      expect(baseOffset, `dense offsets\n${why}`).toBe(startOffset + i)
      expect(this.attempted.has(tag), `a tag nobody appended\n${why}`).toBe(true)
    }
    for (const [offset, tag] of this.acknowledged) {
      if (offset < startOffset) continue
      expect(found[offset - startOffset]?.tag, `offset ${offset} was acknowledged\n${why}`).toBe(tag)
    }
  }
}

interface Simulated {
  readonly streamId: number
  readonly model: Model
  readonly isFork: boolean
  stream: LogStream
}

async function simulate(kind: WalKind, seed: number, steps: number): Promise<string[]> {
  const random = mulberry32(seed)
  const draw = (bound: number) => Math.floor(random() * bound)
  const clock = new VirtualClock()
  // Writes that are on their way together land in any order, and at a crash some have and some have not.
  const slowWrites = seed % 2 === 0
  const delay = () => new Promise<void>((resolve) => clock.after(draw(6), () => resolve()))
  const store = withFaults(openMemoryStore(), {
    seed,
    before: (operation) => (slowWrites && operation === 'write' ? delay() : undefined),
  })
  const lostAnswers: LostAnswer[] = []
  const system = await TestSystem.open(kind, { store, clock, lostAnswers })
  const heal = () => {
    store.heal()
    lostAnswers.length = 0
  }
  const trace: string[] = []
  const settings = {
    segmentBytes: 2 * 1024 * 1024,
    logCacheBytes: draw(2) * 8 * 1024 * 1024,
    packBytes: 300_000,
    packIntervalMs: 10_000,
    maintenanceIntervalMs: 20_000,
    doomedGraceMs: 1000,
    compactBelowBytes: 2_000_000,
    compactFanIn: 4,
    idleStreamMs: 15_000,
    flushIntervalMs: draw(2) * 5,
  }
  const simulated: Simulated[] = []
  let log: Log = await system.start(settings)
  let tag = 0

  /** What asks the database again does so after a while. */
  const passing = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false
    const over = () => {
      isOver = true
    }
    work.then(over, over)
    for (let turns = 0; !isOver; turns += 1) {
      if (turns < 200) await new Promise((resolve) => setImmediate(resolve))
      else await clock.advance(50)
    }
    return work
  }
  const openAll = async () => {
    const open = () =>
      log.open(
        simulated.map((one) => one.streamId),
        () => ({ committed: () => undefined, rolledBack: () => undefined }),
      )
    // Whoever is told that the database does not answer tries again.
    const opened = await open().catch(() => {
      trace.push('open failed')
      lostAnswers.length = 0
      return open()
    })
    for (const [i, one] of simulated.entries()) one.stream = opened[i] as LogStream
  }
  const appendBurst = async () => {
    const burst = 1 + draw(8)
    await openAll()
    for (let i = 0; i < burst; i += 1) {
      const target = simulated[draw(simulated.length)] as Simulated
      tag += 1
      const mine = tag
      target.model.attempted.add(mine)
      const appended = target.stream.append(entry(mine, { payloadBytes: 4 + draw(60_000), timestampMs: clock.nowMs() }))
      stamp(appended.bytes, appended.baseOffset)
      appended.committed.then(
        () => target.model.acknowledged.set(appended.baseOffset, mine),
        () => trace.push(`append ${mine} failed`),
      )
    }
  }
  const checkAll = async () => {
    await openAll()
    for (const { stream, model } of simulated) {
      const found: { baseOffset: number; tag: number }[] = []
      for (let offset = stream.startOffset; ; ) {
        const read = await stream.read(offset, 1 + draw(200_000))
        if (read === null) break
        found.push(...tagsOf(read).filter(({ baseOffset }) => baseOffset >= offset))
        offset = read.endOffset
      }
      model.check(found, stream.startOffset, trace)
      const overlaps = stream.packed.some(({ baseOffset }, at) => baseOffset < (stream.packed[at - 1]?.endOffset ?? 0))
      expect(overlaps, trace.slice(-40).join('\n')).toBe(false)
    }
  }
  for (const name of ['a', 'b', 'c']) {
    const streamId = await system.createStream(name)
    simulated.push({ streamId, model: new Model(), isFork: false, stream: undefined as unknown as LogStream })
  }
  await openAll()

  for (let step = 0; step < steps; step += 1) {
    const kindOfStep = draw(100)
    if (kindOfStep < 60) {
      await appendBurst()
      trace.push(`appended up to ${tag}`)
      if (draw(3) > 0) await clock.advance(draw(20))
    } else if (kindOfStep < 66) {
      trace.push('time passes')
      await clock.advance(5000)
    } else if (kindOfStep < 70) {
      trace.push('pack')
      await passing(log.pack()).catch((error: unknown) => trace.push(`pack: ${error}`))
    } else if (kindOfStep < 73) {
      trace.push('maintain')
      await passing(log.maintain()).catch((error: unknown) => trace.push(`maintain: ${error}`))
    } else if (kindOfStep < 76) {
      const target = simulated[draw(simulated.length)] as Simulated
      await openAll()
      const to = draw(target.stream.committedOffset + 1)
      target.model.start = await passing(target.stream.trim(to))
      trace.push(`trimmed to ${target.model.start}`)
    } else if (kindOfStep < 79) {
      const source = simulated[draw(simulated.length)] as Simulated
      await openAll()
      const { startOffset, committedOffset } = source.stream
      const offset = startOffset + draw(committedOffset - startOffset + 1)
      const name = `fork-${step}`
      const forked = await passing(system.fork(log, source.streamId, offset, name)).catch((error: unknown) =>
        String(error),
      )
      trace.push(`fork of ${source.streamId} at ${offset}: ${JSON.stringify(forked)}`)
      if (typeof forked === 'number') {
        const model = new Model()
        model.start = Math.min(source.model.start, offset)
        for (const tag of source.model.attempted) model.attempted.add(tag)
        for (const [at, tag] of source.model.acknowledged) if (at < offset) model.acknowledged.set(at, tag)
        // An old fork goes, so that there are never many.
        if (simulated.length > 6) {
          const [gone] = simulated.splice(3, 1)
          await system.metadata.streams.delete([gone?.streamId ?? 0], clock.nowMs())
          log.forget(gone?.streamId ?? 0)
        }
        simulated.push({ streamId: forked, model, isFork: true, stream: undefined as unknown as LogStream })
        await openAll()
      }
    } else if (kindOfStep < 82) {
      const target = simulated[draw(simulated.length)] as Simulated
      await openAll()
      const { packed } = target.stream
      const from = draw(packed.length + 1)
      const ranges = packed.slice(from, from + 1 + draw(4))
      if (ranges.length === 0) continue
      const { signal } = new AbortController()
      const rewritten = passing(target.stream.replacePacked(ranges, sameEntries(target.stream, ranges, signal), signal))
      trace.push(`rewrote ${ranges.length} ranges of ${target.streamId}: ${await rewritten.catch(String)}`)
    } else if (kindOfStep < 85) {
      for (let losses = 1 + draw(3); losses > 0; losses -= 1) {
        const call = losableCalls[draw(losableCalls.length)] ?? 'commitPack'
        const happened = draw(2) === 0
        lostAnswers.push({ call, happened })
        trace.push(`the answer to ${call} gets lost, which ${happened ? 'happened' : 'did not happen'}`)
      }
      // Twice, so that what the first round has replaced is deleted. A merge may come while a pack waits for its answer.
      const isTogether = draw(2) === 0
      for (let rounds = 2 * draw(2); rounds > 0; rounds -= 1) {
        const packing = passing(log.pack()).catch((error: unknown) => trace.push(`pack: ${error}`))
        if (!isTogether) await packing
        await passing(log.maintain()).catch((error: unknown) => trace.push(`maintain: ${error}`))
        await packing
        await clock.advance(1001)
      }
    } else if (kindOfStep < 89) {
      const operation = (['put', 'write', 'create', 'get', 'delete'] as const)[draw(5)] ?? 'put'
      const fault =
        operation === 'write' && draw(2) === 0
          ? ({ kind: 'torn', keep: draw(2) === 0 ? 'beginning' : 'sectors' } as const)
          : ({ kind: draw(2) === 0 ? 'fail-before' : 'fail-after' } as const)
      const nth = 1 + draw(3)
      store.inject({ operation, nth, fault })
      trace.push(`fault: ${operation} ${nth} ${fault.kind}`)
    } else if (kindOfStep < 93) {
      // In the middle of what is being written, as often as not.
      for (let flushes = draw(4); flushes > 0; flushes -= 1) {
        await appendBurst()
        await clock.settle()
      }
      await clock.advance(draw(6))
      trace.push(`crash, with up to ${tag} appended`)
      clock.reset()
      heal()
      log = await system.start(settings)
      await checkAll()
    } else if (kindOfStep < 95) {
      trace.push('clean restart')
      heal()
      await passing(log.close())
      clock.reset()
      log = await system.start(settings)
      await checkAll()
    } else {
      trace.push('check')
      await clock.advance(50)
      heal()
      await checkAll()
    }
  }
  heal()
  await clock.advance(60_000)
  await checkAll()
  clock.reset()
  log = await system.start(settings)
  await checkAll()
  for (const { stream, model, isFork } of simulated) {
    if (isFork) continue // it has no state of its source
    expect(foldedTags(stream.recoveredState).count, trace.slice(-40).join('\n')).toBeGreaterThanOrEqual(
      model.acknowledged.size,
    )
  }
  await passing(log.close())
  await system.metadata.close()
  return trace
}

async function* sameEntries(
  stream: LogStream,
  ranges: readonly PackedRange[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (const range of ranges) yield* stream.readPacked(range, signal)
}

function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const firstSeed = Number(process.env['PICO_SIM_SEED'] ?? 1)
const seedCount = Number(process.env['PICO_SIM_COUNT'] ?? 6)
const seeds = Array.from({ length: seedCount }, (_, i) => firstSeed + i)

describe.each(walKinds)('a %s WAL, through crashes and failing stores in virtual time', (kind) => {
  test.each(seeds)(
    'seed %i: acknowledged entries stay, in place and in order',
    async (seed) => {
      await simulate(kind, seed, 150)
    },
    60_000,
  )

  test('the same seed gives the same trace', async () => {
    expect(await simulate(kind, 4242, 60)).toEqual(await simulate(kind, 4242, 60))
  }, 60_000)
})
