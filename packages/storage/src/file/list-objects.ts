import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../errors.ts'
import type { ObjectInfo } from '../object-store.ts'

interface ListOptions {
  readonly prefix: string
  /** Only keys greater than this. */
  readonly after: string
  readonly signal: AbortSignal | undefined
}

/** File sizes are asked for this many at a time. */
const statsAtOnce = 64

/** The objects under `root` in byte order of their keys, folder by folder: memory grows with the largest folder. */
export function listObjects(root: string, options: ListOptions): AsyncGenerator<ObjectInfo> {
  const folder = options.prefix.slice(0, options.prefix.lastIndexOf('/') + 1)
  return listFolder(root, folder, options)
}

/** @param folder of the keys, with its final slash; empty for the root. */
async function* listFolder(root: string, folder: string, options: ListOptions): AsyncGenerator<ObjectInfo> {
  options.signal?.throwIfAborted()
  const names = await sortedNames(join(root, folder))
  const keys = names.map((name) => folder + name).filter((key) => isWanted(key, options))
  let files: string[] = []
  for (const key of keys) {
    if (!key.endsWith('/')) files.push(key)
    if (key.endsWith('/') || files.length === statsAtOnce) {
      yield* sizes(root, files, options.signal)
      files = []
    }
    if (key.endsWith('/')) yield* listFolder(root, key, options)
  }
  yield* sizes(root, files, options.signal)
}

/** Files and folders, a folder with a slash behind: so they sort as the keys do (`a-b` before `a/b` before `a0`). */
async function sortedNames(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries
      .filter((entry) => /^[A-Za-z0-9._-]+$/.test(entry.name) && (entry.isFile() || entry.isDirectory()))
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .sort()
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return []
    throw error
  }
}

function isWanted(key: string, { prefix, after }: ListOptions): boolean {
  if (!key.endsWith('/')) return key.startsWith(prefix) && key > after
  const holdsWanted = key.startsWith(prefix) || prefix.startsWith(key)
  return holdsWanted && (key > after || after.startsWith(key))
}

async function* sizes(root: string, keys: string[], signal: AbortSignal | undefined): AsyncGenerator<ObjectInfo> {
  signal?.throwIfAborted()
  const infos = await Promise.all(keys.map((key) => info(root, key)))
  for (const found of infos) if (found !== null) yield found
}

/** Null for an object that was deleted since its folder was read. */
async function info(root: string, key: string): Promise<ObjectInfo | null> {
  try {
    const { size, mtimeMs } = await stat(join(root, key))
    return { key, sizeBytes: size, modifiedAtMs: Math.floor(mtimeMs) }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  }
}
