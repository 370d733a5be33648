import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { BatchView, convertMessageSet, decompress, produceErrors } from '../src/index.ts'
import { readMessage, readWrapped } from '../src/message-set.ts'
import { fromBase64, type GoldenBatch, goldenRecords, readGolden } from './golden-data.ts'

const golden = readGolden<GoldenBatch>('message-sets')
const rules = { maxMessageBytes: 1 << 20, maxDecompressedBytes: 1 << 20, compressionType: 'producer' } as const

describe.each(golden)('the set "$name" that Kafka wrote', (entry) => {
  const bytes = fromBase64(entry.bytes)
  const first = entry.batches[0]
  if (first === undefined) throw new Error('no message in the golden data')

  test('becomes one v2 batch of the same records, codec and timestamps, with offsets from 0', () => {
    const converted = convertMessageSet(bytes, rules)
    if (!converted.accepted) throw new Error(converted.errorMessage)
    expect(converted.magic).toBe(first.magic)
    const batch = new BatchView(converted.bytes)
    expect(batch.isCrcValid()).toBe(true)
    expect(batch.byteLength).toBe(converted.bytes.length)
    expect(batch.codec).toBe(first.compressionType)
    expect(batch.timestampType).toBe(entry.name.includes('log append time') ? 'LogAppendTime' : 'CreateTime')
    const read = goldenRecords(batch)
    if (entry.records !== undefined) {
      expect(read).toEqual(entry.records.map((record, offset) => ({ ...record, offset })))
    } else {
      expect(createHash('sha256').update(JSON.stringify(read)).digest('base64')).toBe(entry.recordsSha256)
    }
  })

  test('has the absolute offsets that Kafka reads', () => {
    if (entry.records === undefined) return
    const message = readMessage(bytes, 0, bytes.readInt32BE(8) + 12)
    const offsets = message.codec === 'none' ? [message.offset] : readWrapped(message, 1 << 20).map((m) => m.offset)
    expect(offsets).toEqual(entry.records.slice(0, offsets.length).map((record) => record.offset))
  })

  test('is refused as corrupt when any byte after a CRC is flipped', () => {
    for (let at = 16; at < Math.min(bytes.length, 400); at++) {
      // The header of a further message: its offset is covered by nothing, its length decides where the CRC ends.
      if (first.compressionType === 'none' && at >= first.sizeInBytes) break
      const flipped = Buffer.from(bytes)
      flipped.writeUInt8(flipped.readUInt8(at) ^ 0x10, at)
      const converted = convertMessageSet(flipped, rules)
      expect(converted.accepted).toBe(false)
      if (!converted.accepted) expect(converted.errorCode, `byte ${at}`).toBe(produceErrors.corruptMessage)
    }
  })
})

test('the LZ4 header checksum of magic 0 is the wrong one of KIP-57, and not looked at', () => {
  const entry = golden.find((candidate) => candidate.name === 'magic 0 lz4')
  const bytes = fromBase64(entry?.bytes ?? '')
  const wrapper = readMessage(bytes, 0, bytes.length)
  expect(() => decompress('lz4', wrapper.value ?? new Uint8Array(), 1 << 20)).toThrow(/header checksum/)
  expect(readWrapped(wrapper, 1 << 20).length).toBe(5)
})
