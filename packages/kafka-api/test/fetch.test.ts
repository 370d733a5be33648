import { deleteTopics, fetch } from '@pico/kafka-codec'
import { batches } from '@pico/record-batch'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { batchOf, type FetchSettings, type FetchWanted, fetchRequest, KafkaSystem, readValues } from './kafka-system.ts'

let system: KafkaSystem
let topicId: string
beforeEach(async () => {
  system = await KafkaSystem.open()
  topicId = await system.createTopic('t')
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

/** A fetch that is under way, and whether it has been answered. */
function start(wanted: readonly FetchWanted[], settings: FetchSettings, gone?: AbortSignal) {
  const fetching = {
    isDone: false,
    answer: system.call(fetch, settings.version ?? 12, fetchRequest(wanted, settings), gone),
  }
  void fetching.answer.finally(() => {
    fetching.isDone = true
  })
  return fetching
}

/** Everything that can run without time passing has run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('Fetch', () => {
  it.each([4, 5, 7, 9, 10, 11, 12])('version %i gives stored batches byte for byte', async (version) => {
    const batch = batchOf(['a', 'b'])
    await system.produce('t', batch)
    const { records, ...rest } = await system.fetch('t', 0, { version })
    expect(rest).toMatchObject({ errorCode: 0, highWatermark: 2n, lastStableOffset: 2n })
    const [stored] = batches(records ?? new Uint8Array(0))
    expect(stored?.isCrcValid()).toBe(true)
    const outsideCrc = 21
    expect(Buffer.from(records ?? []).subarray(outsideCrc)).toEqual(batch.subarray(outsideCrc))
  })

  it.each([13, 14, 15, 16, 17])('version %i knows topics by id', async (version) => {
    await system.produce('t', batchOf(['a']))
    const good = await system.call(fetch, version, fetchRequest([{ topicId, offset: 0 }], { version }))
    expect(await readValues(good.responses[0]!.partitions[0]!.records)).toEqual([[0, 'a']])
    const unknown = '12345678-1234-1234-1234-123456789012'
    const bad = await system.call(fetch, version, fetchRequest([{ topicId: unknown, offset: 0 }], { version }))
    expect(bad.responses[0]).toMatchObject({ topicId: unknown, partitions: [{ errorCode: 100 }] })
  })

  it('from the middle of a batch gives the whole batch, at its own base offset', async () => {
    await system.produce('t', batchOf(['a', 'b', 'c']))
    expect(await readValues((await system.fetch('t', 1)).records)).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
    ])
  })

  it('says which transactions were aborted only to those who read committed records: none', async () => {
    expect((await system.fetch('t', 0, { isolationLevel: 0 })).abortedTransactions).toBeNull()
    expect((await system.fetch('t', 0, { isolationLevel: 1 })).abortedTransactions).toEqual([])
  })

  it('at the end of the log is empty, not null and not an error', async () => {
    await system.produce('t', batchOf(['a']))
    expect(await system.fetch('t', 1)).toMatchObject({
      errorCode: 0,
      highWatermark: 1n,
      logStartOffset: 0n,
      records: new Uint8Array(0),
    })
  })

  it('reads back what is no longer in memory', async () => {
    const values = Array.from({ length: 40 }, (_, at) => `${at}`.padEnd(50_000, '.'))
    for (const value of values) await system.produce('t', batchOf([value]))
    await system.start()
    const found: string[] = []
    for (let offset = 0; offset < values.length; ) {
      const read = await readValues((await system.fetch('t', offset, { partitionMaxBytes: 200_000 })).records)
      found.push(...read.map(([, value]) => value))
      offset += read.length
    }
    expect(found).toEqual(values)
  })
})

describe('Fetch refuses', () => {
  it.each([
    ['an offset past the end', 2],
    ['an offset that no number holds', 2n ** 63n - 1n],
    ['a negative offset', -5],
  ])('%s with OFFSET_OUT_OF_RANGE, at once', async (_, offset) => {
    await system.produce('t', batchOf(['a']))
    const { answer } = start([{ topic: 't', offset }], { maxWaitMs: 60_000 })
    expect((await answer).responses[0]?.partitions[0]).toMatchObject({
      errorCode: 1,
      highWatermark: -1n,
      lastStableOffset: -1n,
      logStartOffset: -1n,
    })
  })

  it('an offset that was trimmed away', async () => {
    await system.produce('t', batchOf(['a', 'b', 'c']))
    const partition = await system.streams.partition({ name: 't' }, 0)
    if (typeof partition === 'string') throw new Error(partition)
    await partition.trim(2)
    expect((await system.fetch('t', 1)).errorCode).toBe(1)
    expect(await system.fetch('t', 2)).toMatchObject({ errorCode: 0, logStartOffset: 2n })
  })

  it('a missing topic or partition, at once, and serves the others beside it', async () => {
    await system.produce('t', batchOf(['a']))
    const wanted = [
      { topic: 'missing', offset: 0 },
      { topic: 't', offset: 0, partition: 3 },
      { topic: 't', offset: 0 },
    ]
    const { responses } = await start(wanted, { maxWaitMs: 60_000, minBytes: 100_000 }).answer
    expect(responses.map(({ partitions }) => partitions[0]?.errorCode)).toEqual([3, 3, 0])
    expect(await readValues(responses[2]!.partitions[0]!.records)).toEqual([[0, 'a']])
  })

  it('another leader epoch: an older one is fenced, a newer one unknown', async () => {
    const partition = await system.streams.partition({ name: 't' }, 0)
    if (typeof partition === 'string') throw new Error(partition)
    const { leaderEpoch } = partition
    expect((await system.fetch('t', 0, { currentLeaderEpoch: leaderEpoch })).errorCode).toBe(0)
    expect((await system.fetch('t', 0, { currentLeaderEpoch: leaderEpoch - 1 })).errorCode).toBe(
      leaderEpoch > 0 ? 74 : 0,
    )
    expect((await system.fetch('t', 0, { currentLeaderEpoch: leaderEpoch + 1 })).errorCode).toBe(75)
  })

  it.each([12, 15])('followers (version %i)', async (version) => {
    const wanted = version >= 13 ? { topicId, offset: 0 } : { topic: 't', offset: 0 }
    const { responses } = await system.call(fetch, version, fetchRequest([wanted], { version, replicaId: 2 }))
    expect(responses[0]?.partitions[0]?.errorCode).toBe(6)
  })

  it('sessions: full fetches have none, incremental ones are told that theirs is not found', async () => {
    for (const sessionEpoch of [0, -1]) {
      const full = await system.call(
        fetch,
        12,
        fetchRequest([{ topic: 't', offset: 0 }], { sessionId: 0, sessionEpoch }),
      )
      expect(full).toMatchObject({ errorCode: 0, sessionId: 0, responses: [{ topic: 't' }] })
    }
    const incremental = await system.call(fetch, 12, fetchRequest([], { sessionId: 77, sessionEpoch: 3 }))
    expect(incremental).toMatchObject({ errorCode: 70, sessionId: 0, responses: [] })
  })
})

describe('a long poll', () => {
  it('waits for records, and answers as soon as they are durable', async () => {
    const fetching = start([{ topic: 't', offset: 0 }], { maxWaitMs: 60_000 })
    await settle()
    expect(fetching.isDone).toBe(false)
    await system.produce('t', batchOf(['a']))
    expect(await readValues((await fetching.answer).responses[0]!.partitions[0]!.records)).toEqual([[0, 'a']])
  })

  it('does not see records that are not durable yet', async () => {
    await system.produce('t', batchOf(['a']))
    system.holdFlushes()
    const producing = system.produce('t', batchOf(['b']))
    const fetching = start([{ topic: 't', offset: 1 }], { maxWaitMs: 60_000 })
    await settle()
    expect(fetching.isDone).toBe(false)
    system.store.heal()
    await producing
    expect(await readValues((await fetching.answer).responses[0]!.partitions[0]!.records)).toEqual([[1, 'b']])
  })

  it('answers with nothing when its time is up, and leaves no timer behind', async () => {
    const idle = system.clock.pending
    const fetching = start([{ topic: 't', offset: 0 }], { maxWaitMs: 500 })
    await settle()
    system.clock.advance(499)
    await settle()
    expect(fetching.isDone).toBe(false)
    system.clock.advance(1)
    expect((await fetching.answer).responses[0]?.partitions[0]).toMatchObject({
      errorCode: 0,
      records: new Uint8Array(0),
    })
    expect(system.clock.pending).toBe(idle)
  })

  it('ends when its timer says so, also where that fires before the clock has got there', async () => {
    const waiting = start([{ topic: 't', offset: 0 }], { maxWaitMs: 500, minBytes: 1 })
    await settle()
    expect(waiting.isDone).toBe(false)
    system.clock.advance(500, { earlyMs: 1 })
    await settle()
    expect(waiting.isDone).toBe(true)
  })

  it('waits for min bytes over all partitions, and gives what came meanwhile in one piece', async () => {
    await system.createTopic('u')
    const size = batchOf(['x'.repeat(100)]).length
    const wanted = [
      { topic: 't', offset: 0 },
      { topic: 'u', offset: 0 },
    ]
    const fetching = start(wanted, { maxWaitMs: 60_000, minBytes: 3 * size })
    await system.produce('t', batchOf(['x'.repeat(100)]))
    await system.produce('u', batchOf(['y'.repeat(100)]))
    await settle()
    expect(fetching.isDone).toBe(false)
    await system.produce('t', batchOf(['z'.repeat(100)]))
    const { responses } = await fetching.answer
    const found = await Promise.all(responses.map(({ partitions }) => readValues(partitions[0]!.records)))
    expect(found.map((values) => values.map(([offset, value]) => [offset, value[0]]))).toEqual([
      [
        [0, 'x'],
        [1, 'z'],
      ],
      [[0, 'y']],
    ])
  })

  it('does not wait for min bytes that a partition cannot give within its limit', async () => {
    for (let at = 0; at < 5; at++) await system.produce('t', batchOf(['x'.repeat(1000)]))
    const { answer } = start([{ topic: 't', offset: 0 }], {
      maxWaitMs: 60_000,
      minBytes: 1 << 20,
      partitionMaxBytes: 2500,
    })
    expect(await readValues((await answer).responses[0]!.partitions[0]!.records)).toHaveLength(2)
  })

  it('does not wait at all for min bytes of 0', async () => {
    expect(await start([{ topic: 't', offset: 0 }], { maxWaitMs: 60_000, minBytes: 0 }).answer).toMatchObject({
      errorCode: 0,
    })
  })

  it.each([12, 13])('ends when its topic is deleted (version %i)', async (version) => {
    const wanted = version >= 13 ? { topicId, offset: 0 } : { topic: 't', offset: 0 }
    const fetching = start([wanted], { maxWaitMs: 60_000, version })
    await settle()
    await system.call(deleteTopics, 5, { topics: [], topicNames: ['t'], timeoutMs: 1000 })
    expect((await fetching.answer).responses[0]?.partitions[0]?.errorCode).toBe(version >= 13 ? 100 : 3)
  })

  it('ends when its client is gone', async () => {
    const connection = new AbortController()
    const idle = system.clock.pending
    const fetching = start([{ topic: 't', offset: 0 }], { maxWaitMs: 60_000 }, connection.signal)
    await settle()
    expect(system.clock.pending).toBe(idle + 1)
    connection.abort()
    await vi.waitFor(() => expect(fetching.isDone).toBe(true))
    expect(system.clock.pending).toBe(idle)
  })

  it('ends when the server goes down', async () => {
    const fetching = start([{ topic: 't', offset: 0 }], { maxWaitMs: 60_000 })
    await settle()
    system.api.drain()
    expect(await fetching.answer).toMatchObject({ errorCode: 0 })
  })
})

describe('limits', () => {
  const kilobyte = (letter: string) => batchOf([letter.repeat(1000)])
  const size = kilobyte('x').length

  async function fetchSizes(settings: FetchSettings): Promise<number[]> {
    const { responses } = await start(
      [
        { topic: 't', offset: 0 },
        { topic: 'u', offset: 0 },
      ],
      settings,
    ).answer
    return responses.map(({ partitions }) => (partitions[0]?.records?.length ?? 0) / size)
  }

  beforeEach(async () => {
    await system.createTopic('u')
    for (const topic of ['t', 'u']) for (let at = 0; at < 4; at++) await system.produce(topic, kilobyte('x'))
  })

  it('are kept in whole batches, partition by partition, in request order', async () => {
    expect(await fetchSizes({ partitionMaxBytes: 2.5 * size })).toEqual([2, 2])
    expect(await fetchSizes({ maxBytes: 5.5 * size })).toEqual([4, 1])
    expect(await fetchSizes({ maxBytes: 4 * size })).toEqual([4, 0])
  })

  it('give at least the first batch of the first partition that has one, even when it is larger', async () => {
    expect(await fetchSizes({ maxBytes: 10 })).toEqual([1, 0])
    expect(await fetchSizes({ partitionMaxBytes: 10 })).toEqual([1, 0])
    expect(await fetchSizes({ partitionMaxBytes: 0, maxBytes: 0 })).toEqual([1, 0])
  })

  it('of the server hold whatever the client asks for', async () => {
    await system.start({ api: { fetchBytesMax: 3 * size } })
    expect(await fetchSizes({ maxBytes: 1 << 30, partitionMaxBytes: 1 << 30 })).toEqual([3, 0])
  })
})
