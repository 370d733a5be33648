import { AssertionError } from 'node:assert'
import { crc32c } from '@pico/binary'
import {
  type DataEntry,
  DataObjectBuilder,
  ObjectCorruptError,
  ObjectMissingError,
  ObjectTruncatedError,
  readDataObjectIndex,
  type StreamSlice,
  UnsupportedVersionError,
} from '@pico/storage'
import { openMemoryStore } from '@pico/storage/memory'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const key = 'data/1'

function entry(streamId: number, baseOffset: number, text: string, maxTimestampMs = baseOffset): DataEntry {
  return { streamId, baseOffset, endOffset: baseOffset + 1, maxTimestampMs, bytes: Buffer.from(text) }
}

function build(entries: readonly DataEntry[], chunkBytes?: number): { bytes: Buffer; builder: DataObjectBuilder } {
  const builder = new DataObjectBuilder(chunkBytes === undefined ? {} : { chunkBytes })
  for (const added of entries) builder.add(added)
  const body = entries.map(({ bytes }) => bytes)
  const bytes = Buffer.concat([...body, ...builder.finish()])
  return { bytes, builder }
}

async function indexOf(bytes: Buffer, sizeBytes = bytes.length) {
  const store = openMemoryStore()
  await store.put(key, [bytes])
  return readDataObjectIndex(store, key, sizeBytes)
}

/** The stream's bytes, chunk by chunk, each checked as a reader does. */
function read(bytes: Buffer, slice: StreamSlice): string {
  const chunks = slice.chunks.map((chunk) => {
    const view = bytes.subarray(chunk.position, chunk.position + chunk.lengthBytes)
    expect(crc32c(view)).toBe(chunk.crc32c)
    return view
  })
  return Buffer.concat(chunks).toString()
}

test('what was added is found again, stream by stream, and the index is the builder’s own slices', async () => {
  const entries = [
    entry(9, 100, 'nine-a', 5000),
    entry(9, 101, 'nine-b', 4000),
    entry(9, 105, 'nine-c', -1),
    entry(2, 0, 'two', -1),
    entry(5_000_000_000, 2 ** 50, 'large ids and offsets', 1_700_000_000_000),
  ]
  const { bytes, builder } = build(entries, 8)
  expect(builder.lengthBytes).toBe(bytes.length)
  const index = await indexOf(bytes)
  for (const slice of builder.slices) expect(index.slice(slice.streamId)).toEqual(slice)
  const nine = index.slice(9)!
  expect(nine).toMatchObject({ baseOffset: 100, endOffset: 106, position: 0, lengthBytes: 18, maxTimestampMs: 5000 })
  expect(read(bytes, nine)).toBe('nine-anine-bnine-c')
  expect(index.slice(2)).toMatchObject({ baseOffset: 0, endOffset: 1, maxTimestampMs: -1 })
  for (const absent of [0, 1, 3, 8, 10, 4_999_999_999, Number.MAX_SAFE_INTEGER]) {
    expect(index.slice(absent)).toBeUndefined()
  }
})

test('a chunk ends with the entry that fills it, and never within one', () => {
  const { builder } = build(
    [entry(1, 0, 'abc'), entry(1, 1, 'defgh'), entry(1, 2, 'x'.repeat(50)), entry(1, 3, 'i'), entry(2, 0, 'j')],
    8,
  )
  const chunks = builder.slices.map((slice) => slice.chunks.map((chunk) => [chunk.baseOffset, chunk.lengthBytes]))
  expect(chunks).toEqual([
    [
      [0, 8],
      [2, 50],
      [3, 1],
    ],
    [[0, 1]],
  ])
})

test('a gap in the offsets begins a new chunk, however short the one before it is', () => {
  const { builder } = build([entry(1, 0, 'a'), entry(1, 1, 'b'), entry(1, 3, 'c'), entry(1, 4, 'd')])
  expect(builder.slices[0]?.chunks.map((chunk) => [chunk.baseOffset, chunk.lengthBytes])).toEqual([
    [0, 2],
    [3, 2],
  ])
})

test('an object without streams is an object', async () => {
  const { bytes } = build([])
  expect((await indexOf(bytes)).slice(1)).toBeUndefined()
})

test('any streams and entries are found again', async () => {
  const anyStream = fc.array(
    fc.record({
      gap: fc.nat(3),
      count: fc.integer({ min: 1, max: 1000 }),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 60 }),
      maxTimestampMs: fc.maxSafeInteger(),
    }),
    { minLength: 1, maxLength: 12 },
  )
  const anyObject = fc.uniqueArray(fc.tuple(fc.maxSafeNat(), anyStream), { selector: ([id]) => id, maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(anyObject, fc.integer({ min: 1, max: 100 }), async (streams, chunkBytes) => {
      const entries = streams.flatMap(([streamId, stream]) => {
        let next = 0
        return stream.map(({ gap, count, bytes, maxTimestampMs }) => {
          const baseOffset = next + gap
          next = baseOffset + count
          return { streamId, baseOffset, endOffset: next, maxTimestampMs, bytes }
        })
      })
      const { bytes, builder } = build(entries, chunkBytes)
      const index = await indexOf(bytes)
      expect(streams.map(([streamId]) => index.slice(streamId))).toEqual(builder.slices)
      for (const slice of builder.slices) {
        const written = entries.filter(({ streamId }) => streamId === slice.streamId)
        expect(read(bytes, slice)).toBe(Buffer.concat(written.map((added) => added.bytes)).toString())
      }
    }),
    { numRuns: 200 },
  )
})

describe('one stream among 100,000', () => {
  const entries = Array.from({ length: 100_000 }, (_, i) => entry((i * 7919) % 100_003, 0, `${i}`))
  const { bytes, builder } = build(entries)

  test('costs two GETs of the footer, and no decoding of the others', async () => {
    const store = openMemoryStore()
    await store.put(key, [bytes])
    const gets: number[] = []
    const counting = {
      get: (...call: Parameters<typeof store.get>) => {
        gets.push(call[1]?.length ?? 0)
        return store.get(...call)
      },
    }
    const index = await readDataObjectIndex(counting, key, bytes.length)
    expect(gets.length).toBe(2)
    const footerBytes = bytes.length - builder.slices.at(-1)!.position - builder.slices.at(-1)!.lengthBytes
    expect(gets[0]! + gets[1]!).toBe(footerBytes)
    expect(index.sizeInMemoryBytes).toBeLessThan(footerBytes + 1024)

    const before = performance.now()
    for (let i = 0; i < 10_000; i++) index.slice(i)
    const microsecondsEach = ((performance.now() - before) * 1000) / 10_000
    expect(microsecondsEach).toBeLessThan(200)
    expect(index.slice(7919)).toEqual(builder.slices[1])
  })
})

describe('a builder’s mistakes are caught', () => {
  test.each([
    ['a stream that comes back', [entry(1, 0, 'a'), entry(2, 0, 'b'), entry(1, 1, 'c')]],
    ['offsets that go back', [entry(1, 5, 'a'), entry(1, 5, 'b')]],
    ['an entry without bytes', [entry(1, 0, '')]],
    ['an entry without offsets', [{ ...entry(1, 3, 'a'), endOffset: 3 }]],
  ])('%s', (_, entries) => {
    expect(() => build(entries)).toThrow(AssertionError)
  })

  test('an entry after the end', () => {
    const { builder } = build([entry(1, 0, 'a')])
    expect(() => builder.add(entry(1, 1, 'b'))).toThrow(AssertionError)
    expect(() => builder.finish()).toThrow(AssertionError)
  })
})

describe('an object that is not what was written', () => {
  const { bytes, builder } = build([entry(1, 0, 'some bytes'), entry(2, 0, 'of two streams')])
  const bodyBytes = builder.slices.reduce((sum, slice) => sum + slice.lengthBytes, 0)

  test('with any bit of its footer or trailer flipped is refused, naming the key; of its body, by the chunk’s checksum', async () => {
    for (let at = 0; at < bytes.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const altered = Buffer.from(bytes)
        altered[at]! ^= 1 << bit
        const index = await indexOf(altered).catch((error: unknown) => error)
        if (at >= bodyBytes) {
          expect(index, `bit ${bit} of byte ${at}`).toBeInstanceOf(ObjectCorruptError)
          expect((index as ObjectCorruptError).key).toBe(key)
        } else {
          const broken = builder.slices
            .flatMap((slice) => slice.chunks)
            .filter((chunk) => {
              const view = altered.subarray(chunk.position, chunk.position + chunk.lengthBytes)
              return crc32c(view) !== chunk.crc32c
            })
          expect(broken.length).toBe(1)
        }
      }
    }
  })

  test('cut short, or longer than SQL says, is refused', async () => {
    for (let length = 0; length < bytes.length; length++) {
      await expect(indexOf(bytes.subarray(0, length))).rejects.toThrow(ObjectCorruptError)
      await expect(indexOf(bytes.subarray(0, length), bytes.length)).rejects.toThrow(ObjectTruncatedError)
      await expect(indexOf(bytes, length)).rejects.toThrow(ObjectCorruptError)
    }
    await expect(indexOf(Buffer.concat([bytes, Buffer.from('x')]))).rejects.toThrow(ObjectCorruptError)
  })

  test('of a newer version is refused as such', async () => {
    const newer = Buffer.from(bytes)
    newer.writeUInt32BE(2, bytes.length - 16)
    newer.writeUInt32BE(crc32c(newer.subarray(bodyBytes, bytes.length - 12)), bytes.length - 12)
    await expect(indexOf(newer)).rejects.toThrow(UnsupportedVersionError)
  })

  test('missing, is the store’s error', async () => {
    await expect(readDataObjectIndex(openMemoryStore(), key, 1000)).rejects.toThrow(ObjectMissingError)
  })

  test('aborted, ends with the signal’s reason', async () => {
    const reason = new Error('enough')
    const store = openMemoryStore()
    await store.put(key, [bytes])
    await expect(readDataObjectIndex(store, key, bytes.length, AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})
