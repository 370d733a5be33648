import { crc32c } from '@pico/binary'
import {
  type Chunk,
  type LentBytes,
  ObjectCorruptError,
  type ObjectStore,
  openBlockCache,
  StoreFailedError,
} from '@pico/storage'
import { withFaults } from '@pico/storage/faults'
import { openMemoryStore } from '@pico/storage/memory'
import { beforeEach, describe, expect, test } from 'vitest'

const kib = 1024
const mib = 1024 * kib
const chunkBytes = 64 * kib

interface Get {
  readonly key: string
  readonly offset: number
  readonly length: number
}

interface Content {
  readonly memory: ObjectStore
  readonly bytes: Buffer
  readonly chunks: readonly Chunk[]
}

async function contentOf(chunkCount: number, gapBytes: number): Promise<Content> {
  const bytes = Buffer.alloc(chunkCount * (chunkBytes + gapBytes))
  const chunks: Chunk[] = []
  for (let i = 0; i < chunkCount; i++) {
    const position = i * (chunkBytes + gapBytes)
    const part = bytes.subarray(position, position + chunkBytes).fill(i % 251)
    part.writeUInt32BE(i)
    chunks.push({ baseOffset: i, position, lengthBytes: chunkBytes, maxTimestampMs: -1, crc32c: crc32c(part) })
  }
  const memory = openMemoryStore()
  await memory.put('data/1', [bytes])
  return { memory, bytes, chunks }
}

/** Large, so made once: no test but those of failures changes it. */
const largeContent = contentOf(800, 0)

/** A store with the object `data/1`, what was asked of it, and the object's chunks. */
function objectIn({ memory, bytes, chunks }: Content, chunkCount = chunks.length) {
  const faulty = withFaults(memory)
  const gets: Get[] = []
  const store: Pick<ObjectStore, 'get'> = {
    get(key, range, callOptions) {
      gets.push({ key, offset: range!.offset, length: range!.length })
      return faulty.get(key, range, callOptions)
    },
  }
  return { store, chunks: chunks.slice(0, chunkCount), gets, bytes, faulty, memory }
}

async function objectOf(chunkCount: number, options: { gapBytes?: number } = {}) {
  const { gapBytes = 0 } = options
  return objectIn(gapBytes === 0 ? await largeContent : await contentOf(chunkCount, gapBytes), chunkCount)
}

/** The same object under whatever key it is asked for. */
function underAnyKey(store: Pick<ObjectStore, 'get'>): Pick<ObjectStore, 'get'> {
  return { get: (_, range, options) => store.get('data/1', range, options) }
}

function bytesOf(gets: readonly Get[]): number {
  return gets.reduce((sum, get) => sum + get.length, 0)
}

function numberOf({ bytes }: LentBytes): number {
  return Buffer.from(bytes).readUInt32BE()
}

/** Lets what is under way come to its end. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
}

describe('a sequential reader', () => {
  test('gets every chunk, in GETs that double up to the longest allowed, none for the same bytes twice', async () => {
    const { store, chunks, gets } = await objectOf(400)
    const cache = openBlockCache({ store }, { capacityBytes: 64 * mib })
    for (const [i] of chunks.entries()) expect(numberOf(await cache.read('data/1', chunks, i))).toBe(i)
    expect(gets.map((get) => get.length / kib)).toEqual([256, 512, 1024, 2048, 4096, 4096, 4096, 4096, 4096, 1280])
    expect(bytesOf(gets)).toBe(400 * chunkBytes)
  })

  test('finds the next bytes there already, once it has shown that it goes on', async () => {
    const { store, chunks } = await objectOf(400)
    const cache = openBlockCache({ store }, { capacityBytes: 64 * mib })
    let waits = 0
    for (const [i] of chunks.entries()) {
      const read = cache.read('data/1', chunks, i)
      if (read instanceof Promise) waits++
      await read
      await settle()
    }
    expect(waits).toBe(1)
  })

  test('is known by its place, also when each list of chunks begins where it reads', async () => {
    const { store, chunks, gets } = await objectOf(400, { gapBytes: 600 })
    const cache = openBlockCache({ store }, { capacityBytes: 64 * mib })
    for (const [i] of chunks.entries()) {
      expect(numberOf(await cache.read('data/1', chunks.slice(i, i + 64), 0))).toBe(i)
    }
    expect(gets.length).toBeLessThan(20)
    // The short gaps between the chunks are read along.
    expect(bytesOf(gets)).toBeGreaterThan(400 * chunkBytes)
  })

  test('keeps its readahead when it takes a chunk in parts', async () => {
    const { store, chunks, gets } = await objectOf(400)
    const cache = openBlockCache({ store }, { capacityBytes: 64 * mib })
    for (const [i] of chunks.entries()) {
      for (const _part of ['first', 'second', 'last']) expect(numberOf(await cache.read('data/1', chunks, i))).toBe(i)
    }
    expect(gets.map((get) => get.length / kib)).toEqual([256, 512, 1024, 2048, 4096, 4096, 4096, 4096, 4096, 1280])
  })

  test('has the megabyte that comes next verified while it is busy, and no more', async () => {
    const { store, chunks } = await objectOf(400)
    const cache = openBlockCache({ store }, { capacityBytes: 64 * mib })
    for (let i = 0; i < 60; i++) await cache.read('data/1', chunks, i)
    const { bytes } = await cache.read('data/1', chunks, 60) // of the span of chunks 60 to 124
    await settle()
    // What is lent must not be altered: what was verified before, the cache does not notice any more.
    const span = new Uint8Array(bytes.buffer, bytes.byteOffset, 40 * chunkBytes)
    for (const index of [61, 75, 80]) span[(index - 60) * chunkBytes + 100]! ^= 1
    for (const index of [61, 75]) expect(numberOf(await cache.read('data/1', chunks, index))).toBe(index)
    await expect(cache.read('data/1', chunks, 80)).rejects.toThrow(ObjectCorruptError)
  })

  test('does not read along what lies far apart', async () => {
    const { store, chunks, gets } = await objectOf(20, { gapBytes: 100 * kib })
    const cache = openBlockCache({ store }, { capacityBytes: 64 * mib })
    for (const [i] of chunks.entries()) expect(numberOf(await cache.read('data/1', chunks, i))).toBe(i)
    expect(gets.every((get) => get.length === chunkBytes)).toBe(true)
  })

  test('may have others beside it in the same object, each with its own readahead', async () => {
    const { store, chunks, gets } = await objectOf(600)
    const cache = openBlockCache({ store }, { capacityBytes: 128 * mib })
    const starts = [0, 150, 300, 450]
    for (let i = 0; i < 150; i++) {
      for (const start of starts) expect(numberOf(await cache.read('data/1', chunks, start + i))).toBe(start + i)
    }
    expect(gets.length).toBeLessThan(4 * 9)
    expect(bytesOf(gets)).toBe(600 * chunkBytes)
  })
})

describe('a reader that jumps', () => {
  test('fetches short spans only', async () => {
    const { store, chunks, gets } = await objectOf(400)
    const cache = openBlockCache({ store }, { capacityBytes: 64 * mib })
    for (let i = 0; i < 40; i++) await cache.read('data/1', chunks, (i * 137) % 400)
    await settle()
    expect(Math.max(...gets.map((get) => get.length))).toBe(256 * kib)
    expect(gets.length).toBeLessThanOrEqual(40)
  })

  test('fetches nothing more when it reads the same chunk again', async () => {
    const { store, chunks, gets } = await objectOf(400)
    const cache = openBlockCache({ store }, { capacityBytes: 64 * mib })
    for (let i = 0; i < 10; i++) await cache.read('data/1', chunks, 17)
    expect(gets.map((get) => get.length / kib)).toEqual([256])
  })

  test('gets a chunk longer than any span in one GET', async () => {
    const bytes = Buffer.alloc(20 * mib, 7)
    const chunk = { baseOffset: 0, position: 0, lengthBytes: bytes.length, maxTimestampMs: -1, crc32c: crc32c(bytes) }
    const store = openMemoryStore()
    await store.put('data/1', [bytes])
    const cache = openBlockCache({ store }, { capacityBytes: 8 * mib })
    expect((await cache.read('data/1', [chunk], 0)).bytes.length).toBe(bytes.length)
    expect(cache.sizeBytes).toBe(0)
  })
})

describe('what is in memory', () => {
  test('is given at once and as the same bytes', async () => {
    const { store, chunks, gets } = await objectOf(4)
    const cache = openBlockCache({ store }, { capacityBytes: mib })
    const first = await cache.read('data/1', chunks, 2)
    const again = cache.read('data/1', chunks, 2)
    expect(again).toMatchObject({ memory: first.memory })
    expect(gets.length).toBe(1)
  })

  test('stays within the capacity, and what was not used for the longest time goes first', async () => {
    const { store, chunks, gets } = await objectOf(64)
    const cache = openBlockCache({ store }, { capacityBytes: 8 * 64 * kib })
    await cache.read('data/1', chunks, 0)
    await cache.read('data/1', chunks, 20)
    await cache.read('data/1', chunks, 0)
    for (const far of [30, 40, 50, 60]) {
      await cache.read('data/1', chunks, far)
      expect(cache.sizeBytes).toBeLessThanOrEqual(8 * 64 * kib)
      await cache.read('data/1', chunks, 0)
    }
    const before = gets.length
    expect(cache.read('data/1', chunks, 0)).not.toBeInstanceOf(Promise)
    expect(cache.read('data/1', chunks, 20)).toBeInstanceOf(Promise)
    expect(gets.length).toBe(before + 1)
  })

  test('stays valid for who holds it, after it was evicted', async () => {
    const { store, chunks } = await objectOf(200)
    const cache = openBlockCache({ store }, { capacityBytes: mib })
    const { bytes: held } = await cache.read('data/1', chunks, 0)
    const copy = Buffer.from(held)
    for (let i = 100; i < 200; i++) await cache.read('data/1', chunks, i)
    expect(cache.read('data/1', chunks, 0)).toBeInstanceOf(Promise)
    expect(Buffer.compare(held, copy)).toBe(0)
  })

  test('is forgotten with its object', async () => {
    const { store, chunks, gets } = await objectOf(40)
    const cache = openBlockCache({ store }, { capacityBytes: 64 * mib })
    for (let i = 0; i < 8; i++) await cache.read('data/1', chunks, i)
    const underWay = cache.read('data/1', chunks, 39)
    cache.drop('data/1')
    cache.drop('data/unknown')
    expect(cache.sizeBytes).toBe(0)
    expect(numberOf(await underWay)).toBe(39)
    expect(cache.sizeBytes).toBe(0)
    const before = gets.length
    await cache.read('data/1', chunks, 0)
    expect(gets.length).toBe(before + 1)
  })

  test('more readers than there is room for get shorter spans rather than push each other out', async () => {
    const { store, chunks, gets } = await objectOf(800)
    const readers = 16
    const cache = openBlockCache({ store }, { capacityBytes: 16 * mib })
    for (let i = 0; i < 50; i++) {
      for (let reader = 0; reader < readers; reader++) {
        const index = reader * 50 + i
        expect(numberOf(await cache.read('data/1', chunks, index))).toBe(index)
      }
      expect(cache.sizeBytes).toBeLessThanOrEqual(17 * mib)
    }
    expect(bytesOf(gets)).toBeLessThan(1.5 * 800 * chunkBytes)
  })

  test('and so do readers of an object each', async () => {
    const { store, chunks, gets } = await objectOf(400)
    const readers = 16
    const cache = openBlockCache({ store: underAnyKey(store) }, { capacityBytes: 16 * mib })
    for (const [i] of chunks.entries()) {
      for (let reader = 0; reader < readers; reader++) {
        expect(numberOf(await cache.read(`data/${reader}`, chunks, i))).toBe(i)
      }
    }
    expect(bytesOf(gets)).toBeLessThan(1.5 * readers * 400 * chunkBytes)
  })

  test('what readers left behind when they went shortens nobody’s spans', async () => {
    const { store, chunks, gets } = await objectOf(800)
    const cache = openBlockCache({ store: underAnyKey(store) }, { capacityBytes: 16 * mib })
    for (const key of ['data/1', 'data/2', 'data/3']) {
      for (let i = 0; i < 150; i++) await cache.read(key, chunks, i)
    }
    gets.length = 0
    for (const [i] of chunks.entries()) expect(numberOf(await cache.read('data/4', chunks, i))).toBe(i)
    expect(gets.slice(4, -1).every((get) => get.length === 4 * mib)).toBe(true)
  })
})

describe('memory', () => {
  test('of what was evicted is used again once its last reader has released it', async () => {
    const { store, chunks } = await objectOf(400)
    const cache = openBlockCache({ store }, { capacityBytes: mib })
    const buffers = new Set<ArrayBufferLike>()
    for (const [i] of chunks.entries()) {
      const { bytes, memory } = await cache.read('data/1', chunks, i)
      buffers.add(bytes.buffer)
      memory.release()
      await settle()
    }
    expect(buffers.size).toBeLessThan(12) // of the 100 spans
  })

  test('is never used again while a reader holds it, whatever else is read, evicted, given up or dropped', async () => {
    const { store, chunks, faulty } = objectIn(await contentOf(200, 0))
    const cache = openBlockCache({ store }, { capacityBytes: 2 * mib })
    const held: { index: number; lent: LentBytes }[] = []
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31
      return seed % below
    }
    for (let round = 0; round < 300; round++) {
      if (round % 50 === 20) faulty.inject({ operation: 'get', nth: 1, fault: { kind: 'fail-before' } })
      const from = random(190)
      const reads = Array.from({ length: 1 + random(6) }, async (_, step) => {
        const index = from + random(2) * step
        const controller = new AbortController()
        const read = cache.read('data/1', chunks, index, controller.signal)
        if (random(5) === 0) controller.abort(new Error('enough'))
        const lent = await Promise.resolve(read).catch(() => null)
        if (lent !== null) held.push({ index, lent })
      })
      if (random(20) === 0) cache.drop('data/1')
      await Promise.all(reads)
      while (held.length > 20) {
        const [{ index, lent }] = held.splice(random(held.length), 1) as [(typeof held)[number]]
        expect(numberOf(lent)).toBe(index)
        expect(crc32c(lent.bytes)).toBe(chunks[index]!.crc32c)
        lent.memory.release()
      }
    }
    for (const { index, lent } of held) expect(crc32c(lent.bytes)).toBe(chunks[index]!.crc32c)
  })
})

describe('readers of the same bytes at once', () => {
  test('share one GET', async () => {
    const { store, chunks, gets } = await objectOf(4)
    const cache = openBlockCache({ store }, { capacityBytes: mib })
    const reads = await Promise.all([0, 1, 2, 3, 0, 1, 2, 3].map((i) => cache.read('data/1', chunks, i)))
    expect(reads.map(numberOf)).toEqual([0, 1, 2, 3, 0, 1, 2, 3])
    expect(gets.length).toBe(1)
  })

  test('may give up one by one: the others get their bytes', async () => {
    const { store, chunks, faulty, gets } = await objectOf(4)
    faulty.inject({ operation: 'get', nth: 1, fault: { kind: 'hang' } })
    const cache = openBlockCache({ store }, { capacityBytes: mib })
    const controller = new AbortController()
    const impatient = cache.read('data/1', chunks, 0, controller.signal)
    const patient = cache.read('data/1', chunks, 1)
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(impatient).rejects.toBe(reason)
    faulty.heal()
    expect(numberOf(await patient)).toBe(1)
    expect(gets.length).toBe(1)
  })

  test('end the GET when the last one gives up, and who comes later starts a new one', async () => {
    const { store, chunks, faulty, gets } = await objectOf(4)
    faulty.inject({ operation: 'get', nth: 1, fault: { kind: 'hang' } })
    const cache = openBlockCache({ store }, { capacityBytes: mib })
    const controller = new AbortController()
    const reads = [0, 1].map((i) => cache.read('data/1', chunks, i, controller.signal))
    controller.abort(new Error('enough'))
    for (const read of reads) await expect(read).rejects.toThrow('enough')
    expect(cache.sizeBytes).toBe(0)
    expect(numberOf(await cache.read('data/1', chunks, 0))).toBe(0)
    expect(gets.length).toBe(2)
  })

  test('with a signal that was aborted before get nothing, though it is in memory', async () => {
    const { store, chunks } = await objectOf(4)
    const cache = openBlockCache({ store }, { capacityBytes: mib })
    await cache.read('data/1', chunks, 0)
    await expect(cache.read('data/1', chunks, 0, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  })
})

describe('a failure', () => {
  let object: ReturnType<typeof objectIn>
  beforeEach(async () => {
    object = objectIn(await contentOf(40, 0))
  })

  test('of the store reaches everybody who waits, and is not kept', async () => {
    const { store, chunks, faulty, gets } = object
    faulty.inject({ operation: 'get', nth: 1, fault: { kind: 'fail-before' } })
    const cache = openBlockCache({ store }, { capacityBytes: mib })
    const reads = [0, 0].map((i) => cache.read('data/1', chunks, i))
    for (const read of reads) await expect(read).rejects.toThrow(StoreFailedError)
    expect(cache.sizeBytes).toBe(0)
    expect(numberOf(await cache.read('data/1', chunks, 0))).toBe(0)
    expect(gets.length).toBe(2)
  })

  test('of what was read ahead reaches nobody, and the bytes are fetched when they are wanted', async () => {
    const { store, chunks, faulty } = object
    faulty.inject({ operation: 'get', nth: 2, fault: { kind: 'fail-before' } })
    const cache = openBlockCache({ store }, { capacityBytes: 4 * mib })
    for (const [i] of chunks.entries()) {
      expect(numberOf(await cache.read('data/1', chunks, i))).toBe(i)
      await settle()
    }
  })

  test('of one chunk’s checksum names the object and the place, spares the others, and is not kept', async () => {
    const { store, chunks, bytes, memory } = object
    const altered = Buffer.from(bytes)
    altered[chunks[2]!.position + 5]! ^= 1
    await memory.put('data/1', [altered])
    const cache = openBlockCache({ store }, { capacityBytes: 64 * mib })
    expect(numberOf(await cache.read('data/1', chunks, 1))).toBe(1)
    const error = await Promise.resolve(cache.read('data/1', chunks, 2)).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ObjectCorruptError)
    expect(error).toMatchObject({ key: 'data/1', position: chunks[2]!.position })
    expect(numberOf(await cache.read('data/1', chunks, 3))).toBe(3)
    await memory.put('data/1', [bytes])
    expect(numberOf(await cache.read('data/1', chunks, 2))).toBe(2)
  })

  test('of a checksum that was found ahead is told to who reads the chunk, and ends no readahead', async () => {
    const { store, bytes, chunks, memory } = object
    const altered = Buffer.from(bytes)
    altered[chunks[20]!.position]! ^= 1
    await memory.put('data/1', [altered])
    const cache = openBlockCache({ store }, { capacityBytes: 64 * mib })
    for (const [i] of chunks.entries()) {
      const number = Promise.resolve(cache.read('data/1', chunks, i)).then(numberOf)
      if (i === 20) await expect(number).rejects.toThrow(ObjectCorruptError)
      else expect(await number).toBe(i)
      await settle()
    }
  })

  test('on the way from the store is caught as well', async () => {
    const { store, chunks, faulty } = object
    faulty.inject({ operation: 'get', nth: 1, fault: { kind: 'altered' } })
    const cache = openBlockCache({ store }, { capacityBytes: mib })
    const only = [chunks[0]!]
    await expect(cache.read('data/1', only, 0)).rejects.toThrow(ObjectCorruptError)
    expect(numberOf(await cache.read('data/1', only, 0))).toBe(0)
  })

  test('of a chunk that is described otherwise than what is in memory leads to the store, not to wrong bytes', async () => {
    const { store, chunks, gets } = object
    const cache = openBlockCache({ store }, { capacityBytes: mib })
    await cache.read('data/1', chunks, 0)
    const wrong = { ...chunks[0]!, crc32c: 1 }
    await expect(cache.read('data/1', [wrong], 0)).rejects.toThrow(ObjectCorruptError)
    expect(gets.length).toBe(2)
    expect(numberOf(await cache.read('data/1', chunks, 0))).toBe(0)
  })
})
