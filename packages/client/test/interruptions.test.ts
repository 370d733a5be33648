import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DurableStreamsClient, PicoClient, type PicoStream } from '../src/index.ts'
import { collected } from './collected.ts'
import { FlakyProxy } from './flaky-proxy.ts'
import { ServedStreams } from './served-streams.ts'

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000)
console.log(`interruptions: TEST_SEED=${seed}`)

const retry = { firstDelayMs: 2, longestDelayMs: 50, giveUpAfterMs: 20_000 }

/** Appends 0, 1, 2, … and returns where each went. */
async function produce(stream: PicoStream, count: number, settings: { pauseEvery?: number } = {}): Promise<number[]> {
  const producer = stream.producer({ batchRecordsMax: 50, retry })
  const acknowledged: Promise<number | null>[] = []
  for (let n = 0; n < count; n++) {
    acknowledged.push((await producer.append(`${n}`)).acknowledged)
    if (settings.pauseEvery !== undefined && n % settings.pauseEvery === 0) await sleep(1)
  }
  await producer.close()
  return (await Promise.all(acknowledged)).map((seq) => seq ?? -1)
}

async function tailed(stream: PicoStream, count: number, live: 'long-poll' | 'sse'): Promise<string[]> {
  const seen: string[] = []
  for await (const { seq, text } of stream.tail({ from: 0, live, bytes: 5000 })) {
    seen.push(`${seq}:${text}`)
    if (seen.length === count) break
  }
  return seen
}

const expected = (count: number) => Array.from({ length: count }, (_, n) => `${n}:${n}`)

describe.each([
  { http2: false, live: 'long-poll' },
  { http2: false, live: 'sse' },
  { http2: true, live: 'long-poll' },
  { http2: true, live: 'sse' },
] as const)('http2 $http2, $live', ({ http2, live }) => {
  let served: ServedStreams

  beforeAll(async () => {
    served = await ServedStreams.open()
  })

  afterAll(async () => {
    await served.close()
    expect(served.problems).toEqual([])
  })

  test('a server that restarts on the same port costs producers and readers nothing but time', async () => {
    await using client = new PicoClient({ endpoint: served.url, http2, retry })
    const stream = client.stream('restarted')
    await stream.create()
    const count = 1500
    const reading = tailed(stream, count, live)
    const producing = produce(stream, count, { pauseEvery: 10 })
    for (let restarts = 0; restarts < 2; restarts++) {
      await sleep(80)
      await served.restart(20)
    }
    expect(await producing).toEqual(Array.from({ length: count }, (_, n) => n))
    expect(await reading).toEqual(expected(count))
    expect((await stream.head()).nextSeq).toBe(count)
  })

  test('connections that break anywhere lose, repeat and disorder nothing', async () => {
    const proxy = await FlakyProxy.open({
      seed,
      targetPort: () => served.port,
      breakAfterBytes: 8000,
      delayMsMax: 3,
    })
    await using direct = new PicoClient({ endpoint: served.url })
    await using client = new PicoClient({ endpoint: proxy.url, http2, retry })
    await direct.stream('broken').create()
    const count = 2000
    const stream = client.stream('broken')
    const reading = tailed(stream, count, live)
    const places = await produce(stream, count)
    expect(places).toEqual(Array.from({ length: count }, (_, n) => n))
    expect(await reading).toEqual(expected(count))
    expect((await direct.stream('broken').head()).nextSeq).toBe(count)
    expect(proxy.broken).toBeGreaterThan(0)
    await proxy.close()
  })
})

test('a plain append through a connection that breaks is written at most once, and says when nobody knows', async () => {
  const served = await ServedStreams.open()
  const proxy = await FlakyProxy.open({ seed, targetPort: () => served.port, breakAfterBytes: 1500, delayMsMax: 1 })
  await using direct = new PicoClient({ endpoint: served.url })
  await direct.stream('plain').create()
  for (const http2 of [false, true]) {
    await using client = new PicoClient({ endpoint: proxy.url, http2, retry })
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        const body = `${http2} ${n}`
        return client
          .stream('plain')
          .append(body)
          .then(
            () => ({ body, sure: true }),
            (error) => {
              expect(error).toMatchObject({ code: 'connection_lost', written: 'maybe' })
              return { body, sure: false }
            },
          )
      }),
    )
    const written = (await collected(direct.stream('plain').records())).map(({ text }) => text ?? '')
    const mine = written.filter((text) => text.startsWith(`${http2} `))
    expect(new Set(mine).size).toBe(mine.length)
    for (const { body, sure } of outcomes) if (sure) expect(mine).toContain(body)
    expect(outcomes.some(({ sure }) => !sure)).toBe(true)
    expect(outcomes.some(({ sure }) => sure)).toBe(true)
  }
  await proxy.close()
  await served.close()
})

describe('Durable Streams', () => {
  let served: ServedStreams

  beforeAll(async () => {
    served = await ServedStreams.open({ protocol: 'ds' })
  })

  afterAll(async () => {
    await served.close()
    expect(served.problems).toEqual([])
  })

  test.each(['long-poll', 'sse'] as const)('connections that break lose and repeat nothing, %s', async (live) => {
    const proxy = await FlakyProxy.open({
      seed,
      targetPort: () => served.port,
      breakAfterBytes: 2500,
      delayMsMax: 3,
    })
    await using direct = new DurableStreamsClient({ endpoint: served.url })
    await using client = new DurableStreamsClient({ endpoint: proxy.url, retry })
    const name = `broken/${live}`
    await direct.stream(name).create({ contentType: 'application/json' })
    const count = 2000
    const reading = (async () => {
      const seen: unknown[] = []
      for await (const chunk of client.stream(name).tail({ from: 'earliest', live })) {
        seen.push(...chunk.messages())
        if (seen.length >= count) break
      }
      return seen
    })()
    const producer = await client.stream(name).producer({ batchRecordsMax: 50, retry })
    for (let n = 0; n < count; n++) await producer.append(`${n}`)
    await producer.close()
    expect(await reading).toEqual(Array.from({ length: count }, (_, n) => n))
    expect(proxy.broken).toBeGreaterThan(0)
    await proxy.close()
  })
})
