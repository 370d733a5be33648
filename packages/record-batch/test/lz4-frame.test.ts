import { describe, expect, test } from 'vitest'
import { compress, decompress, RecordBatchError } from '../src/index.ts'
import { xxhash32 } from '../src/xxhash32.ts'
import { fromBase64, readGolden } from './golden-data.ts'

/** Frames of the reference implementation (lz4 1.9.4; golden/generate.sh). */
const golden = readGolden<{ name: string; bytes: string }>('lz4-frames')
const lines = Array.from({ length: 2500 }, (_, i) => `line ${i + 1} of a text that repeats itself\n`)
const content = Buffer.from(lines.join(''))
const maxBytes = content.length

test('the golden frames cover linked blocks and every checksum', () => {
  const flags = golden.map((entry) => fromBase64(entry.bytes).readUInt8(4))
  expect(flags.filter((flag) => (flag & 0x20) === 0).length, 'linked').toBe(3)
  expect(flags.filter((flag) => (flag & 0x10) !== 0).length, 'block checksums').toBe(2)
  expect(flags.filter((flag) => (flag & 0x08) !== 0).length, 'content size').toBe(1)
  expect(flags.filter((flag) => (flag & 0x04) !== 0).length, 'content checksum').toBe(5)
})

describe.each(golden)('the frame "$name"', (entry) => {
  const frame = fromBase64(entry.bytes)

  test('decompresses', () => {
    expect(Buffer.from(decompress('lz4', frame, maxBytes)).equals(content)).toBe(true)
  })

  test('is refused one byte below its size', () => {
    expect(codeOf(() => decompress('lz4', frame, maxBytes - 1))).toBe('PICO_RECORD_BATCH_DECOMPRESSED_TOO_LARGE')
  })

  test('is refused when cut anywhere', () => {
    for (let length = 0; length < frame.length; length += length < 64 ? 1 : 997) {
      const cut = frame.subarray(0, length)
      expect(
        codeOf(() => decompress('lz4', cut, maxBytes)),
        `${length}`,
      ).toBe('PICO_RECORD_BATCH_BAD_COMPRESSION')
    }
  })

  test('is refused with a byte after it', () => {
    const longer = Buffer.concat([frame, Buffer.alloc(1)])
    expect(codeOf(() => decompress('lz4', longer, maxBytes))).toBe('PICO_RECORD_BATCH_BAD_COMPRESSION')
  })

  test('is refused when a checksum that it carries does not match', () => {
    const headerChecksumAt = (frame.readUInt8(4) & 0x08) === 0 ? 6 : 14
    const checksumAts = [headerChecksumAt, ...((frame.readUInt8(4) & 0x04) === 0 ? [] : [frame.length - 1])]
    for (const at of checksumAts) {
      const flipped = Buffer.from(frame)
      flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at)
      expect(codeOf(() => decompress('lz4', flipped, maxBytes))).toBe('PICO_RECORD_BATCH_BAD_COMPRESSION')
    }
  })
})

test('a wrong block checksum is refused', () => {
  const frame = fromBase64(golden.find((entry) => entry.name === 'independent with block checksums')?.bytes ?? '')
  const checksumAt = 7 + 4 + frame.readUInt32LE(7)
  const flipped = Buffer.from(frame)
  flipped.writeUInt8(flipped.readUInt8(checksumAt) ^ 1, checksumAt)
  expect(() => decompress('lz4', flipped, maxBytes)).toThrow(/block checksum/)
})

test('a wrong header checksum passes only where it is to be ignored (KIP-57)', () => {
  const frame = Buffer.from(compress('lz4', content))
  frame.writeUInt8(frame.readUInt8(6) ^ 0x55, 6)
  expect(codeOf(() => decompress('lz4', frame, maxBytes))).toBe('PICO_RECORD_BATCH_BAD_COMPRESSION')
  expect(decompress('lz4', frame, maxBytes, { ignoreHeaderChecksum: true }).length).toBe(content.length)
})

test('linked blocks are refused where Java clients have to read them', () => {
  const frame = fromBase64(golden.find((entry) => entry.name === 'linked')?.bytes ?? '')
  expect(() => decompress('lz4', frame, maxBytes, { refuseLinkedBlocks: true })).toThrow(/independent/)
})

test('what is written has independent blocks', () => {
  expect((compress('lz4', content)[4] ?? 0) & 0x20).toBe(0x20)
})

test('XXH32 has the values of its specification and of the reference implementation', () => {
  expect(xxhash32(Buffer.from(''))).toBe(0x02cc5d05)
  expect(xxhash32(Buffer.from('a'))).toBe(0x550d7456)
  expect(xxhash32(Buffer.from('abc'))).toBe(0x32d153ff)
  expect(xxhash32(Buffer.from('Nobody inspects the spammish repetition'))).toBe(0xe2293b2f)
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
