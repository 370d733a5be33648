import type { NewObject } from '@pico/metadata'
import { DataObjectBuilder, type PutOptions, type StreamSlice } from '@pico/storage'
import type { LogComponents } from './log.ts'
import { dataKey } from './wal-key.ts'

/** A chunk of a data object: what one checksum covers. */
export const chunkBytes = 64 * 1024
/** An upload not committed by then is taken for abandoned, and deleted. */
const uploadDueMs = 60 * 60 * 1000

/** Writes a data object that a commit is to name next. Announced in SQL first: one that is never committed is doomed by itself. */
export async function putDataObject(
  { metadata, store, clock }: LogComponents,
  body: (builder: DataObjectBuilder) => AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<{ object: NewObject; slices: readonly StreamSlice[] }> {
  const objectId = await metadata.nodes.reserve('objectId', 1)
  const key = dataKey(objectId)
  await metadata.log.announceUpload(key, clock.nowMs() + uploadDueMs)
  const builder = new DataObjectBuilder({ chunkBytes })
  await store.put(key, body(builder), options)
  return { object: { objectId, key, lengthBytes: builder.lengthBytes }, slices: builder.slices }
}
