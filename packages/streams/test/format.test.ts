import { readFileSync } from 'node:fs'
import { BatchBuilder } from '@pico/record-batch'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProducerStateUnreadableError, recordBatchEntries } from '../src/index.ts'
import { encodeSummary, type ProducerSummary, summaryBytes } from '../src/producer-format.ts'
import { encodeFacts, restoreFacts } from '../src/stream-facts-format.ts'

/** The examples of FORMAT.md, which a stranger would write a reader by. */
const [goldenSummary = Buffer.of(), goldenTable = Buffer.of()] = [
  ...readFileSync(new URL('../FORMAT.md', import.meta.url), 'utf8').matchAll(/^```\n([0-9a-f ]+)\n```$/gm),
].map(([, bytes = '']) => Buffer.from(bytes.replaceAll(' ', ''), 'hex'))

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
  })

  it('are what is read', () => {
    const { producerEpoch, expiresAtMs, batch } = example
    const expected = [[4711, { producerEpoch, expiresAtMs, batches: [batch] }]]
    expect([...restoreFacts(null, [goldenSummary]).producers.entries()]).toEqual(expected)
    expect([...restoreFacts(goldenTable, []).producers.entries()]).toEqual(expected)
  })

  it('cut short anywhere are refused, and so is what goes on too long or is of another version', () => {
    for (let length = 1; length < goldenSummary.length; length++) {
      expect(() => restoreFacts(null, [goldenSummary.subarray(0, length)])).toThrow(ProducerStateUnreadableError)
    }
    for (let length = 0; length < goldenTable.length; length++) {
      expect(() => restoreFacts(goldenTable.subarray(0, length), [])).toThrow(ProducerStateUnreadableError)
    }
    expect(() => restoreFacts(Buffer.concat([goldenTable, Buffer.of(0)]), [])).toThrow('1 bytes after the table')
    for (const bytes of [goldenSummary, goldenTable]) {
      const later = Buffer.from(bytes)
      later.writeUInt8(3, 0)
      const read = () => (bytes === goldenTable ? restoreFacts(later, []) : restoreFacts(null, [later]))
      expect(read).toThrow('version 3')
    }
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
