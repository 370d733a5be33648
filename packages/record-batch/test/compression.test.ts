import { gzipSync, zstdCompressSync } from 'node:zlib'
import { compressSync as snappyBlock } from 'snappy'
import { describe, expect, test } from 'vitest'
import { type CompressionCodec, compress, decompress, RecordBatchError } from '../src/index.ts'

const codecs: readonly CompressionCodec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const compressing = codecs.filter((codec) => codec !== 'none')

const contents = {
  'one byte': Buffer.from('x'),
  text: Buffer.from('the quick brown fox jumps over the lazy dog. '.repeat(5000)),
  noise: noise(200_000),
}

describe.each(codecs)('%s', (codec) => {
  test.each(Object.entries(contents))('gives back %s', (_, content) => {
    const compressed = compress(codec, content)
    expect(Buffer.from(decompress(codec, compressed, content.length)).equals(content)).toBe(true)
    expect(codeOf(() => decompress(codec, compressed, content.length - 1))).toBe(tooLarge)
  })

  test('reads and writes plain Uint8Arrays in the middle of a buffer', () => {
    const around = new Uint8Array(300).fill(7)
    const compressed = compress(codec, around.subarray(100, 200))
    const surrounded = new Uint8Array(compressed.length + 20)
    surrounded.set(compressed, 10)
    const decompressed = decompress(codec, surrounded.subarray(10, 10 + compressed.length), 100)
    expect(new Uint8Array(decompressed)).toEqual(around.slice(0, 100))
  })
})

describe.each(compressing)('%s', (codec) => {
  test('refuses every truncation', () => {
    const compressed = compress(codec, Buffer.from('a short text, a short text, a short text'))
    for (let length = 0; length < compressed.length; length++) {
      const cut = compressed.subarray(0, length)
      // A cut that ends between chunks of the Java framing is a shorter stream, and valid as such.
      if (codec === 'snappy' && length === 16) continue
      expect(
        codeOf(() => decompress(codec, cut, 1 << 20)),
        `${length}`,
      ).toBe(bad)
    }
  })

  test('refuses bytes after the end', () => {
    const longer = Buffer.concat([compress(codec, Buffer.from('text')), Buffer.from('junk')])
    expect(codeOf(() => decompress(codec, longer, 1000))).toBe(bad)
  })

  test('refuses a bomb without taking memory for it', () => {
    const bomb = compress(codec, Buffer.alloc(64 << 20))
    const before = process.memoryUsage()
    expect(codeOf(() => decompress(codec, bomb, 1 << 20))).toBe(tooLarge)
    const after = process.memoryUsage()
    // Nothing is collected in between, so this is all that was allocated, less what V8 keeps for itself.
    expect(after.arrayBuffers + after.external - before.arrayBuffers - before.external).toBeLessThan(16 << 20)
  })
})

describe('snappy', () => {
  test('reads a raw block', () => {
    const block = snappyBlock(contents.text)
    expect(Buffer.from(decompress('snappy', block, contents.text.length)).equals(contents.text)).toBe(true)
  })

  test('reads concatenated streams, as snappy-java does', () => {
    const twice = Buffer.concat([compress('snappy', contents.text), compress('snappy', contents.noise)])
    const both = Buffer.concat([contents.text, contents.noise])
    expect(Buffer.from(decompress('snappy', twice, both.length)).equals(both)).toBe(true)
  })

  test('refuses a claim of 4 GiB by what a block can hold, before the library sees it', () => {
    const claim = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x00])
    expect(codeOf(() => decompress('snappy', claim, 2 ** 33))).toBe(bad)
    expect(codeOf(() => decompress('snappy', claim, 1 << 20))).toBe(tooLarge)
  })

  test('refuses a framing version of the future', () => {
    const framed = Buffer.from(compress('snappy', contents.text))
    framed.writeInt32BE(2, 12)
    expect(codeOf(() => decompress('snappy', framed, contents.text.length))).toBe(bad)
  })
})

describe('gzip', () => {
  test('reads several members', () => {
    const members = Buffer.concat([gzipSync('one '), gzipSync('two')])
    expect(Buffer.from(decompress('gzip', members, 100)).toString()).toBe('one two')
  })

  test('refuses a wrong CRC-32', () => {
    const member = gzipSync('some text')
    member.writeUInt32LE(1, member.length - 8)
    expect(codeOf(() => decompress('gzip', member, 100))).toBe(bad)
  })
})

describe('zstd', () => {
  test('reads several frames, skippable ones between them', () => {
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    const frames = Buffer.concat([zstdCompressSync('one '), skippable, zstdCompressSync('two')])
    expect(Buffer.from(decompress('zstd', frames, 100)).toString()).toBe('one two')
  })

  test('refuses what node:zlib drops: the beginning of a further frame', () => {
    const frame = zstdCompressSync('some text')
    for (let length = 1; length < frame.length; length++) {
      const frames = Buffer.concat([frame, frame.subarray(0, length)])
      expect(
        codeOf(() => decompress('zstd', frames, 100)),
        `${length}`,
      ).toBe(bad)
    }
  })

  test('refuses a claimed content size over the limit before decoding', () => {
    const frame = zstdCompressSync(Buffer.alloc(100_000))
    expect(codeOf(() => decompress('zstd', frame.subarray(0, 20), 1000))).toBe(tooLarge)
  })
})

const bad = 'PICO_RECORD_BATCH_BAD_COMPRESSION'
const tooLarge = 'PICO_RECORD_BATCH_DECOMPRESSED_TOO_LARGE'

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof RecordBatchError) return error.code
    throw error
  }
  return 'no error'
}

/** The same every time: a linear congruential generator's high bits. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  let state = 1
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes[i] = state >>> 24
  }
  return bytes
}
