import { close, fstat, open, read } from 'node:fs'
import { promisify } from 'node:util'
import { ObjectMissingError, ObjectTruncatedError, StoreFailedError, systemCode } from '../errors.ts'
import type { ByteRange } from '../object-store.ts'

const openDescriptor = promisify(open)
const closeDescriptor = promisify(close)
const readDescriptor = promisify(read)
const statDescriptor = promisify(fstat)

/**
 * The file's bytes, or exactly the range. The file is opened each time: against reading that costs next to nothing, and a
 * descriptor kept open would serve what its name no longer stands for.
 */
export async function readObject(path: string, key: string, range?: ByteRange): Promise<Uint8Array> {
  try {
    const descriptor = await openDescriptor(path, 'r')
    try {
      const wanted = range ?? { offset: 0, length: (await statDescriptor(descriptor)).size }
      // Not from the pool: what is read may be kept for long, and would keep the pool's whole page.
      const target = Buffer.allocUnsafeSlow(wanted.length)
      if ((await readFully(descriptor, target, wanted.offset)) < wanted.length)
        throw new ObjectTruncatedError(key, wanted)
      return target
    } finally {
      await closeDescriptor(descriptor)
    }
  } catch (error) {
    if (error instanceof ObjectTruncatedError) throw error
    const code = systemCode(error)
    const missing = code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR'
    throw missing ? new ObjectMissingError(key, { cause: error }) : new StoreFailedError('get', key, { cause: error })
  }
}

/** Bytes read: fewer than `target` holds only at the end of the file. */
async function readFully(descriptor: number, target: Buffer, offset: number): Promise<number> {
  let filled = 0
  while (filled < target.length) {
    const { bytesRead } = await readDescriptor(descriptor, target, filled, target.length - filled, offset + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}
