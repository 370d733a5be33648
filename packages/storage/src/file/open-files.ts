import { close, fstatSync, open } from 'node:fs'
import { promisify } from 'node:util'

const openDescriptor = promisify(open)
const closeDescriptor = promisify(close)

/** Kept open at most, those in use aside. */
const openFilesMax = 64
/** A deleted file's blocks are free only when nobody has it open. */
const idleMsMax = 30_000

interface OpenFile {
  readonly opening: Promise<void>
  /** Null until it is open. */
  descriptor: number | null
  users: number
  lastUsedMs: number
}

/**
 * Files kept open for reading, so that reading from a known one is a single call of the system, begun at once: it goes on while
 * the reader is busy with what it has.
 *
 * A descriptor stands for a file and not for its name. Who gives a name to another file, or to none, says so with `forget`;
 * what another process deleted or replaced shows in the file's count of names.
 */
export class OpenFiles {
  /** By path, the longest unused first. */
  readonly #files = new Map<string, OpenFile>()

  /** Gives `work` a descriptor of the file at `path`, good until the work settles. */
  async use<T>(path: string, work: (descriptor: number) => Promise<T>): Promise<T> {
    const file = this.#current(path) ?? this.#open(path)
    file.users++
    try {
      if (file.descriptor === null) await file.opening
      return await work(file.descriptor!)
    } finally {
      file.users--
      file.lastUsedMs = performance.now()
      if (this.#files.get(path) !== file) closeUnused(file)
      else if (this.#files.size > openFilesMax) this.#trim()
    }
  }

  /** The next use of `path` finds what it stands for then. */
  forget(path: string): void {
    const file = this.#files.get(path)
    if (file === undefined) return
    this.#files.delete(path)
    closeUnused(file)
  }

  close(): void {
    for (const path of this.#files.keys()) this.forget(path)
  }

  #current(path: string): OpenFile | null {
    const file = this.#files.get(path)
    if (file === undefined) return null
    // Not a wait for the disk: the system has an open file's metadata in memory.
    if (file.descriptor !== null && fstatSync(file.descriptor).nlink === 0) {
      this.forget(path)
      return null
    }
    this.#files.delete(path)
    this.#files.set(path, file)
    return file
  }

  #open(path: string): OpenFile {
    const opening = openDescriptor(path, 'r').then(
      (descriptor) => {
        file.descriptor = descriptor
      },
      (error: unknown) => {
        if (this.#files.get(path) === file) this.#files.delete(path)
        throw error
      },
    )
    const file: OpenFile = { opening, descriptor: null, users: 0, lastUsedMs: performance.now() }
    this.#files.set(path, file)
    this.#trim()
    return file
  }

  #trim(): void {
    const unusedSinceMs = performance.now() - idleMsMax
    for (const [path, file] of this.#files) {
      if (this.#files.size <= openFilesMax && file.lastUsedMs >= unusedSinceMs) return
      if (file.users === 0 && file.descriptor !== null) this.forget(path)
    }
  }
}

/** The last user closes a file that is no longer kept. Nobody waits: to close what was only read can fail by a bug alone. */
function closeUnused(file: OpenFile): void {
  if (file.users > 0 || file.descriptor === null) return
  closeDescriptor(file.descriptor)
  file.descriptor = null
}
