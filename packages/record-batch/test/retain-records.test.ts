import { describe, expect, it } from 'vitest'
import {
  BatchBuilder,
  BatchView,
  type CleanedRecord,
  type CompressionCodec,
  emptyBatch,
  type RecordInput,
  records,
  recordsBetween,
  retainRecords,
} from '../src/index.ts'

const codecs: readonly CompressionCodec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const rules = { deleteHorizonMs: null, maxDecompressedBytes: 1 << 20 }
const inputs: readonly RecordInput[] = [
  { key: 'a', value: '1', timestamp: 1000, headers: [{ key: 'h', value: 'v' }] },
  { key: 'b', value: null, timestamp: 3000 },
  { key: null, value: '2', timestamp: 2000 },
  { key: 'c', value: '', timestamp: 1500 },
]

function batchOf(settings: ConstructorParameters<typeof BatchBuilder>[0] = {}): BatchView {
  const builder = new BatchBuilder({ baseOffset: 100, partitionLeaderEpoch: 7, ...settings })
  for (const input of inputs) builder.append(input)
  return new BatchView(builder.build())
}

function shown(batch: BatchView) {
  const text = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString())
  return [...records(batch)].map(({ offset, timestamp, key, value, headers }) => {
    return { offset, timestamp, key: text(key), value: text(value), headers: headers.length }
  })
}

describe('retaining some records of a batch', () => {
  it.each(codecs)(
    '%s: those that stay keep offset, time, key, value and headers, in a batch of the same offsets',
    (codec) => {
      const source = batchOf({ codec, producerId: 5, producerEpoch: 2, baseSequence: 9 })
      const all = shown(source)
      for (let mask = 1; mask < 15; mask++) {
        const kept = all.filter((_, index) => (mask >> index) & 1)
        const offsets = new Set(kept.map(({ offset }) => offset))
        const bytes = retainRecords(source, { ...rules, keep: ({ offset }) => offsets.has(offset) })
        const batch = new BatchView(bytes!)
        expect(batch.isCrcValid()).toBe(true)
        expect(shown(batch)).toEqual(kept)
        expect(batch.codec).toBe(codec)
        expect(batch.maxTimestamp).toBe(Math.max(...kept.map(({ timestamp }) => timestamp)))
        const same = [
          'baseOffset',
          'lastOffset',
          'partitionLeaderEpoch',
          'producerId',
          'producerEpoch',
          'baseSequence',
          'lastSequence',
        ] as const
        for (const field of same) expect(batch[field], field).toBe(source[field])
      }
    },
  )

  it('tells of each record its offset, its key, and whether it deletes', () => {
    const told: CleanedRecord[] = []
    retainRecords(batchOf(), { ...rules, keep: (record) => told.push(record) > 0 })
    expect(
      told.map(({ offset, key, isTombstone }) => [offset, key && Buffer.from(key).toString(), isTombstone]),
    ).toEqual([
      [100, 'a', false],
      [101, 'b', true],
      [102, null, false],
      [103, 'c', false],
    ])
  })

  it('gives the batch itself when all of them stay, and null when none does', () => {
    const source = batchOf()
    const kept = retainRecords(source, { ...rules, keep: () => true })
    expect([kept?.buffer, kept?.byteOffset, kept?.length]).toEqual([
      source.bytes.buffer,
      source.batchBytes().byteOffset,
      source.byteLength,
    ])
    expect(retainRecords(source, { ...rules, keep: () => false })).toBeNull()
  })

  it('marks a batch that keeps tombstones with a delete horizon, once, and no record changes its time', () => {
    const source = batchOf({ codec: 'gzip' })
    const horizon = { ...rules, deleteHorizonMs: 1_700_000_000_000 }
    const marked = new BatchView(retainRecords(source, { ...horizon, keep: () => true })!)
    expect([marked.hasDeleteHorizon, marked.baseTimestamp]).toEqual([true, 1_700_000_000_000])
    expect(shown(marked)).toEqual(shown(source))
    expect(marked.isCrcValid()).toBe(true)
    const again = retainRecords(marked, { ...horizon, deleteHorizonMs: 9, keep: () => true })
    expect(again?.buffer).toBe(marked.bytes.buffer)
    const less = new BatchView(
      retainRecords(marked, { ...horizon, deleteHorizonMs: 9, keep: ({ offset }) => offset > 100 })!,
    )
    expect([less.hasDeleteHorizon, less.baseTimestamp]).toEqual([true, 1_700_000_000_000])
    expect(shown(less)).toEqual(shown(source).slice(1))
    const none = new BatchView(retainRecords(source, { ...horizon, keep: ({ isTombstone }) => !isTombstone })!)
    expect(none.hasDeleteHorizon).toBe(false)
  })

  it('leaves the time of a LogAppendTime batch to all that stay', () => {
    const source = batchOf({ logAppendTimeMs: 5000 })
    const batch = new BatchView(retainRecords(source, { ...rules, keep: ({ offset }) => offset === 100 })!)
    expect([batch.timestampType, batch.maxTimestamp]).toEqual(['LogAppendTime', 5000])
    expect(shown(batch)).toEqual(shown(source).slice(0, 1))
  })

  it.each(codecs)('%s: gives the records of some offsets as a batch of exactly those', (codec) => {
    const source = batchOf({ codec, producerId: 5, producerEpoch: 2, baseSequence: 9 })
    const all = shown(source)
    for (const [from, to] of [
      [100, 104],
      [101, 103],
      [98, 102],
      [103, 110],
      [90, 95],
    ] as const) {
      const batch = new BatchView(recordsBetween(source, from, to, 1 << 20))
      expect([batch.baseOffset, batch.lastOffset, batch.producerId, batch.isCrcValid()]).toEqual([
        from,
        to - 1,
        -1,
        true,
      ])
      const wanted = all.filter(({ offset }) => offset >= from && offset < to)
      expect(shown(batch)).toEqual(wanted)
      expect(batch.maxTimestamp).toBe(Math.max(-1, ...wanted.map(({ timestamp }) => timestamp)))
    }
    const none = new BatchView(recordsBetween(null, 5, 9, 1 << 20))
    expect([none.baseOffset, none.lastOffset, none.count]).toEqual([5, 8, 0])
    const stamped = new BatchView(recordsBetween(batchOf({ codec, logAppendTimeMs: 5000 }), 101, 102, 1 << 20))
    expect(shown(stamped).map(({ timestamp }) => timestamp)).toEqual([5000])
  })

  it('has a batch that says there is nothing', () => {
    const empty = new BatchView(
      emptyBatch(batchOf({ codec: 'zstd', producerId: 5, producerEpoch: 0, baseSequence: 1 })),
    )
    expect([empty.baseOffset, empty.lastOffset, empty.count, empty.producerId]).toEqual([100, 103, 0, 5])
    expect(empty.isCrcValid()).toBe(true)
    expect(shown(empty)).toEqual([])
    expect(retainRecords(empty, { ...rules, keep: () => true })).toBeNull()
  })
})
