import { readFileSync } from 'node:fs'
import { BatchBuilder } from '@pico/record-batch'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeHttpSummary, type HttpSummary } from '../src/http-facts-format.ts'
import { producerKey } from '../src/http-producer-state.ts'
import { ProducerStateUnreadableError, recordBatchEntries } from '../src/index.ts'
import { encodeSummary, type ProducerSummary, summaryBytes } from '../src/producer-format.ts'
import { theStream } from '../src/stream-facts.ts'
import { encodeFacts, restoreFacts } from '../src/stream-facts-format.ts'

/** The examples of FORMAT.md, which a stranger would write a reader by. */
const [
  goldenSummary = Buffer.of(),
  goldenHttpSummary = Buffer.of(),
  goldenTable = Buffer.of(),
  goldenHttpTable = Buffer.of(),
] = [...readFileSync(new URL('../FORMAT.md', import.meta.url), 'utf8').matchAll(/^```\n([0-9a-f ]+)\n```$/gm)].map(
  ([, bytes = '']) => Buffer.from(bytes.replaceAll(' ', ''), 'hex'),
)

const example: ProducerSummary = {
  producerId: 4711,
  producerEpoch: 3,
  startsOver: true,
  expiresAtMs: 1_800_086_400_000,
  batch: {
    firstSequence: 2_147_483_646,
    lastSequence: 1,
    baseOffset: 1000,
    lastOffset: 1003,
    timestampMs: 1_800_000_000_000,
  },
}
const beforeExpiry = example.expiresAtMs - 1

const httpExample: HttpSummary = {
  baseOffset: 1000,
  lastOffset: 1002,
  producer: {
    key: producerKey({ id: 'till-7', counts: 'records' }),
    epoch: 3,
    startsOver: true,
    firstSequence: 40,
    expiresAtMs: example.expiresAtMs,
  },
  streamSeq: '2026-\u00e9',
  closes: true,
}

const httpSummaries = fc.array(
  fc
    .record({
      baseOffset: fc.maxSafeNat(),
      count: fc.integer({ min: 1, max: 1000 }),
      producer: fc.option(
        fc.record({
          key: fc
            .tuple(fc.constantFrom('r:', 'q:'), fc.string({ unit: 'binary', maxLength: 9 }))
            .map((it) => it.join('')),
          epoch: fc.maxSafeNat(),
          startsOver: fc.boolean(),
          firstSequence: fc.nat(),
          expiresAtMs: fc.integer({ min: 1, max: 100 }),
        }),
      ),
      streamSeq: fc.option(fc.string().map((text) => Buffer.from(text).toString('latin1'))),
      closes: fc.boolean(),
    })
    .filter(({ baseOffset, count }) => Number.isSafeInteger(baseOffset + count))
    .map(({ count, ...summary }): HttpSummary => ({ ...summary, lastOffset: summary.baseOffset + count - 1 })),
  { maxLength: 20 },
)

const summaries = fc.array(
  fc
    .record({
      producerId: fc.integer({ min: 0, max: 3 }),
      producerEpoch: fc.integer({ min: 0, max: 2 }),
      startsOver: fc.boolean(),
      expiresAtMs: fc.integer({ min: 1, max: 100 }),
      timestampMs: fc.constantFrom(-1, 0, 1_800_000_000_000, Number.MAX_SAFE_INTEGER),
      firstSequence: fc.constantFrom(0, 7, 2 ** 31 - 1),
      count: fc.integer({ min: 1, max: 1000 }),
      baseOffset: fc.maxSafeNat(),
    })
    .filter(({ baseOffset, count }) => Number.isSafeInteger(baseOffset + count))
    .map(({ timestampMs, firstSequence, count, baseOffset, ...producer }) => {
      const lastSequence = (firstSequence + count - 1) % 2 ** 31
      return {
        ...producer,
        batch: { firstSequence, lastSequence, baseOffset, lastOffset: baseOffset + count - 1, timestampMs },
      }
    }),
  { maxLength: 20 },
)

describe('the formats of FORMAT.md', () => {
  it('are what is written', () => {
    expect(goldenSummary).toHaveLength(summaryBytes)
    expect(Buffer.from(encodeSummary(example))).toEqual(goldenSummary)
    expect(recordBatchEntries.fold(null, [goldenSummary], beforeExpiry)).toEqual(goldenTable)
    expect(Buffer.from(encodeHttpSummary(httpExample))).toEqual(goldenHttpSummary)
    expect(recordBatchEntries.fold(null, [goldenHttpSummary], beforeExpiry)).toEqual(goldenHttpTable)
  })

  it('are what is read', () => {
    const { producerEpoch, expiresAtMs, batch } = example
    const expected = [[4711, { producerEpoch, expiresAtMs, batches: [batch] }]]
    expect([...restoreFacts(null, [goldenSummary]).producers.entries()]).toEqual(expected)
    expect([...restoreFacts(goldenTable, []).producers.entries()]).toEqual(expected)
  })

  it('are what is read, of HTTP', () => {
    const append = { firstSequence: 40, lastSequence: 42, baseOffset: 1000, lastOffset: 1002 }
    const by = { producerKey: 'r:till-7', epoch: 3, sequence: 40 }
    for (const facts of [restoreFacts(null, [goldenHttpSummary]), restoreFacts(goldenHttpTable, [])]) {
      expect([...facts.httpProducers.entries()]).toEqual([
        ['r:till-7', { epoch: 3, expiresAtMs: example.expiresAtMs, appends: [append] }],
      ])
      expect(facts.streamSeq.get(theStream, 0)?.value).toBe('2026-\u00e9')
      expect(facts.closing.get(theStream, 0)?.by).toEqual(by)
      expect(facts.producers.size).toBe(0)
    }
  })

  it('keep a closing and a Stream-Seq for ever, when all producers have expired', () => {
    const later = recordBatchEntries.fold(goldenHttpTable, [], Number.MAX_SAFE_INTEGER)
    const facts = restoreFacts(later, [])
    expect(facts.httpProducers.size).toBe(0)
    expect(facts.streamSeq.get(theStream, 0)?.value).toBe('2026-\u00e9')
    expect(facts.closing.get(theStream, 0)?.by?.producerKey).toBe('r:till-7')
  })

  it('know ids that are long by their digests', () => {
    const [long, longer] = [
      producerKey({ id: 'x'.repeat(129), counts: 'requests' }),
      producerKey({ id: 'x'.repeat(9000), counts: 'requests' }),
    ]
    expect(long).not.toBe(longer)
    expect(longer).toHaveLength(46)
    expect(producerKey({ id: 'x'.repeat(128), counts: 'records' })).toHaveLength(130)
  })

  it('cut short anywhere are refused, and so is what goes on too long or is of another version', () => {
    for (const summary of [goldenSummary, goldenHttpSummary]) {
      for (let length = 1; length < summary.length; length++) {
        const read = () => restoreFacts(null, [summary.subarray(0, length)])
        expect(read, `${length} bytes`).toThrow(ProducerStateUnreadableError)
      }
      expect(() => restoreFacts(null, [Buffer.concat([Buffer.of(3), summary.subarray(1)])])).toThrow('version 3')
    }
    for (const table of [goldenTable, goldenHttpTable]) {
      for (let length = 0; length < table.length; length++) {
        const read = () => restoreFacts(table.subarray(0, length), [])
        expect(read, `${length} bytes`).toThrow(ProducerStateUnreadableError)
      }
      expect(() => restoreFacts(Buffer.concat([table, Buffer.of(0)]), [])).toThrow('1 bytes after the table')
      expect(() => restoreFacts(Buffer.concat([Buffer.of(3), table.subarray(1)]), [])).toThrow('version 3')
    }
  })

  it('with flags or marks that nobody knows are refused', () => {
    const summary = Buffer.from(goldenHttpSummary)
    summary.writeUInt8(16, 1)
    expect(() => restoreFacts(null, [summary])).toThrow('summary flags 16')
    const table = Buffer.from(goldenHttpTable)
    table.writeUInt8(8, table.lastIndexOf(7, table.indexOf('2026') - 5))
    expect(() => restoreFacts(table, [])).toThrow('marks 8')
  })

  it('that claim more than is there are refused without allocating it', () => {
    const claims = Buffer.from(goldenTable)
    claims.writeInt32BE(2 ** 31 - 1, 1)
    expect(() => restoreFacts(claims, [])).toThrow(ProducerStateUnreadableError)
    const batches = Buffer.from(goldenTable)
    for (const count of [0, 6, 255]) {
      batches.writeUInt8(count, 5 + 18)
      expect(() => restoreFacts(batches, [])).toThrow(ProducerStateUnreadableError)
    }
  })

  it('survive being written and read, whatever was packed when', () => {
    fc.assert(
      fc.property(summaries, fc.nat({ max: 20 }), fc.integer({ min: 0, max: 100 }), (all, packAfter, nowMs) => {
        const runs = all.map(encodeSummary)
        const atOnce = encodeFacts(restoreFacts(null, runs), nowMs)
        const packed = recordBatchEntries.fold(null, runs.slice(0, packAfter), 0)
        const later = recordBatchEntries.fold(packed, [Buffer.concat(runs.slice(packAfter))], nowMs)
        expect(later).toEqual(atOnce)
      }),
    )
  })

  it('of HTTP survive it too', () => {
    fc.assert(
      fc.property(httpSummaries, fc.nat({ max: 20 }), fc.integer({ min: 0, max: 100 }), (all, packAfter, nowMs) => {
        const runs = all.map(encodeHttpSummary)
        const atOnce = encodeFacts(restoreFacts(null, runs), nowMs)
        const packed = recordBatchEntries.fold(null, runs.slice(0, packAfter), 0)
        const later = recordBatchEntries.fold(packed, [Buffer.concat(runs.slice(packAfter))], nowMs)
        expect(later).toEqual(atOnce)
      }),
    )
  })
})

describe('entries of the log', () => {
  it('are measured by their batch headers', () => {
    const builder = new BatchBuilder({ baseOffset: 40 })
    for (const timestamp of [5, 9, 7]) builder.append({ timestamp, value: 'v' })
    const batch = builder.build()
    const bytes = Buffer.concat([Buffer.alloc(3), batch, Buffer.alloc(5)])
    expect(recordBatchEntries.measure(bytes, 3)).toEqual({
      lengthBytes: batch.length,
      baseOffset: 40,
      endOffset: 43,
      maxTimestampMs: 9,
    })
    expect(recordBatchEntries.headerBytes).toBe(61)
  })

  it('without producers have nothing to keep', () => {
    expect(recordBatchEntries.fold(null, [], 0)).toBeNull()
    expect(recordBatchEntries.fold(null, [new Uint8Array(0)], 0)).toBeNull()
  })
})
