import { type FileHandle, open, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  InvalidKeyError,
  SegmentExistsError,
  StorageError,
  StoreClosedError,
  StoreFailedError,
  systemCode,
} from '../errors.ts'
import { checkObjectKey, checkObjectPrefix } from '../object-key.ts'
import type {
  ByteRange,
  GetOptions,
  ObjectBody,
  ObjectInfo,
  ObjectStore,
  PutOptions,
  StoreCallOptions,
  WriteHaste,
} from '../object-store.ts'
import type { CreateOptions, SegmentStore, SegmentWriter } from '../segment-store.ts'
import { openFileSegment } from './file-segment.ts'
import { type Folders, syncFolder } from './folders.ts'
import { listObjects } from './list-objects.ts'
import { OpenFiles } from './open-files.ts'
import { readObject } from './read-object.ts'
import { SyncedSteps } from './synced-steps.ts'
import { temporaryName } from './temporary-name.ts'
import { writeBody } from './write-body.ts'
import { writeFully } from './write-fully.ts'

export class FileStore implements ObjectStore, SegmentStore {
  readonly #root: string
  readonly #folders: Folders
  readonly #files = new OpenFiles()
  #serial = 0
  #closed = false

  constructor(root: string, folders: Folders) {
    this.#root = root
    this.#folders = folders
  }

  async put(key: string, body: ObjectBody, options: PutOptions = {}): Promise<void> {
    this.#check(options.signal)
    checkObjectKey(key)
    await this.#write('put', key, (file) => writeBody(file, body, options), options.signal)
  }

  async get(key: string, range?: ByteRange, options: GetOptions = {}): Promise<Uint8Array> {
    this.#check(options.signal)
    checkObjectKey(key)
    const bytes = await readObject(this.#files, this.#path(key), key, range, options.into)
    options.signal?.throwIfAborted()
    return bytes
  }

  async delete(keys: readonly string[], options: StoreCallOptions = {}): Promise<void> {
    this.#check(options.signal)
    keys.forEach(checkObjectKey)
    const folders = new Set<string>()
    for (const key of keys) {
      options.signal?.throwIfAborted()
      const path = this.#path(key)
      if (await this.#unlink(path, key)) folders.add(dirname(path))
    }
    for (const folder of folders) await failingAs('delete', folder, () => syncFolder(folder))
  }

  async *list(
    prefix: string,
    options: StoreCallOptions & { readonly after?: string } = {},
  ): AsyncGenerator<ObjectInfo> {
    this.#check(options.signal)
    checkObjectPrefix(prefix)
    const { after = '', signal } = options
    try {
      yield* listObjects(this.#root, { prefix, after, signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw new StoreFailedError('list', prefix, { cause: error })
    }
  }

  async create(key: string, sizeBytes: number, options: CreateOptions = {}): Promise<SegmentWriter> {
    this.#check()
    checkObjectKey(key)
    if (options.recycle !== undefined) checkObjectKey(options.recycle)
    const path = this.#path(key)
    if ((await failingAs('create', key, () => sizeOf(path))) !== null) throw new SegmentExistsError(key)
    const recycled = options.recycle !== undefined && (await this.#recycle(options.recycle, key, sizeBytes))
    if (!recycled) await this.#write('create', key, (file) => writeZeros(file, sizeBytes, options))
    return failingAs('create', key, () => openFileSegment(path, key, sizeBytes))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#files.close()
  }

  #check(signal?: AbortSignal): void {
    signal?.throwIfAborted()
    if (this.#closed) throw new StoreClosedError()
  }

  #path(key: string): string {
    return join(this.#root, key)
  }

  /** Writes a file under a temporary name and renames it when its bytes are durable: it is there whole or not at all. */
  async #write(
    operation: string,
    key: string,
    fill: (file: FileHandle) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    const path = this.#path(key)
    const temporary = join(dirname(path), temporaryName(this.#serial++))
    try {
      const file = await this.#openNew(temporary)
      try {
        await fill(file)
        await file.datasync()
      } finally {
        await file.close()
      }
      signal?.throwIfAborted()
      await rename(temporary, path)
      this.#files.forget(path)
      await syncFolder(dirname(path))
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined) // What matters is the failure; the next open removes it.
      signal?.throwIfAborted()
      throw asStoreError(operation, key, error)
    }
  }

  async #openNew(temporary: string): Promise<FileHandle> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#folders.make(dirname(temporary))
        return await open(temporary, 'wx')
      } catch (error) {
        if (systemCode(error) !== 'ENOENT' || attempt === 3) throw error
        // Somebody removed the folder, as another process does that opens the store and finds it long empty.
        this.#folders.forget()
      }
    }
  }

  async #unlink(path: string, key: string): Promise<boolean> {
    try {
      await unlink(path)
      this.#files.forget(path)
      return true
    } catch (error) {
      // A folder of that name is no object. To unlink one is EISDIR on Linux and EPERM elsewhere.
      const code = systemCode(error)
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR' || code === 'EPERM') return false
      throw new StoreFailedError('delete', key, { cause: error })
    }
  }

  async #recycle(from: string, key: string, sizeBytes: number): Promise<boolean> {
    const [fromPath, path] = [this.#path(from), this.#path(key)]
    return failingAs('create', key, async () => {
      if ((await sizeOf(fromPath)) !== sizeBytes) return false
      await this.#folders.make(dirname(path))
      await rename(fromPath, path)
      this.#files.forget(fromPath)
      await syncFolder(dirname(path))
      if (dirname(fromPath) !== dirname(path)) await syncFolder(dirname(fromPath))
      return true
    })
  }
}

/** Zeros rather than a hole: only a written block is overwritten in place, without a change of the file's metadata. */
async function writeZeros(file: FileHandle, sizeBytes: number, haste: WriteHaste): Promise<void> {
  const zeros = Buffer.alloc(Math.min(sizeBytes, 256 * 1024))
  const steps = new SyncedSteps(file, haste)
  for (let at = 0; at < sizeBytes; at += zeros.length) {
    const written = zeros.subarray(0, sizeBytes - at)
    await writeFully(file.fd, at, [written])
    await steps.wrote(written.length)
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return null
    throw error
  }
}

async function failingAs<T>(operation: string, key: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    throw asStoreError(operation, key, error)
  }
}

/** What the system refused, as an error of the store; what a body threw, or another part of the store, as it is. */
function asStoreError(operation: string, key: string, error: unknown): unknown {
  const code = systemCode(error)
  if (code === undefined || error instanceof StorageError) return error
  if (code === 'EISDIR' || code === 'ENOTDIR') {
    return new InvalidKeyError(key, 'a file and a folder would need the same name', { cause: error })
  }
  return new StoreFailedError(operation, key, { cause: error })
}
