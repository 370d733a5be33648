import type { FileHandle } from 'node:fs/promises'
import type { ObjectBody } from '../object-store.ts'
import { writeFully } from './write-fully.ts'

/** A long write is synced in steps of this, so that another file's sync does not wait for all of it. */
export const syncEveryBytes = 8 * 1024 * 1024
/** Parts of a streamed body are gathered up to this; a part as long is written by itself. */
const gatherBytes = 256 * 1024

/** Writes an object's content from the start of an empty file. The last of it is not synced. */
export async function writeBody(file: FileHandle, body: ObjectBody, signal: AbortSignal | undefined): Promise<void> {
  if (!(Symbol.asyncIterator in body)) return writeFully(file.fd, 0, body)
  const gathered = Buffer.allocUnsafeSlow(gatherBytes)
  let held = 0
  let written = 0
  let synced = 0
  const write = async (buffers: readonly Uint8Array[], length: number) => {
    signal?.throwIfAborted()
    await writeFully(file.fd, written, buffers)
    written += length
    if (written - synced < syncEveryBytes) return
    await file.datasync()
    synced = written
  }
  for await (const part of body) {
    if (held + part.length <= gatherBytes) {
      // Copied, because a part is borrowed only until the next one is asked for.
      gathered.set(part, held)
      held += part.length
    } else {
      await write([gathered.subarray(0, held), part], held + part.length)
      held = 0
    }
  }
  await write([gathered.subarray(0, held)], held)
}
