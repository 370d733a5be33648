import assert from 'node:assert/strict'
import { BufferPool, SharedMemory } from '@pico/binary'
import { type Block, blockBytes, chunkAfter, planSpan, type Span, verify } from './cached-span.ts'
import type { Chunk } from './data-object.ts'
import type { ObjectStore } from './object-store.ts'
import { type Reader, Readers } from './readers.ts'
import { settledOrAborted } from './settled-or-aborted.ts'

/** Bytes lent by a cache. */
export interface LentBytes {
  readonly bytes: Uint8Array
  /** Held for whoever was given the bytes: to be released when nobody looks at them any more, so that it is used again. */
  readonly memory: SharedMemory
}

export interface BlockCache {
  /**
   * The verified bytes of `chunks[index]` of object `key`. One ranged GET whoever waits; a reader that goes on to the next chunk
   * grows a readahead window (up to the setting) fetched in larger GETs. Synchronous when the bytes are in memory.
   * The bytes stay what they are until their memory is released, even after eviction.
   *
   * `chunks` ascend by position; the list may begin and end anywhere and differ from call to call, but only what it holds
   * after `index` can be read ahead. A failure is always a rejected promise. An aborted read ends the GET only if nobody else
   * waits for it.
   * @throws ObjectCorruptError naming the key and position when bytes do not match their checksum.
   */
  read(key: string, chunks: readonly Chunk[], index: number, signal?: AbortSignal): LentBytes | Promise<LentBytes>
  /** Forgets an object that is about to be deleted. */
  drop(key: string): void
  readonly sizeBytes: number
}

export interface BlockCacheSettings {
  /** Held at most; bytes on their way count, and only they can exceed it. What is lent is not counted after eviction. */
  readonly capacityBytes: number
  /** The largest GET of a sequential reader; 4 MiB unless given. */
  readonly readaheadBytesMax?: number
}

/** What a first read fetches: it costs hardly more than one chunk, and most readers go on. */
const spanBytesMin = 256 * 1024

/** Shorter spans get memory of their own: to round it up would waste more than to collect it costs. */
const reusedBytesMin = 64 * 1024

/** Of what a sequential reader asks for next; as much as most readers take at once. */
const verifiedAheadBytes = 1024 * 1024

/** How many bytes are fetched, in capacities, before longer spans are tried. */
const capacitiesUntilLonger = 2

/** The same before shorter ones are: what one change brings is seen before the next, and evictions come in swarms. */
const capacitiesUntilShorter = 1 / 8

/**
 * Blocks of objects, in memory. Spans (one GET each) are evicted whole, the longest unused first; failures are not kept.
 * While a sequential reader is in one span, the next one, twice as long, is on its way.
 * A reader whose next bytes were here and were evicted before it came means more readers than there is room for: the longest span
 * allowed is halved then, and doubled when that has not happened for a while. In steps, so that the memory of one fits another.
 */
export function openBlockCache(
  { store }: { readonly store: Pick<ObjectStore, 'get'> },
  settings: BlockCacheSettings,
): BlockCache {
  return new SpanCache(store, settings.capacityBytes, settings.readaheadBytesMax ?? 4 * 1024 * 1024)
}

const newReader: Reader = { spanBytes: spanBytesMin, isProvided: false }

interface CachedObject {
  /** By position of the chunk. */
  readonly blocks: Map<number, Block>
  readonly readers: Readers
}

class SpanCache implements BlockCache {
  readonly #store: Pick<ObjectStore, 'get'>
  readonly #capacityBytes: number
  readonly #spanBytesLimit: number
  #spanBytesMax: number
  /** Since `#spanBytesMax` was changed. */
  #fetchedBytes = 0
  readonly #pool = new BufferPool({ smallestBytes: reusedBytesMin })
  readonly #objects = new Map<string, CachedObject>()
  /** The longest unused first. */
  readonly #spans = new Set<Span>()
  #sizeBytes = 0
  /** The last sequential read, while what follows it is being verified. */
  #lastRead: { readonly object: CachedObject; readonly chunks: readonly Chunk[]; readonly index: number } | null = null
  /** Of spans of which no block was read yet. */
  #unreadBytes = 0

  constructor(store: Pick<ObjectStore, 'get'>, capacityBytes: number, readaheadBytesMax: number) {
    this.#store = store
    this.#capacityBytes = capacityBytes
    // A reader's span and the one after it must both fit with room to spare, or each would push out the other.
    this.#spanBytesLimit = Math.min(readaheadBytesMax, capacityBytes / 4)
    this.#spanBytesMax = this.#spanBytesLimit
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  read(key: string, chunks: readonly Chunk[], index: number, signal?: AbortSignal): LentBytes | Promise<LentBytes> {
    const chunk = chunks[index]
    assert(chunk !== undefined, 'a chunk of the list')
    if (signal?.aborted) return Promise.reject(signal.reason)
    const object = this.#object(key)
    const following = chunks[index + 1]
    const next = following?.position ?? chunk.position + chunk.lengthBytes
    const known = object.readers.arrive(chunk.position)
    // A read whose limit lies within a chunk takes a part of it: the reader comes back for the rest, and is the same one.
    let { spanBytes } = known ?? object.readers.expectedAt(next) ?? newReader
    let block = find(object, chunk)
    if (block === undefined) {
      if (known?.isProvided === true) this.#shortenSpans()
      block = this.#fetch(key, object, chunks, index, spanBytes)
      spanBytes *= 2
    }
    this.#touch(block.span)
    if (known !== null && this.#readAhead(key, object, chunks, index, block.span, spanBytes)) spanBytes *= 2
    object.readers.leaveFor(next, {
      spanBytes: Math.min(spanBytes, this.#spanBytesLimit),
      isProvided: following !== undefined && find(object, following) !== undefined,
    })
    if (known !== null) this.#verifyAhead(object, chunks, index)
    if (block.span.memory === null) return this.#wait(block, signal)
    try {
      block.span.memory.hold()
      return this.#lend(block, block.span.memory)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  drop(key: string): void {
    for (const block of this.#objects.get(key)?.blocks.values() ?? []) this.#forget(block.span)
  }

  #object(key: string): CachedObject {
    let object = this.#objects.get(key)
    if (object === undefined) {
      object = { blocks: new Map(), readers: new Readers() }
      this.#objects.set(key, object)
    }
    return object
  }

  /** Begins to fetch `chunks[index]` and as much after it as `spanBytes` allow. */
  #fetch(key: string, object: CachedObject, chunks: readonly Chunk[], index: number, spanBytes: number): Block {
    const allowedBytes = Math.min(spanBytes, this.#spanBytesMax)
    const { range, chunks: covered } = planSpan(
      chunks,
      index,
      allowedBytes,
      (chunk) => find(object, chunk) !== undefined,
    )
    const abort = new AbortController()
    const reused = range.length >= reusedBytesMin ? this.#pool.take(range.length) : null
    const options = { signal: abort.signal, ...(reused !== null && { into: reused.subarray(0, range.length) }) }
    const arrival = this.#store.get(key, range, options).then(
      (bytes) => this.#arrived(span, bytes, reused),
      (error: unknown) => {
        this.#forget(span)
        throw error
      },
    )
    // Whoever waits hears of a failure; a span read ahead may have nobody waiting, and its next reader asks the store again.
    arrival.catch(() => undefined)
    const span: Span = {
      key,
      range,
      chunks: covered,
      sizeBytes: reused?.length ?? range.length,
      memory: null,
      arrival,
      abort,
      waiting: 0,
      unreadCount: covered.length,
    }
    const [first] = covered.map((chunk) => {
      const block: Block = { span, chunk, wasRead: false, isVerified: false }
      object.blocks.set(chunk.position, block)
      return block
    })
    this.#spans.add(span)
    this.#sizeBytes += span.sizeBytes
    this.#unreadBytes += range.length
    this.#fetchedBytes += range.length
    if (this.#fetchedBytes >= capacitiesUntilLonger * this.#capacityBytes) this.#limitSpans(this.#spanBytesMax * 2)
    this.#evict()
    return first!
  }

  /** Fetches what comes after `span`, unless it is here or coming, and says whether it did. */
  #readAhead(
    key: string,
    object: CachedObject,
    chunks: readonly Chunk[],
    index: number,
    span: Span,
    spanBytes: number,
  ): boolean {
    const next = chunkAfter(chunks, index, span.range.offset + span.range.length)
    const chunk = chunks[next]
    if (chunk === undefined || find(object, chunk) !== undefined) return false
    // Unread spans must not crowd out what is being read.
    if (this.#unreadBytes > this.#capacityBytes / 2) return false
    this.#fetch(key, object, chunks, next, spanBytes)
    return true
  }

  #arrived(span: Span, bytes: Uint8Array, reused: Buffer | null): void {
    const isReused = reused !== null && bytes.buffer === reused.buffer
    const giveBack = () => {
      if (reused !== null) this.#pool.giveBack(reused)
    }
    if (!isReused) giveBack() // the store has memory of its own
    const memory = new SharedMemory(bytes, isReused ? giveBack : () => undefined)
    span.memory = memory
    // Before any of them goes on, others may have made the cache evict it.
    for (let waiting = 0; waiting < span.waiting; waiting++) memory.hold()
    if (this.#spans.has(span)) this.#evict()
    else memory.release() // forgotten while it was on its way
  }

  async #wait(block: Block, signal: AbortSignal | undefined): Promise<LentBytes> {
    const { span } = block
    span.waiting++
    try {
      await settledOrAborted(span.arrival, signal)
    } catch (error) {
      span.waiting--
      span.memory?.release() // it arrived all the same, and was held for us
      if (span.memory === null && span.waiting === 0 && signal?.aborted) {
        this.#forget(span)
        span.abort.abort(signal.reason)
      }
      throw error
    }
    assert(span.memory !== null, 'a span that arrived has its bytes')
    return this.#lend(block, span.memory)
  }

  /** `memory` is held for the reader. */
  #lend(block: Block, memory: SharedMemory): LentBytes {
    try {
      const bytes = blockBytes(block, memory)
      if (!block.wasRead) this.#markRead(block)
      return { bytes, memory }
    } catch (error) {
      memory.release()
      // It may have been altered on its way only: the next read fetches it again.
      this.#forget(block.span)
      throw error
    }
  }

  /** While the reader is busy with what it was given: what it asks for next is verified by then. */
  #verifyAhead(object: CachedObject, chunks: readonly Chunk[], index: number): void {
    const isUnderWay = this.#lastRead !== null
    this.#lastRead = { object, chunks, index }
    if (!isUnderWay) setImmediate(() => this.#verifyNext())
  }

  #verifyNext(): void {
    const { object, chunks, index } = this.#lastRead!
    const end = chunks[index]!.position + verifiedAheadBytes
    for (let at = index + 1; at < chunks.length && chunks[at]!.position < end; at++) {
      const block = find(object, chunks[at]!)
      if (block === undefined || block.span.memory === null) break
      if (block.isVerified) continue
      if (!verify(block, block.span.memory)) break // its reader will hear of it
      setImmediate(() => this.#verifyNext())
      return
    }
    this.#lastRead = null
  }

  #markRead(block: Block): void {
    const { span } = block
    if (isUnread(span) && this.#spans.has(span)) this.#unreadBytes -= span.range.length
    block.wasRead = true
    span.unreadCount--
  }

  #shortenSpans(): void {
    if (this.#fetchedBytes < capacitiesUntilShorter * this.#capacityBytes) return
    this.#limitSpans(Math.max(spanBytesMin, this.#spanBytesMax / 2))
  }

  #limitSpans(bytes: number): void {
    this.#spanBytesMax = Math.min(this.#spanBytesLimit, bytes)
    this.#fetchedBytes = 0
  }

  #touch(span: Span): void {
    this.#spans.delete(span)
    this.#spans.add(span)
  }

  /** Makes room. Spans on their way stay: somebody waits for them, or soon will. */
  #evict(): void {
    for (const span of this.#spans) {
      if (this.#sizeBytes <= this.#capacityBytes) return
      if (span.memory === null) continue
      this.#forget(span)
    }
  }

  #forget(span: Span): void {
    if (!this.#spans.delete(span)) return
    this.#sizeBytes -= span.sizeBytes
    span.memory?.release()
    if (isUnread(span)) this.#unreadBytes -= span.range.length
    const object = this.#objects.get(span.key)
    if (object === undefined) return
    for (const { position } of span.chunks) {
      if (object.blocks.get(position)?.span === span) object.blocks.delete(position)
    }
    if (object.blocks.size === 0) this.#objects.delete(span.key)
  }
}

function find(object: CachedObject, chunk: Chunk): Block | undefined {
  const block = object.blocks.get(chunk.position)
  return block?.chunk.lengthBytes === chunk.lengthBytes && block.chunk.crc32c === chunk.crc32c ? block : undefined
}

function isUnread(span: Span): boolean {
  return span.unreadCount === span.chunks.length
}
