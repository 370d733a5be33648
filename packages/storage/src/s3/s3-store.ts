import type { S3Client } from '@aws-sdk/client-s3'
import { StoreClosedError } from '../errors.ts'
import { checkObjectKey, checkObjectPrefix } from '../object-key.ts'
import type { ByteRange, ObjectBody, ObjectInfo, ObjectStore, StoreCallOptions } from '../object-store.ts'
import { abortUploads } from './abandoned-uploads.ts'
import { S3Delete } from './s3-delete.ts'
import { S3Get } from './s3-get.ts'
import { listS3 } from './s3-list.ts'
import { S3Put } from './s3-put.ts'
import { type S3Counts, S3Requests } from './s3-requests.ts'
import type { S3Limits, S3Place } from './s3-settings.ts'

export interface S3Store extends ObjectStore {
  /** Requests so far. */
  readonly counts: Readonly<S3Counts>
  /**
   * Aborts multipart uploads under the prefix that began before `beforeMs`, whoever began them, and returns how many: what a process
   * that was killed has left. Its parts take room, and no list of objects shows them.
   */
  abortUploads(beforeMs: number, options?: StoreCallOptions): Promise<number>
}

interface S3StoreParts {
  readonly client: S3Client
  readonly place: S3Place
  readonly limits: S3Limits
}

export class S3ObjectStore implements S3Store {
  readonly #client: S3Client
  readonly #place: S3Place
  readonly #requests: S3Requests
  readonly #put: S3Put
  readonly #get: S3Get
  readonly #delete: S3Delete
  #closed = false

  constructor({ client, place, limits }: S3StoreParts) {
    this.#client = client
    this.#place = place
    this.#requests = new S3Requests(place.bucket, limits)
    const parts = { client, place, limits, requests: this.#requests }
    this.#put = new S3Put(parts)
    this.#get = new S3Get(parts)
    this.#delete = new S3Delete(parts)
  }

  get counts(): Readonly<S3Counts> {
    return this.#requests.counts
  }

  async put(key: string, body: ObjectBody, { signal }: StoreCallOptions = {}): Promise<void> {
    this.#check(signal)
    checkObjectKey(key)
    await this.#put.put({ key, signal }, body)
  }

  async get(key: string, range?: ByteRange, { signal }: StoreCallOptions = {}): Promise<Uint8Array> {
    this.#check(signal)
    checkObjectKey(key)
    return range === undefined ? this.#get.whole(key, signal) : this.#get.range(key, range, signal)
  }

  async delete(keys: readonly string[], { signal }: StoreCallOptions = {}): Promise<void> {
    this.#check(signal)
    keys.forEach(checkObjectKey)
    await this.#delete.delete(keys, signal)
  }

  async *list(
    prefix: string,
    { signal, after = '' }: StoreCallOptions & { readonly after?: string } = {},
  ): AsyncGenerator<ObjectInfo> {
    this.#check(signal)
    checkObjectPrefix(prefix)
    yield* listS3(this.#parts(), { prefix, after, signal })
  }

  async abortUploads(beforeMs: number, { signal }: StoreCallOptions = {}): Promise<number> {
    this.#check(signal)
    return abortUploads(this.#parts(), beforeMs, signal)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#client.destroy()
  }

  #parts() {
    return { client: this.#client, place: this.#place, requests: this.#requests }
  }

  #check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted()
    if (this.#closed) throw new StoreClosedError()
  }
}
