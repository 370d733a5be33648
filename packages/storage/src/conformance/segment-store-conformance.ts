import { AssertionError } from 'node:assert'
import { describe, expect, test } from 'vitest'
import { InvalidKeyError, ObjectMissingError, SegmentExistsError, StoreClosedError } from '../errors.ts'
import type { ObjectInfo, ObjectStore } from '../object-store.ts'
import type { SegmentStore } from '../segment-store.ts'
import { badKeys, bytesOf, keysOf, patterned, textOf } from './conformance-data.ts'

/**
 * What every `SegmentStore` must do, as vitest tests to be called within a `describe`.
 * @param open a new, empty store each time, which reads segments back as objects; the suite closes it.
 */
export function segmentStoreConformance(open: () => Promise<ObjectStore & SegmentStore>): void {
  const withStore = (use: (store: ObjectStore & SegmentStore) => Promise<void>) => async () => {
    const store = await open()
    try {
      await use(store)
    } finally {
      await store.close()
    }
  }
  const sizeBytes = 64 * 1024

  describe('create', () => {
    test(
      'a new segment is all zeros, of its full size, and an object of the store',
      withStore(async (store) => {
        const segment = await store.create('wal/1/1', sizeBytes)
        expect([segment.key, segment.sizeBytes]).toEqual(['wal/1/1', sizeBytes])
        expect(Buffer.compare(await store.get('wal/1/1'), Buffer.alloc(sizeBytes))).toBe(0)
        const infos: ObjectInfo[] = []
        for await (const info of store.list('wal/')) infos.push(info)
        expect(infos).toMatchObject([{ key: 'wal/1/1', sizeBytes }])
        await segment.close()
      }),
    )

    test(
      'a segment is as large, and as empty, where its making was in no hurry',
      withStore(async (store) => {
        const oddBytes = 1024 * 1024 + 17
        const segment = await store.create('wal/1/1', oddBytes, { unhurried: () => true })
        expect(Buffer.compare(await store.get('wal/1/1'), Buffer.alloc(oddBytes))).toBe(0)
        await segment.close()
      }),
    )

    test(
      'a segment is never made over another one',
      withStore(async (store) => {
        const segment = await store.create('wal/1', sizeBytes)
        await segment.write(0, [bytesOf('acknowledged')])
        await store.create('wal/2', sizeBytes)
        await expect(store.create('wal/1', sizeBytes)).rejects.toThrow(SegmentExistsError)
        await expect(store.create('wal/1', sizeBytes, { recycle: 'wal/2' })).rejects.toThrow(SegmentExistsError)
        expect(textOf(await store.get('wal/1', { offset: 0, length: 12 }))).toBe('acknowledged')
        expect(await keysOf(store.list(''))).toEqual(['wal/1', 'wal/2'])
      }),
    )

    test(
      'a recycled segment has the old bytes under the new key, and the old key is gone',
      withStore(async (store) => {
        const old = await store.create('wal/1/1', sizeBytes)
        await old.write(100, [bytesOf('old bytes')])
        await old.close()
        const segment = await store.create('wal/2/2', sizeBytes, { recycle: 'wal/1/1' })
        await expect(store.get('wal/1/1')).rejects.toThrow(ObjectMissingError)
        expect(textOf(await store.get('wal/2/2', { offset: 100, length: 9 }))).toBe('old bytes')
        await segment.write(100, [bytesOf('new')])
        expect(textOf(await store.get('wal/2/2', { offset: 100, length: 9 }))).toBe('new bytes')
        expect(await keysOf(store.list(''))).toEqual(['wal/2/2'])
      }),
    )

    test(
      'what cannot be recycled, missing or of another size, is left alone and a new file is made',
      withStore(async (store) => {
        const other = await store.create('other', sizeBytes * 2)
        await other.write(0, [bytesOf('other')])
        await store.create('wal/1', sizeBytes, { recycle: 'missing' })
        await store.create('wal/2', sizeBytes, { recycle: 'other' })
        expect(Buffer.compare(await store.get('wal/1'), Buffer.alloc(sizeBytes))).toBe(0)
        expect(Buffer.compare(await store.get('wal/2'), Buffer.alloc(sizeBytes))).toBe(0)
        expect(textOf(await store.get('other', { offset: 0, length: 5 }))).toBe('other')
      }),
    )

    test.each(badKeys)('refuses the key %j', async (key) =>
      withStore(async (store) => {
        await expect(store.create(key, sizeBytes)).rejects.toThrow(InvalidKeyError)
      })(),
    )
  })

  describe('write', () => {
    test(
      'writes where it is told, buffer after buffer, and nowhere else',
      withStore(async (store) => {
        const segment = await store.create('wal/1', sizeBytes)
        const expected = Buffer.alloc(sizeBytes)
        for (const [position, texts] of [
          [512, ['first', '', ' frame']],
          [0, ['header']],
          [4000, ['across a page', 'x'.repeat(5000)]],
          [sizeBytes - 3, ['end']],
        ] as const) {
          await segment.write(
            position,
            texts.map((text) => bytesOf(text)),
          )
          expected.write(texts.join(''), position)
          expect(Buffer.compare(await store.get('wal/1'), expected)).toBe(0)
        }
        await segment.close()
        expect(Buffer.compare(await store.get('wal/1'), expected)).toBe(0)
      }),
    )

    test(
      'takes more buffers than one gathered write does',
      withStore(async (store) => {
        const segment = await store.create('wal/1', sizeBytes)
        const whole = patterned(9000)
        await segment.write(
          512,
          Array.from({ length: 3000 }, (_, i) => whole.subarray(i * 3, i * 3 + 3)),
        )
        expect(Buffer.compare(await store.get('wal/1', { offset: 512, length: 9000 }), whole)).toBe(0)
      }),
    )

    test(
      'several writes are under way at once, each where it belongs',
      withStore(async (store) => {
        const segment = await store.create('wal/1', sizeBytes)
        const whole = patterned(sizeBytes)
        const places = Array.from({ length: 16 }, (_, i) => (i * 4096 * 5) % sizeBytes)
        await Promise.all(places.map((at) => segment.write(at, [whole.subarray(at, at + 4096)])))
        await segment.close()
        expect(Buffer.compare(await store.get('wal/1'), whole)).toBe(0)
      }),
    )

    test(
      'segments do not touch one another',
      withStore(async (store) => {
        const segments = await Promise.all(['wal/1', 'wal/2', 'wal/3'].map((key) => store.create(key, sizeBytes)))
        await Promise.all(segments.map((segment) => segment.write(0, [bytesOf(segment.key)])))
        for (const { key } of segments) expect(textOf(await store.get(key, { offset: 0, length: 5 }))).toBe(key)
      }),
    )

    test(
      'a write past the end is a bug, and nothing of it is written',
      withStore(async (store) => {
        const segment = await store.create('wal/1', sizeBytes)
        await expect(segment.write(sizeBytes - 3, [bytesOf('four')])).rejects.toThrow(AssertionError)
        await expect(segment.write(-1, [bytesOf('x')])).rejects.toThrow(AssertionError)
        expect(Buffer.compare(await store.get('wal/1'), Buffer.alloc(sizeBytes))).toBe(0)
      }),
    )

    test(
      'a closed segment takes no more writes, and may be closed twice',
      withStore(async (store) => {
        const segment = await store.create('wal/1', sizeBytes)
        await segment.close()
        await segment.close()
        await expect(segment.write(0, [bytesOf('x')])).rejects.toThrow(StoreClosedError)
      }),
    )

    test(
      'closing waits for the writes that are under way',
      withStore(async (store) => {
        const segment = await store.create('wal/1', sizeBytes)
        const half = sizeBytes / 2
        const bytes = patterned(sizeBytes)
        const writing = [0, half].map((at) => segment.write(at, [bytes.subarray(at, at + half)]))
        await segment.close()
        await Promise.all(writing)
        expect(Buffer.compare(await store.get('wal/1'), patterned(sizeBytes))).toBe(0)
      }),
    )
  })
}
