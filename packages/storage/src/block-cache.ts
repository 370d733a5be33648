import assert from 'node:assert/strict'
import { type Block, blockBytes, planSpan, type Span } from './cached-span.ts'
import type { Chunk } from './data-object.ts'
import type { ObjectStore } from './object-store.ts'
import { settledOrAborted } from './settled-or-aborted.ts'

export interface BlockCache {
  /**
   * The verified bytes of `chunks[index]` of object `key`. One ranged GET whoever waits; a reader that goes on to the next chunk
   * grows a readahead window (up to the setting) fetched in larger GETs. Synchronous when the bytes are in memory.
   * The view stays valid for as long as it is held (it is never overwritten), even after eviction.
   * A failure is always a rejected promise. An aborted read ends the GET only if nobody else waits for it.
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
const budgetBytesMin = 256 * 1024

/**
 * Blocks of objects, in memory. Spans (one GET each) are evicted whole, the longest unused first; failures are not kept.
 *
 * Readahead needs no state per reader, so any number may read one object: who reads a chunk whose predecessor was read
 * is taken for a sequential reader, and the span behind the one being read is fetched, twice as long as that one.
 * When spans are evicted before they were read to their end, there are too many readers for long spans: the longest one
 * allowed is halved, and grows back as spans are read through.
 */
export function openBlockCache(
  { store }: { readonly store: Pick<ObjectStore, 'get'> },
  settings: BlockCacheSettings,
): BlockCache {
  return new SpanCache(store, settings.capacityBytes, settings.readaheadBytesMax ?? 4 * 1024 * 1024)
}

class SpanCache implements BlockCache {
  readonly #store: Pick<ObjectStore, 'get'>
  readonly #capacityBytes: number
  readonly #budgetBytesLimit: number
  #budgetBytesMax: number
  /** By object key, then by position of the chunk. */
  readonly #objects = new Map<string, Map<number, Block>>()
  /** The longest unused first. */
  readonly #spans = new Set<Span>()
  #sizeBytes = 0
  /** Of spans of which no block was read yet. */
  #unreadBytes = 0

  constructor(store: Pick<ObjectStore, 'get'>, capacityBytes: number, readaheadBytesMax: number) {
    this.#store = store
    this.#capacityBytes = capacityBytes
    // Two spans of a reader at the least must fit, or each would push out the other.
    this.#budgetBytesLimit = Math.max(Math.min(readaheadBytesMax, capacityBytes / 4), 1)
    this.#budgetBytesMax = this.#budgetBytesLimit
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  read(key: string, chunks: readonly Chunk[], index: number, signal?: AbortSignal): Uint8Array | Promise<Uint8Array> {
    const chunk = chunks[index]
    assert(chunk !== undefined, 'a chunk of the list')
    if (signal?.aborted) return Promise.reject(signal.reason)
    const before = index > 0 ? this.#find(key, chunks[index - 1]!) : undefined
    const isSequential = before?.wasRead === true
    const block = this.#find(key, chunk) ?? this.#fetch(key, chunks, index, isSequential ? before.span : null)
    this.#spans.delete(block.span)
    this.#spans.add(block.span)
    if (isSequential) this.#readAhead(key, chunks, block.span)
    if (block.span.bytes === null) return this.#wait(block, signal)
    try {
      return this.#handOut(block, block.span.bytes)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  drop(key: string): void {
    for (const block of this.#objects.get(key)?.values() ?? []) this.#forget(block.span)
    this.#objects.delete(key)
  }

  #find(key: string, chunk: Chunk): Block | undefined {
    const block = this.#objects.get(key)?.get(chunk.position)
    return block?.chunk.lengthBytes === chunk.lengthBytes && block.chunk.crc32c === chunk.crc32c ? block : undefined
  }

  /** Begins to fetch `chunks[index]` and what its reader is likely to want next. */
  #fetch(key: string, chunks: readonly Chunk[], index: number, previous: Span | null): Block {
    const grown = previous === null ? budgetBytesMin : previous.plan.budgetBytes * 2
    const budgetBytes = Math.min(grown, this.#budgetBytesMax)
    const plan = planSpan(chunks, index, budgetBytes, (chunk) => this.#find(key, chunk) !== undefined)
    const abort = new AbortController()
    const get = this.#store.get(key, plan.range, { signal: abort.signal })
    const span: Span = {
      key,
      plan,
      bytes: null,
      arrival: get.then(
        (bytes) => {
          span.bytes = bytes
          this.#evict()
        },
        (error: unknown) => {
          this.#forget(span)
          throw error
        },
      ),
      abort,
      waiting: 0,
      unreadCount: plan.chunks.length,
    }
    // Whoever waits hears of a failure; a span read ahead may have nobody waiting, and its next reader asks the store again.
    span.arrival.catch(() => undefined)
    this.#add(span)
    return this.#find(key, chunks[index]!)!
  }

  #add(span: Span): void {
    let blocks = this.#objects.get(span.key)
    if (blocks === undefined) {
      blocks = new Map()
      this.#objects.set(span.key, blocks)
    }
    for (const chunk of span.plan.chunks) blocks.set(chunk.position, { span, chunk, wasRead: false })
    this.#spans.add(span)
    this.#sizeBytes += span.plan.range.length
    this.#unreadBytes += span.plan.range.length
    this.#evict()
  }

  #readAhead(key: string, chunks: readonly Chunk[], span: Span): void {
    const { next } = span.plan
    if (next === null) return
    const chunk = chunks[next.index]
    if (chunk?.position !== next.position || this.#find(key, chunk) !== undefined) return
    // Unread spans must not crowd out what is being read.
    if (this.#unreadBytes > this.#capacityBytes / 2) return
    this.#fetch(key, chunks, next.index, span)
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
    const { span } = block
    if (block.wasRead) return blockBytes(block, bytes)
    try {
      const view = blockBytes(block, bytes)
      this.#markRead(block)
      return view
    } catch (error) {
      // It may have been altered on its way only: the next read fetches it again.
      this.#forget(span)
      throw error
    }
  }

  #markRead(block: Block): void {
    const { span } = block
    if (span.unreadCount === span.plan.chunks.length && this.#spans.has(span))
      this.#unreadBytes -= span.plan.range.length
    block.wasRead = true
    span.unreadCount--
    if (span.unreadCount > 0) return
    this.#budgetBytesMax = Math.min(this.#budgetBytesLimit, this.#budgetBytesMax + budgetBytesMin)
  }

  /** Makes room. Spans on their way stay: somebody waits for them, or soon will. */
  #evict(): void {
    for (const span of this.#spans) {
      if (this.#sizeBytes <= this.#capacityBytes) return
      if (span.bytes === null) continue
      if (span.unreadCount > 0 && span.plan.budgetBytes > budgetBytesMin) {
        this.#budgetBytesMax = Math.max(Math.min(budgetBytesMin, this.#budgetBytesLimit), this.#budgetBytesMax / 2)
      }
      this.#forget(span)
    }
  }

  #forget(span: Span): void {
    if (!this.#spans.delete(span)) return
    this.#sizeBytes -= span.plan.range.length
    if (span.unreadCount === span.plan.chunks.length) this.#unreadBytes -= span.plan.range.length
    const blocks = this.#objects.get(span.key)
    for (const { position } of span.plan.chunks) if (blocks?.get(position)?.span === span) blocks.delete(position)
    if (blocks?.size === 0) this.#objects.delete(span.key)
  }
}
