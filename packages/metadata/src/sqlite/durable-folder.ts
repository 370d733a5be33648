import { mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Creates a folder and those above it, so that they are still there after a power cut: each new one's parent is synced. */
export async function makeDurableFolder(path: string): Promise<void> {
  const wanted = resolve(path)
  const first = await mkdir(wanted, { recursive: true })
  if (first === undefined) return
  for (let made = wanted; ; made = dirname(made)) {
    await syncFolder(dirname(made))
    if (made === resolve(first)) return
  }
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
