import type { FileHandle } from 'node:fs/promises'
import type { ObjectBody, PutOptions } from '../object-store.ts'
import { SyncedSteps } from './synced-steps.ts'
import { writeFully } from './write-fully.ts'

/** Parts of a streamed body are gathered up to this; a part as long is written by itself. */
const gatherBytes = 256 * 1024

/** Writes an object's content from the start of an empty file. The last of it is not synced. */
export async function writeBody(file: FileHandle, body: ObjectBody, options: PutOptions): Promise<void> {
  if (!(Symbol.asyncIterator in body)) return writeFully(file.fd, 0, body)
  const gathered = Buffer.allocUnsafeSlow(gatherBytes)
  let held = 0
  const steps = new SyncedSteps(file, options)
  let written = 0
  const write = async (buffers: readonly Uint8Array[], length: number) => {
    options.signal?.throwIfAborted()
    await writeFully(file.fd, written, buffers)
    written += length
    await steps.wrote(length)
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
