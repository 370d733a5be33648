import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

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

/** Makes the entries of a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder; NTFS journals its entries.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
