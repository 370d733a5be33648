import { describe, expect, test } from 'vitest'
import {
  BatchBuilder,
  type BatchBuilderSettings,
  BatchView,
  defaultProduceRules,
  type ProduceRules,
  type ProduceVerdict,
  produceErrors,
  records,
  validateProduced,
} from '../src/index.ts'

/** What golden-verdicts.test.ts cannot show: the answers beyond Kafka's, the borrowing of bytes, the bounds. */
const nowMs = 1_700_000_000_000
const rules: ProduceRules = { ...defaultProduceRules, produceVersion: 9, nowMs }

describe('an accepted batch', () => {
  test('is a view of the bytes given, which stay as they were', () => {
    const bytes = built({ producerId: 5, producerEpoch: 2, baseSequence: 2 ** 31 - 1 })
    const before = Buffer.from(bytes)
    const verdict = accepted(validateProduced(bytes, rules))
    expect(verdict.batch.bytes).toBe(bytes)
    expect(verdict).toMatchObject({
      rewritten: false,
      count: 3,
      producerId: 5,
      producerEpoch: 2,
      baseSequence: 2 ** 31 - 1,
      lastSequence: 1,
      maxTimestampMs: nowMs + 2,
      logAppendTimeMs: -1,
    })
    expect(before.equals(bytes)).toBe(true)
  })

  test('has no sequences without a producer id', () => {
    const verdict = accepted(validateProduced(built({ baseSequence: 9 }), rules))
    expect(verdict).toMatchObject({ producerId: -1, producerEpoch: -1, baseSequence: -1, lastSequence: -1 })
  })

  test('with a wrong max timestamp is stored from new bytes with the true one', () => {
    const bytes = built()
    new BatchView(bytes).stampCreateTime(5)
    const before = Buffer.from(bytes)
    const verdict = accepted(validateProduced(bytes, rules))
    expect(verdict.rewritten).toBe(true)
    expect(verdict.batch.maxTimestamp).toBe(nowMs + 2)
    expect(verdict.batch.isCrcValid()).toBe(true)
    expect(before.equals(bytes)).toBe(true)
  })

  test('on a LogAppendTime topic comes with the time to stamp it with, whatever its own timestamps', () => {
    const bytes = built()
    new BatchView(bytes).stampCreateTime(5)
    const verdict = accepted(validateProduced(bytes, { ...rules, timestampType: 'LogAppendTime', nowMs: 42 }))
    expect(verdict).toMatchObject({ rewritten: false, maxTimestampMs: 42, logAppendTimeMs: 42 })
  })

  test('stored under another codec keeps keys, values and headers to the byte, even header keys that are no text', () => {
    const builder = new BatchBuilder()
    builder.append({
      timestamp: nowMs,
      key: Uint8Array.of(0xff),
      headers: [{ key: Uint8Array.of(0xc3, 0x28), value: null }],
    })
    const verdict = accepted(validateProduced(builder.build(), { ...rules, compressionType: 'zstd' }))
    expect(verdict.batch.codec).toBe('zstd')
    const [record] = [...records(verdict.batch)]
    expect(record?.headers.map((header) => [...header.key])).toEqual([[0xc3, 0x28]])
    expect([...(record?.key ?? [])]).toEqual([0xff])
  })
})

describe('a batch is refused', () => {
  test('as transactional, even where Kafka would take it', () => {
    const bytes = built({ producerId: 5, producerEpoch: 0, baseSequence: 0, isTransactional: true })
    expect(codeOf(validateProduced(bytes, rules))).toBe(produceErrors.invalidRecord)
  })

  test('with a producer id beyond what number holds', () => {
    const bytes = Buffer.from(built({ producerId: 5, producerEpoch: 0, baseSequence: 0 }))
    bytes.writeBigInt64BE(2n ** 60n, 43)
    expect(codeOf(validateProduced(sealed(bytes), rules))).toBe(produceErrors.invalidRecord)
  })

  test('with timestamps beyond what number holds, even where the topic allows any', () => {
    for (const baseTimestamp of [2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      const bytes = Buffer.from(built())
      bytes.writeBigInt64BE(baseTimestamp, 27)
      const anyTime = { ...rules, timestampAfterMaxMs: Number.POSITIVE_INFINITY }
      expect(codeOf(validateProduced(sealed(bytes), anyTime))).toBe(produceErrors.invalidTimestamp)
    }
  })

  test('as too large when it decompresses to more than allowed', () => {
    for (const codec of ['gzip', 'snappy', 'lz4', 'zstd'] as const) {
      const builder = new BatchBuilder({ codec })
      builder.append({ timestamp: nowMs, value: Buffer.alloc(100_000) })
      const bytes = builder.build()
      expect(validateProduced(bytes, { ...rules, maxDecompressedBytes: 101_000 }).accepted).toBe(true)
      const verdict = validateProduced(bytes, { ...rules, maxDecompressedBytes: 99_000 })
      expect(codeOf(verdict)).toBe(produceErrors.messageTooLarge)
    }
  })

  test('as too large for a segment', () => {
    expect(codeOf(validateProduced(built(), { ...rules, segmentBytes: 60 }))).toBe(produceErrors.recordListTooLarge)
  })

  test('as too large once it is stored under another codec', () => {
    const builder = new BatchBuilder({ codec: 'gzip' })
    builder.append({ timestamp: nowMs, value: 'a'.repeat(10_000) })
    const verdict = validateProduced(builder.build(), {
      ...rules,
      maxMessageBytes: 5000,
      compressionType: 'uncompressed',
    })
    expect(codeOf(verdict)).toBe(produceErrors.messageTooLarge)
  })

  test('with every bad record named, a bad timestamp outweighing a missing key', () => {
    const builder = new BatchBuilder()
    builder.append({ timestamp: nowMs, key: 'a', value: 'good' })
    builder.append({ timestamp: nowMs, value: 'no key' })
    builder.append({ timestamp: nowMs + 3_600_001, key: 'a', value: 'too late' })
    const verdict = validateProduced(builder.build(), { ...rules, isCompacted: true })
    if (verdict.accepted) throw new Error('accepted')
    expect(verdict.errorCode).toBe(produceErrors.invalidTimestamp)
    expect(verdict.recordErrors.map((error) => error.batchIndex)).toEqual([1, 2])
    expect(verdict.recordErrors.every((error) => error.message.length > 0)).toBe(true)
  })

  test('with a bounded list of bad records', () => {
    const builder = new BatchBuilder()
    for (let i = 0; i < 5000; i++) builder.append({ timestamp: nowMs })
    const verdict = validateProduced(builder.build(), { ...rules, isCompacted: true })
    if (verdict.accepted) throw new Error('accepted')
    expect(verdict.recordErrors.length).toBe(1000)
    expect(verdict.errorMessage).toContain('5000')
  })
})

test('bytes in the middle of a request are judged like any others', () => {
  const bytes = built()
  const request = Buffer.concat([Buffer.alloc(33, 0xff), bytes, Buffer.alloc(20, 0xff)])
  const verdict = accepted(validateProduced(request.subarray(33, 33 + bytes.length), rules))
  expect(Buffer.from(verdict.batch.batchBytes()).equals(bytes)).toBe(true)
})

function built(settings: BatchBuilderSettings = {}): Uint8Array {
  const builder = new BatchBuilder(settings)
  for (let i = 0; i < 3; i++) builder.append({ timestamp: nowMs + i, key: `${i}`, value: `${i}` })
  return builder.build()
}

function sealed(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(new BatchView(bytes).computeCrc(), 17)
  return bytes
}

function accepted(verdict: ProduceVerdict): Extract<ProduceVerdict, { accepted: true }> {
  if (!verdict.accepted) throw new Error(`${verdict.errorCode}: ${verdict.errorMessage}`)
  return verdict
}

function codeOf(verdict: ProduceVerdict): number {
  return verdict.accepted ? 0 : verdict.errorCode
}
