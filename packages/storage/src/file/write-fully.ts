import { writev } from 'node:fs'

/** Writes all of `buffers` at `position`: one gathered write, and another for what a short one left over. */
export function writeFully(descriptor: number, position: number, buffers: readonly Uint8Array[]): Promise<void> {
  const length = buffers.reduce((sum, buffer) => sum + buffer.length, 0)
  if (length === 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    writev(descriptor, buffers, position, (error, written) => {
      if (error !== null) reject(error)
      else if (written === length) resolve()
      else if (written === 0) reject(Object.assign(new Error('the file system wrote nothing'), { code: 'EIO' }))
      else resolve(writeFully(descriptor, position + written, without(buffers, written)))
    })
  })
}

/** `buffers` less their first `count` bytes. */
export function without(buffers: readonly Uint8Array[], count: number): Uint8Array[] {
  let skip = count
  const rest: Uint8Array[] = []
  for (const buffer of buffers) {
    if (skip < buffer.length) rest.push(buffer.subarray(skip))
    skip = Math.max(0, skip - buffer.length)
  }
  return rest
}
