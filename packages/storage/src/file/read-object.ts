import { fstatSync, read } from 'node:fs'
import { promisify } from 'node:util'
import { ObjectMissingError, ObjectTruncatedError, StoreFailedError, systemCode } from '../errors.ts'
import type { ByteRange } from '../object-store.ts'
import type { OpenFiles } from './open-files.ts'

const readDescriptor = promisify(read)

/** The file's bytes, or exactly the range, in `into` when given. */
export async function readObject(
  files: OpenFiles,
  path: string,
  key: string,
  range?: ByteRange,
  into?: Uint8Array,
): Promise<Uint8Array> {
  try {
    return await files.use(path, async (descriptor) => {
      const wanted = range ?? { offset: 0, length: fstatSync(descriptor).size }
      // Not from the pool: what is read may be kept for long, and would keep the pool's whole page.
      const target = into ?? Buffer.allocUnsafeSlow(wanted.length)
      if ((await readFully(descriptor, target, wanted.offset)) < wanted.length)
        throw new ObjectTruncatedError(key, wanted)
      return target
    })
  } catch (error) {
    if (error instanceof ObjectTruncatedError) throw error
    const code = systemCode(error)
    const missing = code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR'
    throw missing ? new ObjectMissingError(key, { cause: error }) : new StoreFailedError('get', key, { cause: error })
  }
}

/** Bytes read: fewer than `target` holds only at the end of the file. */
async function readFully(descriptor: number, target: Uint8Array, offset: number): Promise<number> {
  let filled = 0
  while (filled < target.length) {
    const { bytesRead } = await readDescriptor(descriptor, target, filled, target.length - filled, offset + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}
