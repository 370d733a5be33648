import assert from 'node:assert/strict'
import { ObjectMissingError, ObjectTruncatedError, SegmentExistsError, StoreClosedError } from './errors.ts'
import { checkObjectKey, checkObjectPrefix } from './object-key.ts'
import type { ByteRange, GetOptions, ObjectBody, ObjectInfo, ObjectStore, StoreCallOptions } from './object-store.ts'
import type { CreateOptions, SegmentStore, SegmentWriter } from './segment-store.ts'

/** A store that lasts as long as the process: for tests and simulations, and for a server that may forget. */
export function openMemoryStore(): ObjectStore & SegmentStore {
  return new MemoryStore()
}

class MemoryStore implements ObjectStore, SegmentStore {
  readonly #objects = new Map<string, { readonly bytes: Uint8Array; readonly modifiedAtMs: number }>()
  #closed = false

  async put(key: string, body: ObjectBody, options: StoreCallOptions = {}): Promise<void> {
    this.#check(options.signal)
    checkObjectKey(key)
    // Each part is copied as it comes: a buffer is borrowed only until the next one is asked for.
    const parts: Uint8Array[] = []
    for await (const part of body) {
      options.signal?.throwIfAborted()
      parts.push(Uint8Array.from(part))
    }
    this.#set(key, Buffer.concat(parts))
  }

  async get(key: string, range?: ByteRange, options: GetOptions = {}): Promise<Uint8Array> {
    this.#check(options.signal)
    checkObjectKey(key)
    const bytes = this.#objects.get(key)?.bytes
    if (bytes === undefined) throw new ObjectMissingError(key)
    if (range === undefined) return Uint8Array.from(bytes)
    const end = range.offset + range.length
    if (end > bytes.length) throw new ObjectTruncatedError(key, range)
    const wanted = bytes.subarray(range.offset, end)
    if (options.into === undefined) return Uint8Array.from(wanted)
    options.into.set(wanted)
    return options.into
  }

  async delete(keys: readonly string[], options: StoreCallOptions = {}): Promise<void> {
    this.#check(options.signal)
    keys.forEach(checkObjectKey)
    for (const key of keys) this.#objects.delete(key)
  }

  async *list(
    prefix: string,
    options: StoreCallOptions & { readonly after?: string } = {},
  ): AsyncGenerator<ObjectInfo> {
    this.#check(options.signal)
    checkObjectPrefix(prefix)
    const { after = '' } = options
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    for (const key of keys) {
      this.#check(options.signal)
      const object = this.#objects.get(key)
      if (object !== undefined) yield { key, sizeBytes: object.bytes.length, modifiedAtMs: object.modifiedAtMs }
    }
  }

  async create(key: string, sizeBytes: number, options: CreateOptions = {}): Promise<SegmentWriter> {
    this.#check()
    checkObjectKey(key)
    if (this.#objects.has(key)) throw new SegmentExistsError(key)
    const recycled = options.recycle === undefined ? undefined : this.#objects.get(options.recycle)?.bytes
    const reusable = options.recycle !== undefined && recycled?.length === sizeBytes
    if (reusable) this.#objects.delete(options.recycle)
    const bytes = reusable ? recycled : new Uint8Array(sizeBytes)
    this.#set(key, bytes)
    return new MemorySegment(key, bytes)
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  #set(key: string, bytes: Uint8Array): void {
    this.#objects.set(key, { bytes, modifiedAtMs: Date.now() })
  }

  #check(signal?: AbortSignal): void {
    signal?.throwIfAborted()
    if (this.#closed) throw new StoreClosedError()
  }
}

class MemorySegment implements SegmentWriter {
  readonly key: string
  readonly #bytes: Uint8Array
  #closed = false

  constructor(key: string, bytes: Uint8Array) {
    this.key = key
    this.#bytes = bytes
  }

  get sizeBytes(): number {
    return this.#bytes.length
  }

  async write(position: number, buffers: readonly Uint8Array[]): Promise<void> {
    if (this.#closed) throw new StoreClosedError()
    const length = buffers.reduce((sum, buffer) => sum + buffer.length, 0)
    assert(position >= 0 && position + length <= this.sizeBytes, `a write past the end of segment ${this.key}`)
    let at = position
    for (const buffer of buffers) {
      this.#bytes.set(buffer, at)
      at += buffer.length
    }
  }

  async close(): Promise<void> {
    this.#closed = true
  }
}
