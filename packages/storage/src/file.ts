import { resolve } from 'node:path'
import { FileStore } from './file/file-store.ts'
import { Folders, makeDurableFolder } from './file/folders.ts'
import { removeLeftovers } from './file/temporary-name.ts'
import type { ObjectStore } from './object-store.ts'
import type { SegmentStore } from './segment-store.ts'

/**
 * Objects and segments as files under `folder`, which is made when it is missing. The key is the path.
 * Temporary files that a crash left behind are removed, and so are folders that have long been empty.
 */
export async function openFileStore(folder: string): Promise<ObjectStore & SegmentStore> {
  const root = resolve(folder)
  await makeDurableFolder(root)
  await removeLeftovers(root)
  return new FileStore(root, new Folders(root))
}
