import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { systemCode } from '../errors.ts'

/** The folders of a store: made on demand, and durable before anything is put into them. */
export class Folders {
  /** There already, and durable. */
  readonly #root: string
  /** Folders whose entry in their parent is known to be durable, or is being made so. */
  readonly #ready = new Map<string, Promise<void>>()

  constructor(root: string) {
    this.#root = root
    this.#ready.set(root, Promise.resolve())
  }

  /**
   * Makes `folder` and those above it. A folder that was there already is synced into its parent too, once: whoever made it
   * may have crashed before.
   */
  make(folder: string): Promise<void> {
    const known = this.#ready.get(folder)
    if (known !== undefined) return known
    const making = this.#make(folder)
    this.#ready.set(folder, making)
    making.catch(() => {
      if (this.#ready.get(folder) === making) this.#ready.delete(folder)
    })
    return making
  }

  /** Another process removed folders: nothing is known any more. */
  forget(): void {
    this.#ready.clear()
    this.#ready.set(this.#root, Promise.resolve())
  }

  async #make(folder: string): Promise<void> {
    const parent = dirname(folder)
    await this.make(parent)
    try {
      await mkdir(folder)
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
    await syncFolder(parent)
  }
}

/**
 * Creates a folder and those above it, so that they are still there after a power cut: each new one's parent is synced.
 * One by one, for Node's recursive mkdir never ends where a parent takes no children and says that it is missing (`/proc/x`).
 */
export async function makeDurableFolder(path: string): Promise<void> {
  const folder = resolve(path)
  if (await isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) await makeDurableFolder(parent)
  try {
    await mkdir(folder)
  } catch (error) {
    if (!(await isFolder(folder))) throw error // otherwise somebody else made it meanwhile
  }
  await syncFolder(parent)
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found?.isDirectory() === true
}

/** Makes durable which names are in `folder`. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
