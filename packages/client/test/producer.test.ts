import { describe, expect, test } from 'vitest'
import type { BatchRequest, BatchSender, PreparedRecord, Sent } from '../src/batch-sender.ts'
import { PicoError } from '../src/errors.ts'
import { PicoClient } from '../src/index.ts'
import { Producer } from '../src/producer.ts'
import type { ProducerSettings } from '../src/producer-settings.ts'
import { collected } from './collected.ts'
import { seededRandom } from './flaky-proxy.ts'
import { ServedStreams } from './served-streams.ts'

interface Piece extends PreparedRecord {
  readonly text: string
}

type Answerer = (texts: readonly string[], request: BatchRequest) => Promise<Sent<number>>

/** The far end of a producer, which a test decides for. */
function senderTo(answer: Answerer): BatchSender<string, Piece, number> {
  return {
    prepare: (text) => ({ text, sizeBytes: text.length }),
    body: (pieces) => Buffer.from(JSON.stringify(pieces.map(({ text }) => text))),
    numbersOf: (count) => count,
    send: (request) => answer(JSON.parse(Buffer.from(request.body).toString()), request),
  }
}

const fast = { retry: { firstDelayMs: 1, longestDelayMs: 2 } }
function producerTo(answer: Answerer, settings: ProducerSettings = {}): Producer<string, Piece, number> {
  return new Producer(senderTo(answer), { ...fast, ...settings })
}

const sentAt = (start: number): Sent<number> => ({ positionOf: (index) => start + index })

/** The rules of the server for one producer: takes what comes next, knows what it took, sees gaps. */
class Ledger {
  readonly taken: string[] = []
  readonly #places = new Map<number, number>()

  take(texts: readonly string[], { stamp }: BatchRequest): Sent<number> {
    const known = this.#places.get(stamp.seq)
    if (known !== undefined && stamp.seq < this.taken.length) return sentAt(known)
    if (stamp.seq !== this.taken.length)
      throw new PicoError('sequence_gap', 'gap', { status: 409, expectedSeq: this.taken.length })
    this.#places.set(stamp.seq, this.taken.length)
    this.taken.push(...texts)
    return sentAt(stamp.seq)
  }
}

const lost = () => new PicoError('connection_lost', 'lost', { retriable: true, written: 'maybe' })
const tick = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms))

describe('a producer', () => {
  test('puts what is appended in one go into one request, within its bounds', async () => {
    const ledger = new Ledger()
    const sizes: number[] = []
    const producer = producerTo(
      async (texts, request) => {
        sizes.push(texts.length)
        return ledger.take(texts, request)
      },
      { batchRecordsMax: 10, batchBytesMax: 100 },
    )
    for (let n = 0; n < 25; n++) await producer.append('x')
    await producer.append('y'.repeat(60))
    await producer.append('z'.repeat(60))
    await producer.append('w'.repeat(500))
    await producer.flush()
    expect(sizes).toEqual([10, 10, 6, 1, 1])
  })

  test('lets records wait for company as long as it may, and not when it is flushed', async () => {
    const sizes: number[] = []
    const producer = producerTo(
      async (texts, { stamp }) => {
        sizes.push(texts.length)
        return sentAt(stamp.seq)
      },
      { lingerMs: 60 },
    )
    await producer.append('a')
    await tick(10)
    const { acknowledged } = await producer.append('b')
    expect(sizes).toEqual([])
    expect(await acknowledged).toBe(1)
    expect(sizes).toEqual([2])
    await producer.append('c')
    const begunMs = performance.now()
    await producer.flush()
    expect(performance.now() - begunMs).toBeLessThan(50)
    expect(sizes).toEqual([2, 1])
  })

  test('has no more than five requests under way, and makes a source wait that is faster', async () => {
    const waiting: (() => void)[] = []
    const producer = producerTo(
      (_, { stamp }) => new Promise((resolve) => waiting.push(() => resolve(sentAt(stamp.seq)))),
      { batchRecordsMax: 1, bufferedBytesMax: 10 * (1 + 64) },
    )
    let appended = 0
    const appending = (async () => {
      for (; appended < 30; appended++) await producer.append('x')
    })()
    await tick(20)
    expect([appended, waiting.length]).toEqual([10, 5])
    while (appended < 30) {
      waiting.shift()?.()
      await tick()
      expect(waiting.length).toBeLessThanOrEqual(5)
    }
    await appending
    const flushed = producer.flush()
    while (waiting.length > 0) {
      waiting.shift()?.()
      await tick()
    }
    await flushed
  })

  test('keeps order and appends once through losses of requests and of answers, whatever comes when', async () => {
    for (let seed = 1; seed <= 15; seed++) {
      const random = seededRandom(seed)
      const ledger = new Ledger()
      const producer = producerTo(
        async (texts, request) => {
          await tick(random() * 3)
          if (random() < 0.2) throw lost()
          const sent = ledger.take(texts, request)
          await tick(random() * 3)
          if (random() < 0.2) throw lost()
          return sent
        },
        { batchRecordsMax: 3 },
      )
      const receipts = []
      for (let n = 0; n < 60; n++) {
        receipts.push(await producer.append(`${n}`))
        if (random() < 0.1) await tick(random() * 4)
      }
      await producer.close()
      const numbers = Array.from({ length: 60 }, (_, n) => n)
      expect(ledger.taken, `seed ${seed}`).toEqual(numbers.map(String))
      expect(await Promise.all(receipts.map(({ acknowledged }) => acknowledged)), `seed ${seed}`).toEqual(numbers)
    }
  })

  test('goes on without what is refused for what it holds', async () => {
    for (let seed = 1; seed <= 8; seed++) {
      const random = seededRandom(seed)
      const ledger = new Ledger()
      const producer = producerTo(
        async (texts, request) => {
          await tick(random() * 3)
          if (texts.includes('bad')) throw new PicoError('too_large', 'bad', { status: 413 })
          return ledger.take(texts, request)
        },
        { batchRecordsMax: 1 },
      )
      const receipts = []
      for (let n = 0; n < 30; n++) receipts.push(await producer.append(n % 7 === 3 ? 'bad' : `${n}`))
      await expect(producer.flush()).rejects.toMatchObject({ code: 'too_large' })
      await producer.close()
      const outcomes = await Promise.allSettled(receipts.map(({ acknowledged }) => acknowledged))
      const good = Array.from({ length: 30 }, (_, n) => n).filter((n) => n % 7 !== 3)
      expect(ledger.taken).toEqual(good.map(String))
      expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'bad'))).toEqual(
        Array.from({ length: 30 }, (_, n) => (n % 7 === 3 ? 'bad' : good.indexOf(n))),
      )
    }
  })

  test('ends when what was refused may have been taken before: its numbers cannot be used again', async () => {
    let attempts = 0
    const producer = producerTo(async () => {
      if (attempts++ === 0) throw lost()
      throw new PicoError('too_large', 'too large', { status: 413 })
    })
    const { acknowledged } = await producer.append('x')
    await expect(acknowledged).rejects.toMatchObject({ code: 'too_large' })
    await expect(producer.append('y')).rejects.toMatchObject({ code: 'too_large' })
  })

  test('ends when another one of its name has taken over, and everybody hears of it', async () => {
    const producer = producerTo(
      async () => {
        await tick(5)
        throw new PicoError('fenced', 'fenced', { status: 403 })
      },
      { batchRecordsMax: 1, bufferedBytesMax: 3 * 65 },
    )
    const receipts = await Promise.all([producer.append('a'), producer.append('b'), producer.append('c')])
    const waiting = producer.append('d')
    await expect(waiting).rejects.toMatchObject({ code: 'fenced' })
    for (const { acknowledged } of receipts) await expect(acknowledged).rejects.toMatchObject({ code: 'fenced' })
    await expect(producer.flush()).rejects.toMatchObject({ code: 'fenced' })
    await expect(producer.append('e')).rejects.toMatchObject({ code: 'fenced' })
  })

  test('ends when the server has forgotten it', async () => {
    const producer = producerTo(async (_, { stamp }) => {
      if (stamp.seq === 0) return sentAt(0)
      throw new PicoError('sequence_gap', 'gap', { status: 409, expectedSeq: 0 })
    })
    await producer.append('a')
    await producer.flush()
    await producer.append('b')
    await expect(producer.close()).rejects.toMatchObject({ code: 'sequence_gap' })
  })

  test('gives up in the end, and says that nobody knows', async () => {
    const producer = producerTo(async () => Promise.reject(lost()), { deliveryTimeoutMs: 50 })
    const { acknowledged } = await producer.append('a')
    await expect(acknowledged).rejects.toMatchObject({ code: 'timed_out', written: 'maybe' })
  })

  test('ends by its signal, and so does waiting for room or for a flush, each by its own', async () => {
    const abort = new AbortController()
    const never: Answerer = () => new Promise(() => undefined)
    const producer = producerTo(never, { signal: abort.signal, bufferedBytesMax: 65 })
    const { acknowledged } = await producer.append('a')
    const leave = new AbortController()
    const waiting = producer.append('b', { signal: leave.signal })
    const flushing = producer.flush({ signal: leave.signal })
    leave.abort(new Error('left'))
    await expect(waiting).rejects.toThrow('left')
    await expect(flushing).rejects.toThrow('left')
    const other = producer.append('c')
    abort.abort(new Error('enough'))
    await expect(other).rejects.toThrow('enough')
    await expect(acknowledged).rejects.toThrow('enough')
  })

  test('that is closed takes no more', async () => {
    const producer = producerTo(async (_, { stamp }) => sentAt(stamp.seq))
    const { acknowledged } = await producer.append('a')
    await producer.close()
    expect(await acknowledged).toBe(0)
    await expect(producer.append('b')).rejects.toMatchObject({ code: 'client_closed' })
  })

  test('has bounds that make sense', () => {
    const never: Answerer = () => new Promise(() => undefined)
    for (const wrong of [{ inFlightMax: 0 }, { inFlightMax: 6 }, { batchRecordsMax: 0 }])
      expect(() => producerTo(never, wrong)).toThrow(PicoError)
  })
})

test('a higher epoch takes over from an older process, which is fenced', async () => {
  const served = await ServedStreams.open()
  await using client = new PicoClient({ endpoint: served.url })
  const stream = client.stream('fenced')
  await stream.create()
  const old = stream.producer({ id: 'me' })
  await old.append('a')
  await old.flush()
  const heir = stream.producer({ id: 'me', epoch: 1 })
  const { acknowledged } = await heir.append('b')
  expect(await acknowledged).toBe(1)
  await old.append('c')
  await expect(old.close()).rejects.toMatchObject({ code: 'fenced', status: 403 })
  await heir.close()
  expect((await collected(stream.records())).map(({ text }) => text)).toEqual(['a', 'b'])
  await client.close()
  await served.close()
})
