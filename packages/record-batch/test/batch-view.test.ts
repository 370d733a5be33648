import { describe, expect, test } from 'vitest'
import { BatchBuilder, BatchView, batches, measureBatch, RecordBatchError, records } from '../src/index.ts'

const small = () => {
  const builder = new BatchBuilder()
  builder.append({ timestamp: 1000, key: 'a', value: 'b' })
  builder.append({ timestamp: 3000, key: 'c', value: null })
  return builder.build()
}

describe('a batch patched in place', () => {
  test.each([0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 3, Number.MAX_SAFE_INTEGER - 1])(
    'has the base offset %d and the CRC it had',
    (baseOffset) => {
      const batch = new BatchView(small())
      const { crc } = batch
      batch.patchBaseOffset(baseOffset)
      expect(batch.baseOffset).toBe(baseOffset)
      expect(batch.lastOffset).toBe(baseOffset + 1)
      expect(batch.crc).toBe(crc)
      expect(batch.isCrcValid()).toBe(true)
      expect([...records(batch)].map((record) => record.offset)).toEqual([baseOffset, baseOffset + 1])
    },
  )

  test.each([-1, 0, 7, 2 ** 31 - 1])('has the leader epoch %d and the CRC it had', (leaderEpoch) => {
    const batch = new BatchView(small())
    const { crc } = batch
    batch.patchPartitionLeaderEpoch(leaderEpoch)
    expect(batch.partitionLeaderEpoch).toBe(leaderEpoch)
    expect(batch.crc).toBe(crc)
    expect(batch.isCrcValid()).toBe(true)
  })

  test('stamped with an append time gives it to every record, under a new valid CRC', () => {
    const batch = new BatchView(small())
    const { crc, baseTimestamp } = batch
    batch.stampLogAppendTime(1_700_000_000_000)
    expect(batch.timestampType).toBe('LogAppendTime')
    expect(batch.maxTimestamp).toBe(1_700_000_000_000)
    expect(batch.baseTimestamp).toBe(baseTimestamp)
    expect(batch.crc).not.toBe(crc)
    expect(batch.isCrcValid()).toBe(true)
    expect([...records(batch)].map((record) => record.timestamp)).toEqual([1_700_000_000_000, 1_700_000_000_000])
  })

  test('stamped back to create time has the records timestamps again', () => {
    const batch = new BatchView(small())
    const before = Buffer.from(batch.batchBytes())
    batch.stampLogAppendTime(5)
    batch.stampCreateTime(3000)
    expect(before.equals(batch.batchBytes())).toBe(true)
  })

  test('stamped with what it has already is not touched, not even a CRC that is wrong', () => {
    const batch = new BatchView(small())
    batch.bytes[17] = ((batch.bytes[17] ?? 0) + 1) & 0xff
    const before = Buffer.from(batch.batchBytes())
    batch.stampCreateTime(3000)
    expect(before.equals(batch.batchBytes())).toBe(true)
  })

  test('takes no offset, time or epoch that its fields cannot hold', () => {
    const batch = new BatchView(small())
    for (const patch of [
      () => batch.patchBaseOffset(2 ** 53),
      () => batch.patchBaseOffset(1.5),
      () => batch.patchPartitionLeaderEpoch(2 ** 31),
      () => batch.stampLogAppendTime(Number.NaN),
    ]) {
      expect(codeOf(patch)).toBe('PICO_RECORD_BATCH_OUT_OF_RANGE')
    }
  })

  test('is patched where it lies, and nothing around it', () => {
    const bytes = small()
    const surrounded = Buffer.concat([Buffer.alloc(9, 0xee), bytes, Buffer.alloc(9, 0xee)])
    const batch = new BatchView(surrounded, 9)
    batch.patchBaseOffset(77)
    batch.patchPartitionLeaderEpoch(3)
    batch.stampLogAppendTime(123)
    expect(surrounded.subarray(0, 9).every((byte) => byte === 0xee)).toBe(true)
    expect(surrounded.subarray(-9).every((byte) => byte === 0xee)).toBe(true)
    expect(new BatchView(surrounded.subarray(9)).baseOffset).toBe(77)
  })
})

describe('bytes that are no whole batch', () => {
  test('are refused at every length short of one', () => {
    const bytes = small()
    for (let length = 0; length < bytes.length; length++) {
      expect(codeOf(() => new BatchView(bytes.subarray(0, length)))).toBe('PICO_RECORD_BATCH_TRUNCATED')
      expect(codeOf(() => measureBatch(bytes.subarray(0, length)))).toBe('PICO_RECORD_BATCH_TRUNCATED')
    }
  })

  test('are refused at a position outside', () => {
    const bytes = small()
    for (const position of [-1, 1, bytes.length, bytes.length + 1, Number.NaN, 0.5]) {
      expect(
        codeOf(() => new BatchView(bytes, position)),
        `${position}`,
      ).toMatch(/TRUNCATED|WRONG_MAGIC/)
    }
  })

  test.each([0, 1, 3, 255])('are refused with magic %d', (magic) => {
    const bytes = small()
    bytes[16] = magic
    expect(codeOf(() => new BatchView(bytes))).toBe('PICO_RECORD_BATCH_WRONG_MAGIC')
  })

  test.each([-1, 0, 48])('are refused with the batch length %d', (length) => {
    const bytes = Buffer.from(small())
    bytes.writeInt32BE(length, 8)
    expect(codeOf(() => new BatchView(bytes))).toBe('PICO_RECORD_BATCH_CORRUPT')
  })
})

describe('an int64 beyond what number holds', () => {
  test.each([
    ['baseOffset', 0],
    ['baseTimestamp', 27],
    ['maxTimestamp', 35],
    ['producerId', 43],
  ] as const)('makes %s an error, not a wrong number', (field, at) => {
    for (const value of [2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n)]) {
      const bytes = Buffer.from(small())
      bytes.writeBigInt64BE(value, at)
      expect(codeOf(() => new BatchView(bytes)[field])).toBe('PICO_RECORD_BATCH_UNSAFE_INTEGER')
    }
    for (const value of [2n ** 53n - 1n, -(2n ** 53n) + 1n, -1n, 0n, 2n ** 32n, -(2n ** 32n)]) {
      const bytes = Buffer.from(small())
      bytes.writeBigInt64BE(value, at)
      expect(new BatchView(bytes)[field]).toBe(Number(value))
    }
  })
})

test('a codec id that names nothing is readable as an id only', () => {
  const bytes = small()
  bytes[22] = 6
  expect(new BatchView(bytes).codecId).toBe(6)
  expect(codeOf(() => new BatchView(bytes).codec)).toBe('PICO_RECORD_BATCH_UNKNOWN_CODEC')
})

describe('several batches in a row', () => {
  const bytes = Buffer.concat([small(), small(), small()])

  test('are hopped over by their measure', () => {
    const { byteLength } = measureBatch(bytes)
    expect(measureBatch(bytes, byteLength)).toEqual({
      byteLength,
      baseOffset: 0,
      lastOffset: 1,
      count: 2,
      maxTimestamp: 3000,
    })
    expect(byteLength * 3).toBe(bytes.length)
  })

  test('are listed, without one that is cut off', () => {
    expect([...batches(bytes)].map((batch) => batch.position)).toEqual([0, bytes.length / 3, (bytes.length / 3) * 2])
    expect([...batches(bytes.subarray(0, -1))].length).toBe(2)
    expect([...batches(bytes.subarray(0, 20))].length).toBe(0)
  })

  test('are listed up to one that is damaged, which is an error', () => {
    const damaged = Buffer.from(bytes)
    damaged[bytes.length / 3 + 16] = 1
    const seen: number[] = []
    expect(() => {
      for (const batch of batches(damaged)) seen.push(batch.position)
    }).toThrow(RecordBatchError)
    expect(seen).toEqual([0])
  })
})

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof RecordBatchError) return error.code
    throw error
  }
  return 'no error'
}
