import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { RecordProblem, TopicSchema } from '../src/index.ts'
import { JudgedAppends } from '../src/judged-appends.ts'
import { HeldJudge, problem } from './schemas.ts'

const orders: TopicSchema = { name: 'orders', version: 1, encoding: 'plain', tombstonesPass: false }

function setUp(schema: TopicSchema | null = orders, bytesMax = 100) {
  const inForce = { schema }
  const appends = new JudgedAppends(() => inForce.schema, bytesMax)
  const judge = new HeldJudge()
  const done: string[] = []
  const take = (name: string, bytes = 1) =>
    appends.take(bytes, judge.judge, (judgement) => {
      done.push(`${name}${judgement === null ? '' : ` by ${judgement.schema.version}`}`)
      return judgement?.problems ?? null
    })
  return { inForce, appends, judge, done, take }
}

describe('appends that are judged', () => {
  it('are judged together, and appended in the order in which they came', async () => {
    const { judge, done, take } = setUp()
    const all = [take('a'), take('b'), take('c')]
    expect(judge.asked.length).toBe(3)
    judge.answer(2)
    judge.answer(1, problem(4))
    await turn()
    expect(done).toEqual([])
    judge.answer(0)
    expect(await Promise.all(all)).toEqual([[], [problem(4)], []])
    expect(done).toEqual(['a by 1', 'b by 1', 'c by 1'])
  })

  it('are judged again by the schema that is in force when their turn comes', async () => {
    const { inForce, judge, done, take } = setUp()
    const first = take('a')
    inForce.schema = { ...orders, version: 2 }
    judge.answer(0, problem(0))
    await turn()
    expect(done).toEqual([])
    expect(judge.asked.map(({ version }) => version)).toEqual([1, 2])
    judge.answer(1)
    expect(await first).toEqual([])
    expect(done).toEqual(['a by 2'])
  })

  it.each([
    { ...orders, encoding: 'confluent' as const },
    { ...orders, tombstonesPass: true },
    { ...orders, name: 'others' },
  ])('are judged again by %j', async (changed) => {
    const { inForce, judge, take } = setUp()
    const first = take('a')
    inForce.schema = changed
    judge.answer(0)
    await turn()
    judge.answer(1, problem(7))
    expect(await first).toEqual([problem(7)])
  })

  it('are not judged where nothing is bound any more, but keep their place', async () => {
    const { inForce, appends, judge, done, take } = setUp()
    const first = take('a')
    inForce.schema = null
    const second = take('b')
    expect(judge.asked.length).toBe(1)
    await turn()
    expect(done).toEqual([])
    judge.answer(0, problem(0))
    await Promise.all([first, second])
    expect(done).toEqual(['a', 'b'])
    expect(appends.isBusy).toBe(false)
  })

  it('are judged where something was bound while they waited', async () => {
    const { inForce, judge, done, take } = setUp(null)
    const first = take('a')
    inForce.schema = orders
    await turn()
    expect(done).toEqual([])
    judge.answer(0, problem(1))
    expect(await first).toEqual([problem(1)])
  })

  it('fail, with all that wait behind them, when nobody can judge them', async () => {
    const { appends, judge, done, take } = setUp()
    const all = [take('a'), take('b'), take('c')]
    judge.answer(2)
    judge.answer(0)
    judge.fail(1, new Error('no schema'))
    const outcomes = await Promise.allSettled(all)
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(done).toEqual(['a by 1'])
    const later = take('d')
    judge.answer(3)
    expect(await later).toEqual([])
    expect(appends.isBusy).toBe(false)
  })

  it('fail alone when it is the appending that fails', async () => {
    const { appends, judge, take } = setUp()
    const bug = appends.take(1, judge.judge, () => {
      throw new Error('a bug')
    })
    const next = take('b')
    judge.answer(0)
    judge.answer(1)
    await expect(bug).rejects.toThrow('a bug')
    expect(await next).toEqual([])
  })

  it('say when no more should come, and when again', async () => {
    const { appends, judge, take } = setUp()
    const first = take('a', 99)
    expect(appends.hasRoom).toBe(true)
    const second = take('b', 99)
    expect(appends.hasRoom).toBe(false)
    let hasRoom = false
    const room = appends.whenRoom().then(() => (hasRoom = true))
    await turn()
    expect(hasRoom).toBe(false)
    judge.answer(0)
    await first
    await room
    expect(appends.hasRoom).toBe(true)
    judge.fail(1, new Error('no schema'))
    await expect(second).rejects.toThrow('no schema')
    expect(appends.hasRoom).toBe(true)
  })

  it('come in the order in which they came whatever the judge and the bindings do', async () => {
    for (let seed = 1; seed <= 200; seed++) {
      let state = seed
      const random = (below: number) => {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0
        return (state >>> 8) % below
      }
      const inForce: { schema: TopicSchema | null } = { schema: orders }
      const appends = new JudgedAppends(() => inForce.schema, 1000)
      const done: number[] = []
      const waits: Promise<unknown>[] = []
      for (let name = 0; name < 20; name++) {
        if (random(4) === 0) inForce.schema = random(3) === 0 ? null : { ...orders, version: 1 + random(3) }
        const judge = async (): Promise<readonly RecordProblem[]> => {
          for (let turns = random(4); turns > 0; turns--) await turn()
          return []
        }
        const act = (judgement: { schema: TopicSchema } | null) => {
          expect(judgement?.schema ?? null, `seed ${seed}`).toEqual(inForce.schema)
          done.push(name)
        }
        waits.push(appends.take(1, judge, act))
        if (random(2) === 0) await turn()
      }
      await Promise.all(waits)
      expect(done, `seed ${seed}`).toEqual(Array.from({ length: 20 }, (_, index) => index))
    }
  })
})
