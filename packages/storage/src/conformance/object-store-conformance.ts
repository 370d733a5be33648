import { describe, expect, test } from 'vitest'
import { InvalidKeyError, ObjectMissingError, ObjectTruncatedError, StorageError, StoreClosedError } from '../errors.ts'
import type { ObjectInfo, ObjectStore } from '../object-store.ts'
import { badKeys, bytesOf, keysOf, patterned, textOf } from './conformance-data.ts'

/**
 * What every `ObjectStore` must do, as vitest tests to be called within a `describe`.
 * @param open a new, empty store each time; the suite closes it.
 */
export function objectStoreConformance(open: () => Promise<ObjectStore>): void {
  const withStore = (use: (store: ObjectStore) => Promise<void>) => async () => {
    const store = await open()
    try {
      await use(store)
    } finally {
      await store.close()
    }
  }

  describe('put and get', () => {
    test(
      'an object reads back as the buffers it was put from, one after the other',
      withStore(async (store) => {
        await store.put('a/b/c', [bytesOf('hello, '), bytesOf(''), bytesOf('world')])
        expect(textOf(await store.get('a/b/c'))).toBe('hello, world')
      }),
    )

    test(
      'an object may be empty, from no buffer, an empty one, or a stream without parts',
      withStore(async (store) => {
        await store.put('none', [])
        await store.put('empty', [bytesOf('')])
        await store.put('stream', streamOf([]))
        for (const key of ['none', 'empty', 'stream']) expect((await store.get(key)).length).toBe(0)
      }),
    )

    test(
      'a streamed object of 20 MiB with parts of every length reads back whole and in ranges',
      withStore(async (store) => {
        const whole = patterned(20 * 1024 * 1024 + 17)
        await store.put('large', streamOf(partsOf(whole)))
        expect(Buffer.compare(await store.get('large'), whole)).toBe(0)
        const range = { offset: 9 * 1024 * 1024 - 5, length: 3 * 1024 * 1024 }
        const part = await store.get('large', range)
        expect(Buffer.compare(part, whole.subarray(range.offset, range.offset + range.length))).toBe(0)
      }),
    )

    test(
      'an object is the same whether its put is in a hurry or not, or both in turn',
      withStore(async (store) => {
        const whole = patterned(2 * 1024 * 1024 + 17)
        let asked = 0
        await store.put('unhurried', streamOf(partsOf(whole)), { unhurried: () => true })
        await store.put('moody', streamOf(partsOf(whole)), { unhurried: () => asked++ % 2 === 0 })
        for (const key of ['unhurried', 'moody']) expect(Buffer.compare(await store.get(key), whole)).toBe(0)
      }),
    )

    test(
      'a range goes into the memory it was given, or into memory of the store; nothing beside it is touched',
      withStore(async (store) => {
        const whole = patterned(300_000)
        await store.put('placed', [whole])
        const around = new Uint8Array(100_016).fill(0xee)
        const into = around.subarray(8, 100_008)
        const range = { offset: 150_000, length: into.length }
        const bytes = await store.get('placed', range, { into })
        expect(Buffer.compare(bytes, whole.subarray(150_000, 250_000))).toBe(0)
        if (bytes.buffer === around.buffer) expect(bytes.byteOffset).toBe(into.byteOffset)
        const edges = [...around.subarray(0, 8), ...around.subarray(100_008)]
        expect(edges.every((byte) => byte === 0xee)).toBe(true)
      }),
    )

    test(
      'many small buffers, more than one gathered write takes, stay in order',
      withStore(async (store) => {
        const whole = patterned(5000 * 3)
        const buffers = Array.from({ length: 5000 }, (_, i) => whole.subarray(i * 3, i * 3 + 3))
        await store.put('gathered', buffers)
        expect(Buffer.compare(await store.get('gathered'), whole)).toBe(0)
      }),
    )

    test(
      'the store keeps no buffer it was lent, and gives none of its own away',
      withStore(async (store) => {
        const lent = bytesOf('first')
        await store.put('lent', [lent])
        lent.fill(0)
        const reused = Buffer.alloc(4)
        await store.put('reused', reusing(reused, ['abcd', 'efgh', 'ijkl']))
        const taken = await store.get('lent')
        expect(textOf(taken)).toBe('first')
        taken.fill(0)
        expect(textOf(await store.get('lent'))).toBe('first')
        expect(textOf(await store.get('reused'))).toBe('abcdefghijkl')
      }),
    )

    test(
      'putting a key again replaces the object, also by a shorter one',
      withStore(async (store) => {
        await store.put('again', [bytesOf('a long first version')])
        await store.put('again', [bytesOf('second')])
        expect(textOf(await store.get('again'))).toBe('second')
        await expect(store.get('again', { offset: 0, length: 7 })).rejects.toThrow(ObjectTruncatedError)
      }),
    )

    test(
      'of two puts of one key at a time, one wins whole',
      withStore(async (store) => {
        const versions = ['x', 'y', 'z'].map((letter) => letter.repeat(100_000))
        await Promise.all(versions.map((version) => store.put('raced', [bytesOf(version)])))
        expect(versions).toContain(textOf(await store.get('raced')))
      }),
    )

    test(
      'puts into a folder that is not there yet may come at once',
      withStore(async (store) => {
        const keys = Array.from({ length: 20 }, (_, i) => `deep/er/est/${i}`)
        await Promise.all(keys.map((key) => store.put(key, [bytesOf(key)])))
        for (const key of keys) expect(textOf(await store.get(key))).toBe(key)
      }),
    )

    test(
      "a body that fails leaves no object, and the one that was there, and its error is the put's",
      withStore(async (store) => {
        await store.put('kept', [bytesOf('before')])
        const failure = new Error('the source broke')
        for (const key of ['kept', 'never']) {
          await expect(store.put(key, failing(failure))).rejects.toBe(failure)
        }
        expect(textOf(await store.get('kept'))).toBe('before')
        expect(await keysOf(store.list(''))).toEqual(['kept'])
      }),
    )
  })

  describe('ranges', () => {
    test(
      'a range is exact: from the start, in the middle, up to the last byte',
      withStore(async (store) => {
        await store.put('digits', [bytesOf('0123456789')])
        expect(textOf(await store.get('digits', { offset: 0, length: 1 }))).toBe('0')
        expect(textOf(await store.get('digits', { offset: 3, length: 4 }))).toBe('3456')
        expect(textOf(await store.get('digits', { offset: 9, length: 1 }))).toBe('9')
        expect(textOf(await store.get('digits', { offset: 0, length: 10 }))).toBe('0123456789')
      }),
    )

    test(
      'a range that runs past the end is an error that names the key, never fewer bytes',
      withStore(async (store) => {
        await store.put('digits', [bytesOf('0123456789')])
        for (const range of [
          { offset: 0, length: 11 },
          { offset: 9, length: 2 },
          { offset: 10, length: 1 },
          { offset: 5000, length: 5 },
        ]) {
          const error = await store.get('digits', range).catch((caught: unknown) => caught)
          expect(error).toBeInstanceOf(ObjectTruncatedError)
          expect((error as ObjectTruncatedError).key).toBe('digits')
        }
      }),
    )

    test(
      'an object that is not there is an error that names the key, with a range and without',
      withStore(async (store) => {
        await store.put('a/b', [bytesOf('x')])
        for (const key of ['b', 'a/c', 'c/d/e', 'a']) {
          for (const range of [undefined, { offset: 0, length: 1 }]) {
            const error = await store.get(key, range).catch((caught: unknown) => caught)
            expect(error).toBeInstanceOf(ObjectMissingError)
            expect((error as ObjectMissingError).key).toBe(key)
          }
        }
      }),
    )
  })

  describe('delete', () => {
    test(
      'deleted objects are gone, the others stay, and keys that are not there do not matter',
      withStore(async (store) => {
        for (const key of ['d/1', 'd/2', 'e/3', 'f']) await store.put(key, [bytesOf(key)])
        await store.delete([])
        await store.delete(['d/1', 'never', 'no/such/folder', 'd', 'f/under-a-file', 'f', 'd/1'])
        expect(await keysOf(store.list(''))).toEqual(['d/2', 'e/3'])
        await expect(store.get('d/1')).rejects.toThrow(ObjectMissingError)
        await store.put('d/1', [bytesOf('new')])
        expect(textOf(await store.get('d/1'))).toBe('new')
      }),
    )
  })

  describe('list', () => {
    const keys = ['0', 'A/1', 'Z', 'a', 'b-c', 'b.c', 'b/0', 'b/a/x', 'b/a/y', 'b/b', 'b0', 'b_c', 'bb/1']
    const shuffled = [...keys].sort((a, b) => textOf(Buffer.from(a)).localeCompare(b) || 1).reverse()

    test(
      'lists in byte order of whole keys, with sizes and times',
      withStore(async (store) => {
        const beforeMs = Date.now()
        for (const key of shuffled) await store.put(key, [bytesOf(key)])
        const found: ObjectInfo[] = []
        for await (const info of store.list('')) found.push(info)
        const modifiedAtMs = expect.any(Number)
        expect(found).toEqual(keys.map((key) => ({ key, sizeBytes: key.length, modifiedAtMs })))
        // To the second, and by another clock.
        for (const info of found) expect(Math.abs(info.modifiedAtMs - beforeMs)).toBeLessThan(60_000)
      }),
    )

    test(
      'lists what starts with the prefix, wherever that is cut, and what comes after a key',
      withStore(async (store) => {
        for (const key of shuffled) await store.put(key, [bytesOf(key)])
        for (const prefix of ['', 'b', 'b/', 'b/a', 'b/a/', 'b/a/x', 'A', 'b-', 'bb/', 'nothing', 'no/such/']) {
          const wanted = keys.filter((key) => key.startsWith(prefix))
          expect(await keysOf(store.list(prefix))).toEqual(wanted)
          for (const after of [...keys, 'b', 'b/', 'b/a/xx', 'b~', 'zzz']) {
            expect(await keysOf(store.list(prefix, { after }))).toEqual(wanted.filter((key) => key > after))
          }
        }
      }),
    )

    test(
      'lists more objects than a page holds, and can be left in the middle',
      withStore(async (store) => {
        const many = Array.from({ length: 1100 }, (_, i) => `many/${String(i).padStart(5, '0')}`)
        for (let i = 0; i < many.length; i += 100) {
          await Promise.all(many.slice(i, i + 100).map((key) => store.put(key, [])))
        }
        expect(await keysOf(store.list('many/'))).toEqual(many)
        for await (const { key } of store.list('many/', { after: many[500]! })) {
          expect(key).toBe(many[501])
          break
        }
      }),
    )

    test(
      'objects may be deleted while they are listed',
      withStore(async (store) => {
        const some = ['x/1', 'x/2', 'x/3', 'y/4']
        for (const key of some) await store.put(key, [])
        for await (const { key } of store.list('')) await store.delete([key])
        expect(await keysOf(store.list(''))).toEqual([])
      }),
    )
  })

  describe('keys', () => {
    test.each(badKeys)('refuses the key %j, whatever is asked', async (key) =>
      withStore(async (store) => {
        await expect(store.put(key, [])).rejects.toThrow(InvalidKeyError)
        await expect(store.get(key)).rejects.toThrow(InvalidKeyError)
        await expect(store.delete([key])).rejects.toThrow(InvalidKeyError)
      })(),
    )

    test(
      'a prefix cannot leave the store either',
      withStore(async (store) => {
        for (const prefix of ['../', '/', 'a/../', './', '%', 'a//']) {
          await expect(keysOf(store.list(prefix))).rejects.toThrow(InvalidKeyError)
        }
      }),
    )

    test(
      'takes keys of 512 bytes, segments of 255 and every character allowed',
      withStore(async (store) => {
        const long = `${'a'.repeat(255)}/${'b'.repeat(255)}/`
        const keys = [long.slice(0, 511), `${'abcdefg/'.repeat(63)}12345678`, 'AZaz09._-', '...', '..a', '-']
        for (const key of keys) {
          const valid = key.replace(/\/$/, '')
          await store.put(valid, [bytesOf(valid)])
          expect(textOf(await store.get(valid))).toBe(valid)
        }
      }),
    )
  })

  describe('abort', () => {
    test(
      'an aborted signal ends every call with its reason, and nothing is done',
      withStore(async (store) => {
        await store.put('there', [bytesOf('x')])
        const reason = new Error('enough')
        const options = { signal: AbortSignal.abort(reason) }
        await expect(store.put('new', [bytesOf('y')], options)).rejects.toBe(reason)
        await expect(store.get('there', undefined, options)).rejects.toBe(reason)
        await expect(store.delete(['there'], options)).rejects.toBe(reason)
        await expect(keysOf(store.list('', options))).rejects.toBe(reason)
        expect(await keysOf(store.list(''))).toEqual(['there'])
      }),
    )

    test(
      'a put aborted half way leaves all of it or nothing',
      withStore(async (store) => {
        const reason = new Error('enough')
        const controller = new AbortController()
        const body = async function* () {
          yield patterned(100_000)
          controller.abort(reason)
          yield patterned(100_000)
        }
        await expect(store.put('half', body(), { signal: controller.signal })).rejects.toBe(reason)
        const left = await store.get('half').catch((error: unknown) => error)
        if (left instanceof Uint8Array) expect(left.length).toBe(200_000)
        else expect(left).toBeInstanceOf(ObjectMissingError)
      }),
    )
  })

  test('a closed store takes no more calls', async () => {
    const store = await open()
    await store.put('x', [bytesOf('x')])
    await store.close()
    await store.close()
    await expect(store.put('y', [])).rejects.toThrow(StoreClosedError)
    await expect(store.get('x')).rejects.toThrow(StoreClosedError)
    await expect(store.delete(['x'])).rejects.toThrow(StoreClosedError)
    await expect(keysOf(store.list(''))).rejects.toThrow(StoreClosedError)
  })

  test('every error has a stable code', async () => {
    const store = await open()
    const errors = [
      await store.get('missing').catch((error: unknown) => error),
      await store.get('../x').catch((error: unknown) => error),
    ]
    for (const error of errors) expect(error).toBeInstanceOf(StorageError)
    expect(errors.map((error) => (error as StorageError).code)).toEqual([
      'PICO_STORAGE_OBJECT_MISSING',
      'PICO_STORAGE_INVALID_KEY',
    ])
    await store.close()
  })
}

async function* streamOf(parts: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* parts
}

/** `whole` in parts of 1 byte, 10, 100… up to 10 MB, over and over. */
function* partsOf(whole: Buffer): Generator<Uint8Array> {
  let at = 0
  for (let i = 0; at < whole.length; i++) {
    const part = whole.subarray(at, at + 10 ** (i % 8))
    at += part.length
    yield part
  }
}

async function* reusing(buffer: Buffer, texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    buffer.write(text)
    yield buffer
  }
}

async function* failing(error: Error): AsyncGenerator<Uint8Array> {
  yield bytesOf('some bytes')
  throw error
}
