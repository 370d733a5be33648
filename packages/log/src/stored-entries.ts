import { crc32c } from '@pico/binary'
import type { Extent } from '@pico/metadata'
import {
  type BlockCache,
  type Chunk,
  type DataObjectIndex,
  type GetOptions,
  type LentBytes,
  ObjectCorruptError,
  type ObjectStore,
  readDataObjectIndex,
} from '@pico/storage'
import { LRUCache } from 'lru-cache'
import type { EntryFormat } from './entry-format.ts'
import { ReadFailedError } from './errors.ts'
import type { EntryBytes } from './gather.ts'
import { indexOf } from './open-stream.ts'
import type { Run } from './run.ts'
import { walPrefix } from './wal-key.ts'

/** How many consecutive WAL runs a reader may be told of at once, for readahead. */
const runWindow = 64
const indexCacheBytes = 32 * 1024 * 1024
/** About 100 bytes each. */
const decodedChunksMax = 200_000

/** Entries that are no longer in the log cache: in WAL objects and segments, and in data objects. */
export class StoredEntries {
  readonly format: EntryFormat
  readonly #store: ObjectStore
  readonly #dataBlocks: BlockCache
  readonly #walBlocks: BlockCache
  readonly #indexes = new LRUCache<string, DataObjectIndex>({
    maxSize: indexCacheBytes,
    sizeCalculation: (index) => Math.max(1, index.sizeInMemoryBytes),
  })
  readonly #loading = new Map<string, Promise<DataObjectIndex>>()
  /** One stream's chunks of one object, decoded, by `chunksKey`. */
  readonly #chunks = new LRUCache<string, readonly Chunk[]>({
    maxSize: decodedChunksMax,
    sizeCalculation: (chunks) => Math.max(1, chunks.length),
  })
  /** Reads under way by WAL key: a segment that somebody reads is not written over. */
  readonly #walReads = new Map<string, number>()

  constructor(components: { store: ObjectStore; format: EntryFormat; dataBlocks: BlockCache; walBlocks: BlockCache }) {
    this.format = components.format
    this.#store = components.store
    this.#dataBlocks = components.dataBlocks
    this.#walBlocks = components.walBlocks
  }

  /** The chunk of `extents` that holds `offset`. */
  bytesAt(
    streamId: number,
    extents: readonly Extent[],
    offset: number,
    signal?: AbortSignal,
  ): EntryBytes | Promise<EntryBytes> {
    const at = indexOf(extents, offset)
    const extent = extents[at]
    if (extent === undefined) {
      return Promise.reject(new ReadFailedError(streamId, offset, { cause: new Error('no extent covers the offset') }))
    }
    if (extent.crc32c !== null) {
      const from = extents[at - 1]?.objectKey === extent.objectKey ? at - 1 : at
      return this.#walChunk(streamId, walExtents(extents, from, at + runWindow), at - from, signal)
    }
    const chunks = this.#chunks.get(chunksKey(extent))
    if (chunks !== undefined) return this.#dataChunk(extent, chunks, offset, signal)
    return this.chunksOf(extent).then((found) => this.#dataChunk(extent, found, offset, signal))
  }

  /** An evicted run that is not packed yet: from the WAL. */
  bytesOfRun(runs: readonly Run[], at: number, signal?: AbortSignal): EntryBytes | Promise<EntryBytes> {
    const first = runs[at]
    const key = first?.walKey ?? null
    if (first === undefined || key === null) throw new Error('a committed run has no place in the WAL')
    // The one before tells the cache whether somebody reads on, the ones after what that reader wants next.
    const from = runs[at - 1]?.walKey === key ? at - 1 : at
    const located: WalChunk[] = []
    for (const run of runs.slice(from, at + runWindow)) {
      if (run.walKey !== key) break
      located.push({
        key,
        baseOffset: run.baseOffset,
        endOffset: run.endOffset,
        position: run.walPosition,
        lengthBytes: run.lengthBytes,
        maxTimestampMs: run.maxTimestampMs,
        crc32c: run.crc32c,
      })
    }
    return this.#walChunk(first.streamId, located, at - from, signal)
  }

  /** A run's bytes, past the caches: for packing, which reads each once. */
  async fetchRun(run: Run, walStore: ObjectStore, options: GetOptions = {}): Promise<Uint8Array> {
    const { walKey: key, walPosition: position } = run
    if (key === null) throw new Error('a committed run has no place in the WAL')
    const bytes = await walStore.get(key, { offset: position, length: run.lengthBytes }, options)
    if (crc32c(bytes) !== run.crc32c) throw new ObjectCorruptError(key, position, 'a run does not match its checksum')
    return bytes
  }

  /** The chunks of an extent, from its object's footer (for an extent into the WAL: itself). @throws ReadFailedError */
  async chunksOf(extent: Extent): Promise<readonly Chunk[]> {
    if (extent.crc32c !== null) return [{ ...extent, crc32c: extent.crc32c }]
    const key = chunksKey(extent)
    const known = this.#chunks.get(key)
    if (known !== undefined) return known
    try {
      const slice = (await this.#index(extent)).slice(extent.objectStreamId)
      if (slice === undefined || slice.endOffset < extent.endOffset) {
        const reason = `no entries of stream ${extent.objectStreamId} where SQL says`
        throw new ObjectCorruptError(extent.objectKey, extent.position, reason)
      }
      this.#chunks.set(key, slice.chunks)
      return slice.chunks
    } catch (cause) {
      throw new ReadFailedError(extent.streamId, extent.baseOffset, { cause })
    }
  }

  get cachedBytes(): number {
    return this.#dataBlocks.sizeBytes + (this.#walBlocks === this.#dataBlocks ? 0 : this.#walBlocks.sizeBytes)
  }

  isRead(walKey: string): boolean {
    return (this.#walReads.get(walKey) ?? 0) > 0
  }

  /** The object is about to go. */
  drop(key: string): void {
    this.#dataBlocks.drop(key)
    this.#walBlocks.drop(key)
    this.#indexes.delete(key)
  }

  #dataChunk(
    extent: Extent,
    chunks: readonly Chunk[],
    offset: number,
    signal: AbortSignal | undefined,
  ): EntryBytes | Promise<EntryBytes> {
    const at = chunkAt(chunks, offset)
    const chunk = chunks[at]
    if (chunk === undefined) throw new Error('a slice has a chunk')
    // The object may hold other entries of the stream, before this extent and after it, in the same chunks.
    const baseOffset = Math.max(chunk.baseOffset, extent.baseOffset)
    const endOffset = Math.min(chunks[at + 1]?.baseOffset ?? extent.endOffset, extent.endOffset)
    const lent = this.#dataBlocks.read(extent.objectKey, chunks, at, signal)
    const entries = ({ bytes, memory }: LentBytes): EntryBytes => {
      return { bytes: partOf(extent, chunk, bytes), memory, baseOffset, endOffset }
    }
    if (!(lent instanceof Promise)) return entries(lent)
    return lent.then(entries, (cause: unknown) => {
      throw new ReadFailedError(extent.streamId, offset, { cause })
    })
  }

  #walChunk(
    streamId: number,
    located: readonly WalChunk[],
    at: number,
    signal: AbortSignal | undefined,
  ): EntryBytes | Promise<EntryBytes> {
    const wanted = located[at]
    if (wanted === undefined) throw new Error('nothing to read')
    const { key, baseOffset, endOffset } = wanted
    const lent = this.#walBlocks.read(key, located, at, signal)
    if (!(lent instanceof Promise)) return { ...lent, baseOffset, endOffset }
    this.#walReads.set(key, (this.#walReads.get(key) ?? 0) + 1)
    const done = () => {
      const left = (this.#walReads.get(key) ?? 1) - 1
      if (left > 0) this.#walReads.set(key, left)
      else this.#walReads.delete(key)
    }
    return lent.then(
      (read) => {
        done()
        return { ...read, baseOffset, endOffset }
      },
      (cause: unknown) => {
        done()
        throw new ReadFailedError(streamId, baseOffset, { cause })
      },
    )
  }

  /** The object's footer. Whoever comes first fetches it for all, so no single reader's signal may abort that. */
  async #index(extent: Extent): Promise<DataObjectIndex> {
    const key = extent.objectKey
    const known = this.#indexes.get(key)
    if (known !== undefined) return known
    const loading = this.#loading.get(key) ?? readDataObjectIndex(this.#store, key, extent.objectBytes)
    this.#loading.set(key, loading)
    try {
      const index = await loading
      this.#indexes.set(key, index)
      return index
    } finally {
      this.#loading.delete(key)
    }
  }
}

type WalChunk = Chunk & { readonly key: string; readonly endOffset: number }

/** The extents `[from, to)` as far as they lie in one WAL object, as chunks. */
function walExtents(extents: readonly Extent[], from: number, to: number): WalChunk[] {
  const key = extents[from]?.objectKey
  const located: WalChunk[] = []
  for (const extent of extents.slice(from, to)) {
    if (extent.objectKey !== key || extent.crc32c === null) break
    located.push({ ...extent, key: extent.objectKey, crc32c: extent.crc32c })
  }
  return located
}

function chunksKey(extent: Extent): string {
  return `${extent.objectId}:${extent.objectStreamId}`
}

/** What of a chunk's bytes belongs to the extent. A trim, or a fork, may have left the rest to others. */
export function partOf(extent: Extent, chunk: Chunk, bytes: Uint8Array): Uint8Array {
  const from = Math.max(0, extent.position - chunk.position)
  const to = Math.min(bytes.length, extent.position + extent.lengthBytes - chunk.position)
  return from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to)
}

/** The last chunk that begins at or before `offset`. */
function chunkAt(chunks: readonly Chunk[], offset: number): number {
  let low = 0
  let high = chunks.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((chunks[middle]?.baseOffset ?? Number.POSITIVE_INFINITY) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

export function isWalKey(key: string): boolean {
  return key.startsWith(walPrefix)
}
