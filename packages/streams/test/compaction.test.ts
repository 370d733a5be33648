import { batches, type RecordInput, records } from '@pico/record-batch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Partition, Streams, StreamsSettings } from '../src/index.ts'
import { newStream, opened } from './path-system.ts'
import {
  accepted,
  append,
  batchOfRecords,
  type Node,
  openPartition,
  openTopic,
  TestSystem,
  type WalKind,
  walKinds,
} from './system.ts'

const dayMs = 86_400_000
const start = 1_700_000_000_000
/** Memory holds nothing, so that what is read is what is stored. */
const noCache = { logCacheBytes: 0, blockCacheBytes: 0 }

let system: TestSystem
let node: Node
let streams: Streams
let partition: Partition

async function open(kind: WalKind = 'local', settings: Partial<StreamsSettings> = {}): Promise<void> {
  system = await TestSystem.open(kind)
  await run(settings)
}

async function run(settings: Partial<StreamsSettings> = {}): Promise<void> {
  node = await system.start(settings, noCache)
  streams = node.streams
}

async function make(config: Record<string, string> = {}): Promise<void> {
  partition = await openTopic(streams, 'orders', { 'cleanup.policy': 'compact', ...config })
}

const record = (text: string, atMs = start): RecordInput => {
  const [key = '', value] = text.split('=')
  return { key, value: value ?? null, timestamp: atMs }
}

async function write(...texts: string[]): Promise<void> {
  await accepted(append(partition, batchOfRecords(texts.map((text) => record(text))))).committed
}

async function compact(): Promise<void> {
  await node.log.pack()
  await node.log.maintain()
  partition = await openPartition(streams) // where time has passed, it was idle for so long that it was dropped
}

/** What a consumer that begins at the start would see. */
async function seen(from = partition.startOffset): Promise<string[]> {
  const found: string[] = []
  for (let offset = from; offset < partition.highWatermark; ) {
    const read = await partition.read(offset, 1 << 20)
    if (read === null || read === 'out-of-range') throw new Error(`nothing at ${offset}`)
    for (const batch of batches(Buffer.concat(read.buffers))) {
      for (const { key, value, offset: at } of records(batch)) {
        if (at < from) continue
        const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
        found.push(`${at}:${key === null ? '' : text(key)}${value === null ? '' : `=${text(value)}`}`)
      }
    }
    expect(read.endOffset).toBeGreaterThan(offset)
    offset = read.endOffset
  }
  return found
}

afterEach(() => system.close())

describe.each(walKinds)('a topic with the policy "compact" (%s WAL)', (kind) => {
  beforeEach(async () => {
    await open(kind)
    await make()
  })

  it('keeps the last record of each key at its offset, and nothing else', async () => {
    await write('a=1', 'b=1', 'a=2')
    await write('c=1', 'b=2')
    await write('a=3')
    await compact()
    expect(await seen()).toEqual(['3:c=1', '4:b=2', '5:a=3'])
    expect([partition.startOffset, partition.highWatermark]).toEqual([0, 6])
    for (let offset = 0; offset <= 3; offset++) expect(await seen(offset)).toHaveLength(3)
    expect(await seen(4)).toEqual(['4:b=2', '5:a=3'])
    await write('b=3')
    expect(await seen()).toEqual(['3:c=1', '4:b=2', '5:a=3', '6:b=3'])
    await compact()
    // One byte in seven is new: less than half, so that nothing is done yet.
    expect(await seen()).toEqual(['3:c=1', '4:b=2', '5:a=3', '6:b=3'])
    await write('b=4', 'b=5', 'c=2', 'b=6', 'b=7', 'b=8')
    await write('b=9', 'c=3', 'b=10', 'b=11', 'b=12')
    await compact()
    expect(await seen()).toEqual(['5:a=3', '14:c=3', '17:b=12'])
  })

  it('is as it was after a restart, and goes on from there', async () => {
    await write('a=1', 'a=2', 'b=1')
    await compact()
    await run()
    partition = await openPartition(streams)
    expect(await seen()).toEqual(['1:a=2', '2:b=1'])
    await write('a=3', 'b=2')
    await compact()
    expect(await seen()).toEqual(['3:a=3', '4:b=2'])
    expect(partition.highWatermark).toBe(5)
  })

  it('finds offsets by time among what is left', async () => {
    for (const [text, atMs] of [
      ['a=1', 10],
      ['b=1', 20],
      ['a=2', 30],
      ['b=2', 40],
    ] as const) {
      await accepted(append(partition, batchOfRecords([record(text, start + atMs)]))).committed
    }
    await compact()
    expect(await partition.offsetForTimestamp(start + 10)).toMatchObject({ offset: 2, timestampMs: start + 30 })
    expect(await partition.offsetForTimestamp(start + 35)).toMatchObject({ offset: 3, timestampMs: start + 40 })
    expect(await partition.offsetOfMaxTimestamp()).toMatchObject({ offset: 3 })
  })

  it('is forked at any offset, in a gap too, and the fork has the same offsets', async () => {
    await write('a=1', 'b=1', 'c=1', 'd=1')
    await write('a=2', 'e=1', 'b=2', 'f=1')
    await write('c=2', 'f=2')
    await compact()
    const left = ['3:d=1', '4:a=2', '5:e=1', '6:b=2', '8:c=2', '9:f=2']
    expect(await seen()).toEqual(left)
    for (let offset = 0; offset <= 10; offset++) {
      const point = { source: '/orders', offset, subOffset: 0 }
      const name = `/fork-${offset}`
      const outcome = await streams.paths.create(newStream(name, { fork: point }))
      expect(outcome.kind, name).toBe('created')
      partition = await opened(streams, name)
      expect(partition.highWatermark, name).toBe(offset)
      expect(await seen(), name).toEqual(left.filter((text) => Number(text.split(':')[0]) < offset))
      await write('z=1')
      expect((await seen()).at(-1), name).toBe(`${offset}:z=1`)
    }
    partition = await openPartition(streams)
    expect(await seen()).toEqual(left)
  })

  it('gives space back, and the objects of before go', async () => {
    for (let round = 0; round < 30; round++) await write(`key=${'x'.repeat(1000)}`)
    await compact()
    expect(partition.sizeBytes).toBeLessThan(1500)
    const [row] = await system.metadata.streams.byTopic(['orders'])
    expect(row?.packedBytes).toBe(partition.sizeBytes)
    system.clock.jump(1000)
    await node.log.maintain()
    const keys: string[] = []
    for await (const { key } of system.store.list('data/')) keys.push(key)
    expect(keys).toHaveLength(1)
    expect(await seen()).toHaveLength(1)
  })
})

describe('tombstones', () => {
  beforeEach(async () => {
    await open()
    await make({ 'delete.retention.ms': `${dayMs}`, 'min.cleanable.dirty.ratio': '0' })
  })

  it('take their key with them at once, and go themselves after delete.retention.ms', async () => {
    await write('a=1', 'b=1', 'a')
    await compact()
    expect(await seen()).toEqual(['1:b=1', '2:a'])
    system.clock.jump(dayMs - 1)
    await write('c=1')
    await compact()
    expect(await seen()).toEqual(['1:b=1', '2:a', '3:c=1'])
    system.clock.jump(1)
    await write('c=2')
    await compact()
    expect(await seen()).toEqual(['1:b=1', '4:c=2'])
  })

  it('leave a log that says where it ends when nothing else is left', async () => {
    await write('a=1', 'a')
    await compact()
    system.clock.jump(dayMs)
    await write('b=1', 'b')
    await compact()
    expect(await seen()).toEqual(['3:b'])
    system.clock.jump(dayMs)
    await write('c=1')
    await compact()
    expect(await seen()).toEqual(['4:c=1'])
    expect(partition.highWatermark).toBe(5)
  })

  it('do not go before a key that came again', async () => {
    await write('a=1', 'a')
    await compact()
    await write('a=2')
    system.clock.jump(2 * dayMs)
    await compact()
    expect(await seen()).toEqual(['2:a=2'])
  })
})

describe.each(walKinds)('max.compaction.lag.ms (%s WAL)', (kind) => {
  const lagMs = 3_600_000

  /** With records of now, and so little of it new that it is not worth a pass. */
  async function writeALittle(): Promise<void> {
    await write(...Array.from({ length: 50 }, (_, index) => `key-${index}=1`))
    await compact()
    await writeNow('key-0=2', 'key-0=3')
    await node.log.pack()
  }

  async function writeNow(...texts: string[]): Promise<void> {
    const at = system.clock.nowMs()
    await accepted(append(partition, batchOfRecords(texts.map((text) => record(text, at))))).committed
  }

  const superseded = async () => (await seen()).filter((text) => /key-0=[12]$/.test(text)).length

  it('makes a pass due that the dirty ratio does not, when something is older than that, and not before', async () => {
    await open(kind)
    await make({ 'max.compaction.lag.ms': `${lagMs}` })
    await writeALittle()
    system.clock.jump(lagMs)
    await compact()
    expect(await superseded()).toBe(2)
    system.clock.jump(1)
    await compact()
    expect(await superseded()).toBe(0)
    expect((await seen()).at(-1)).toBe('51:key-0=3')
    expect(await dueEver()).toEqual([])
  })

  it('reaches a stream that nobody has open, after a restart too', async () => {
    await open(kind)
    await make({ 'max.compaction.lag.ms': `${lagMs}` })
    await writeALittle()
    system.clock.jump(100_000)
    await node.log.maintain()
    expect(node.log.stats.openStreams).toBe(0)
    await run()
    system.clock.jump(lagMs)
    await node.log.maintain()
    expect(node.log.stats.openStreams).toBe(1)
    partition = await openPartition(streams)
    expect(await superseded()).toBe(0)
  })

  it('counts for what was written before it was set', async () => {
    await open(kind)
    await make()
    await writeALittle()
    system.clock.jump(10 * lagMs)
    await compact()
    expect(await superseded()).toBe(2)
    const overrides = { 'cleanup.policy': 'compact', 'max.compaction.lag.ms': `${lagMs}` }
    await streams.alterTopicConfig({ name: 'orders' }, () => ({ overrides }), false)
    await compact()
    expect(await superseded()).toBe(0)
  })

  it('gives way to min.compaction.lag.ms', async () => {
    await open(kind)
    await make({ 'min.compaction.lag.ms': `${lagMs}`, 'max.compaction.lag.ms': `${lagMs}` })
    await writeALittle()
    system.clock.jump(lagMs - 1)
    await writeNow('key-1=2')
    await compact()
    expect(await superseded()).toBe(2)
    system.clock.jump(2)
    await compact()
    expect(await superseded()).toBe(0)
    expect((await seen()).filter((text) => text.includes(':key-1='))).toHaveLength(2)
  })

  it('is due again and again while a pass has no room for all keys', async () => {
    await open(kind, { compactionKeysMax: 20 })
    await make({ 'max.compaction.lag.ms': `${lagMs}`, 'min.cleanable.dirty.ratio': '1' })
    for (let round = 0; round < 3; round++) for (let key = 0; key < 40; key++) await writeNow(`key-${key}=${round}`)
    system.clock.jump(lagMs + 1)
    for (let round = 0; round < 8; round++) await compact()
    expect(await seen()).toHaveLength(40)
    expect(await dueEver()).toEqual([])
  })
})

describe('what compaction leaves alone', () => {
  it('records that are younger than min.compaction.lag.ms', async () => {
    await open()
    await make({ 'min.compaction.lag.ms': '1000' })
    const at = system.clock.nowMs()
    await accepted(append(partition, batchOfRecords(['a=1', 'a=2'].map((text) => record(text, at))))).committed
    await compact()
    expect(await seen()).toHaveLength(2)
    system.clock.jump(1000)
    await node.log.maintain()
    expect(await seen()).toEqual(['1:a=2'])
  })

  it('topics with another policy, and a topic from the moment on that its policy is another', async () => {
    await open()
    await make({ 'cleanup.policy': 'delete' })
    await write('a=1', 'a=2')
    await compact()
    expect(await seen()).toHaveLength(2)
    const policy = (value: string) =>
      streams.alterTopicConfig({ name: 'orders' }, () => ({ overrides: { 'cleanup.policy': value } }), false)
    await policy('compact,delete')
    await node.log.maintain()
    expect(await seen()).toEqual(['1:a=2'])
    await policy('delete')
    await write('a=3', 'a=4', 'a=5')
    await compact()
    expect(await seen()).toHaveLength(4)
  })

  it('duplicates are still known, and sequences go on', async () => {
    await open()
    await make()
    const batch = (value: string, baseSequence: number) =>
      batchOfRecords([record(`a=${value}`)], { producerId: 9, producerEpoch: 0, baseSequence })
    await accepted(append(partition, batch('1', 0))).committed
    await accepted(append(partition, batch('2', 1))).committed
    await compact()
    await run()
    partition = await openPartition(streams)
    expect(accepted(append(partition, batch('2', 1))).baseOffset).toBe(1)
    expect(accepted(append(partition, batch('3', 2))).baseOffset).toBe(2)
  })
})

describe('against a plain model', () => {
  const seeds = Array.from({ length: 8 }, (_, index) => index + 1)

  it.each(seeds)(
    'seed %i: every key has its last value, whatever is trimmed, merged, cut off or killed',
    async (seed) => {
      const random = randomOf(seed)
      const keysMax = random(2) === 0 ? 500_000 : 3 + random(10)
      const settings = { compactionKeysMax: keysMax, compactionObjectBytes: random(2) === 0 ? 200 : 1 << 20 }
      await open(random(2) === 0 ? 'local' : 'shared', settings)
      await make({ 'min.cleanable.dirty.ratio': random(2) === 0 ? '0' : '0.3', 'delete.retention.ms': '1000' })
      const log: { key: string; value: string | null }[] = []
      let trimmedTo = 0

      for (let step = 0; step < 60; step++) {
        const what = random(12)
        if (what < 6) {
          const texts = Array.from({ length: 1 + random(6) }, () => {
            return random(6) === 0 ? `k${random(8)}` : `k${random(8)}=${log.length}.${random(1000)}`
          })
          const codec = (['none', 'gzip', 'zstd'] as const)[random(3)] ?? 'none'
          await accepted(
            append(
              partition,
              batchOfRecords(
                texts.map((text) => record(text)),
                { codec },
              ),
            ),
          ).committed
          for (const text of texts) {
            const [key = '', value] = text.split('=')
            log.push({ key, value: value ?? null })
          }
        } else if (what < 8) await node.log.pack()
        else if (what === 8) {
          // Some of the way: the store, or the database, gives up in the middle of it.
          system.store.inject({
            operation: random(2) === 0 ? 'put' : 'get',
            fault: { kind: random(2) === 0 ? 'fail-before' : 'fail-after', code: 'EIO' },
            nth: 1,
          })
          await node.log.maintain().catch(() => undefined)
          system.store.heal()
        } else if (what === 9) {
          await run(settings)
          partition = await openPartition(streams)
        } else if (what === 10 && random(3) === 0) {
          trimmedTo = Math.max(trimmedTo, random(log.length + 1))
          await partition.trim(trimmedTo)
        } else {
          system.clock.jump(random(700))
          await compact()
        }
        if (step % 5 === 4) check(await seen())
      }
      await compact()
      check(await seen())

      function check(found: readonly string[]): void {
        const offsets = found.map((text) => Number(text.slice(0, text.indexOf(':'))))
        expect(offsets).toEqual([...offsets].sort((a, b) => a - b))
        expect(partition.highWatermark).toBe(log.length)
        const present = new Set(offsets)
        for (const [index, text] of found.entries()) {
          const { key, value } = log[offsets[index] ?? -1]!
          expect(text).toBe(`${offsets[index]}:${key}${value === null ? '' : `=${value}`}`)
        }
        const last = new Map(log.map(({ key }, offset) => [key, offset]))
        for (const [key, offset] of last) {
          if (offset < trimmedTo || present.has(offset)) continue
          expect(log[offset]?.value, `${key}, last at ${offset}, may be missing only when it is deleted`).toBeNull()
          const older = found.filter((text) => text.includes(`:${key}=`) || text.endsWith(`:${key}`))
          expect(older, `${key} was deleted at ${offset}`).toEqual([])
        }
      }
    },
  )
})

/** Small whole numbers, the same for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Topics that are due, or will be one day. */
async function dueEver(): Promise<(string | null)[]> {
  const [node] = await system.metadata.nodes.list()
  if (node === undefined) throw new Error('a node was started')
  const due = await system.metadata.streams.compactionDue({ node, unowned: true }, system.clock.nowMs() + 1e9, 9)
  return due.map(({ topic }) => topic)
}
