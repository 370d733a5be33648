/** Bytes `[offset, offset + length)` of an object. */
export interface ByteRange {
  readonly offset: number
  readonly length: number
}

export interface ObjectInfo {
  readonly key: string
  readonly sizeBytes: number
  /** When it was put, by the store's clock, to the second or better; of a segment, at some time since. */
  readonly modifiedAtMs: number
}

/**
 * An object's content on its way to the store: buffers at hand (written as they are, with one gathered write
 * where the store can), or a stream of buffers for an object larger than one wants in memory.
 * Buffers are borrowed until the put settles; a buffer that an async body yielded, until the next one is asked for.
 */
export type ObjectBody = readonly Uint8Array[] | AsyncIterable<Uint8Array>

export interface StoreCallOptions {
  /** Aborts the call; the promise rejects with the signal's reason. A put that was aborted may or may not be there. */
  readonly signal?: AbortSignal
}

/** Of a write that others may be served before. */
export interface WriteHaste {
  /**
   * Asked again as the write proceeds: as long as nobody waits for it, a store that shares its disk with those who are waited for
   * leaves it to them most of the time.
   */
  readonly unhurried?: () => boolean
}

export interface PutOptions extends StoreCallOptions, WriteHaste {}

export interface GetOptions extends StoreCallOptions {
  /**
   * Memory for the bytes of a range, exactly as long. A store that reads into memory of the caller's choice uses it and returns it;
   * others return memory of their own. After a failure it may still be written to, and is nobody's.
   */
  readonly into?: Uint8Array
}

/**
 * Immutable objects by key. Keys are `/`-separated segments of `[A-Za-z0-9._-]`, at most 512 bytes, and list in byte order.
 * Nothing beyond plain PUT, ranged GET, LIST and DELETE is asked of a store: fencing is the database's job.
 */
export interface ObjectStore {
  /**
   * Resolves when the object is durable under its key: whole or not at all. Putting a key again replaces it.
   * When the body throws, nothing is put and the promise rejects with that error.
   * @throws StoreFailedError
   */
  put(key: string, body: ObjectBody, options?: PutOptions): Promise<void>
  /**
   * The object's bytes, or exactly those of the range.
   * @throws ObjectMissingError when there is no such object; ObjectTruncatedError when the range runs past its end.
   */
  get(key: string, range?: ByteRange, options?: GetOptions): Promise<Uint8Array>
  /** Durable when resolved. Keys that are not there are not an error. */
  delete(keys: readonly string[], options?: StoreCallOptions): Promise<void>
  /** Objects whose key starts with `prefix`, in byte order of keys, `after` excluded. */
  list(prefix: string, options?: StoreCallOptions & { readonly after?: string }): AsyncIterable<ObjectInfo>
  close(): Promise<void>
}
