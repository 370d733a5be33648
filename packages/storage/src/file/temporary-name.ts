import type { Dirent } from 'node:fs'
import { readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { systemCode } from '../errors.ts'

/** No key has this character, so no list, get or delete ever meets a temporary file. */
const mark = '~'
/** With the process id, names a process: ids are used again, and in a container they always are. */
const processStart = Math.floor(performance.timeOrigin).toString(36)
/**
 * No put takes that long. Younger than this, a file of a live process, and an empty folder, may be somebody's who is at work in the
 * same folder.
 */
const workAgeMsMax = 3_600_000

/** A name for the `serial`-th file in the making of this process, to be renamed when its bytes are durable. */
export function temporaryName(serial: number): string {
  return `${mark}${process.pid}-${processStart}-${serial.toString(36)}`
}

export function isTemporaryName(name: string): boolean {
  return name.startsWith(mark)
}

/**
 * Removes what processes that are gone left in the making, and folders that have long been empty. Another live process may be at
 * work in the same folder.
 * @returns whether the folder is empty now.
 */
export async function removeLeftovers(folder: string): Promise<boolean> {
  let left = 0
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      const isLongEmpty = (await removeLeftovers(path)) && (await isOld(path))
      if (!isLongEmpty || !(await removeFolder(path))) left++
    } else if (isTemporaryName(entry.name) && (await isLeftover(path, entry.name))) {
      await rm(path, { force: true })
    } else {
      left++
    }
  }
  return left === 0
}

/** None for a folder that another process removed meanwhile. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

async function removeFolder(path: string): Promise<boolean> {
  try {
    await rmdir(path)
    return true
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return true
    if (systemCode(error) === 'ENOTEMPTY') return false
    throw error
  }
}

async function isLeftover(path: string, name: string): Promise<boolean> {
  const [pid = '', start] = name.slice(mark.length).split('-')
  if (Number(pid) === process.pid) return start !== processStart
  if (!isAlive(Number(pid))) return true
  return isOld(path)
}

async function isOld(path: string): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs < Date.now() - workAgeMsMax
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false
    throw error
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}
