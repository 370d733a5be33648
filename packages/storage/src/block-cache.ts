import assert from 'node:assert/strict'
import { type Block, blockBytes, chunkAfter, planSpan, type Span } from './cached-span.ts'
import type { Chunk } from './data-object.ts'
import type { ObjectStore } from './object-store.ts'
import { Readers } from './readers.ts'
import { settledOrAborted } from './settled-or-aborted.ts'

export interface BlockCache {
  /**
   * The verified bytes of `chunks[index]` of object `key`. One ranged GET whoever waits; a reader that goes on to the next chunk
   * grows a readahead window (up to the setting) fetched in larger GETs. Synchronous when the bytes are in memory.
   * The view stays valid for as long as it is held (it is never overwritten), even after eviction.
   *
   * `chunks` ascend by position; the list may begin and end anywhere and differ from call to call, but only what it holds
   * after `index` can be read ahead. A failure is always a rejected promise. An aborted read ends the GET only if nobody else
   * waits for it.
   * @throws ObjectCorruptError naming the key and position when bytes do not match their checksum.
   */
  read(key: string, chunks: readonly Chunk[], index: number, signal?: AbortSignal): Uint8Array | Promise<Uint8Array>
  /** Forgets an object that is about to be deleted. */
  drop(key: string): void
  readonly sizeBytes: number
}

export interface BlockCacheSettings {
  /** Held at most; bytes on their way count, and only they can exceed it. A view kept after eviction is not counted. */
  readonly capacityBytes: number
  /** The largest GET of a sequential reader; 4 MiB unless given. */
  readonly readaheadBytesMax?: number
}

/** What a first read fetches: it costs hardly more than one chunk, and most readers go on. */
const spanBytesMin = 256 * 1024

/** Of the longest span allowed, in `spanBytesMin`, for as many bytes read through as the cache holds. */
const growthPerCapacity = 2

/**
 * Blocks of objects, in memory. Spans (one GET each) are evicted whole, the longest unused first; failures are not kept.
 * While a sequential reader is in one span, the next one, twice as long, is on its way.
 * Spans evicted before they were read to their end mean more readers than there is room for: the longest span allowed is halved
 * then, and grows back as spans are read through.
 */
export function openBlockCache(
  { store }: { readonly store: Pick<ObjectStore, 'get'> },
  settings: BlockCacheSettings,
): BlockCache {
  return new SpanCache(store, settings.capacityBytes, settings.readaheadBytesMax ?? 4 * 1024 * 1024)
}

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
  readonly #objects = new Map<string, CachedObject>()
  /** The longest unused first. */
  readonly #spans = new Set<Span>()
  #sizeBytes = 0
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

  read(key: string, chunks: readonly Chunk[], index: number, signal?: AbortSignal): Uint8Array | Promise<Uint8Array> {
    const chunk = chunks[index]
    assert(chunk !== undefined, 'a chunk of the list')
    if (signal?.aborted) return Promise.reject(signal.reason)
    const object = this.#object(key)
    const known = object.readers.arrive(chunk.position)
    let spanBytes = known ?? spanBytesMin
    let block = find(object, chunk)
    if (block === undefined) {
      block = this.#fetch(key, object, chunks, index, spanBytes)
      spanBytes *= 2
    }
    this.#touch(block.span)
    if (known !== null && this.#readAhead(key, object, chunks, index, block.span, spanBytes)) spanBytes *= 2
    const next = chunks[index + 1]?.position ?? chunk.position + chunk.lengthBytes
    object.readers.leaveFor(next, Math.min(spanBytes, this.#spanBytesLimit))
    if (block.span.bytes === null) return this.#wait(block, signal)
    try {
      return this.#handOut(block, block.span.bytes)
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
    const arrival = this.#store.get(key, range, { signal: abort.signal }).then(
      (bytes) => this.#arrived(span, bytes),
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
      bytes: null,
      arrival,
      abort,
      waiting: 0,
      unreadCount: covered.length,
    }
    const [first] = covered.map((chunk) => {
      const block: Block = { span, chunk, wasRead: false }
      object.blocks.set(chunk.position, block)
      return block
    })
    this.#spans.add(span)
    this.#sizeBytes += range.length
    this.#unreadBytes += range.length
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

  #arrived(span: Span, bytes: Uint8Array): void {
    span.bytes = bytes
    this.#evict()
  }

  async #wait(block: Block, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const { span } = block
    span.waiting++
    try {
      await settledOrAborted(span.arrival, signal)
    } finally {
      span.waiting--
      if (span.bytes === null && span.waiting === 0 && signal?.aborted) {
        this.#forget(span)
        span.abort.abort(signal.reason)
      }
    }
    assert(span.bytes !== null, 'a span that arrived has its bytes')
    return this.#handOut(block, span.bytes)
  }

  #handOut(block: Block, bytes: Uint8Array): Uint8Array {
    if (block.wasRead) return blockBytes(block, bytes)
    try {
      const view = blockBytes(block, bytes)
      this.#markRead(block)
      return view
    } catch (error) {
      // It may have been altered on its way only: the next read fetches it again.
      this.#forget(block.span)
      throw error
    }
  }

  #markRead(block: Block): void {
    const { span } = block
    if (isUnread(span) && this.#spans.has(span)) this.#unreadBytes -= span.range.length
    block.wasRead = true
    span.unreadCount--
    if (span.unreadCount > 0) return
    const grownBytes = growthPerCapacity * spanBytesMin * (span.range.length / this.#capacityBytes)
    this.#spanBytesMax = Math.min(this.#spanBytesLimit, this.#spanBytesMax + grownBytes)
  }

  #touch(span: Span): void {
    this.#spans.delete(span)
    this.#spans.add(span)
  }

  /** Makes room. Spans on their way stay: somebody waits for them, or soon will. */
  #evict(): void {
    for (const span of this.#spans) {
      if (this.#sizeBytes <= this.#capacityBytes) return
      if (span.bytes === null) continue
      if (span.unreadCount > 0 && span.range.length > spanBytesMin) {
        this.#spanBytesMax = Math.max(Math.min(spanBytesMin, this.#spanBytesLimit), this.#spanBytesMax / 2)
      }
      this.#forget(span)
    }
  }

  #forget(span: Span): void {
    if (!this.#spans.delete(span)) return
    this.#sizeBytes -= span.range.length
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
