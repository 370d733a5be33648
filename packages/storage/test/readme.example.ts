import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataObjectBuilder, openBlockCache, readDataObjectIndex } from '@pico/storage'
import { openFileStore } from '@pico/storage/file'

const store = await openFileStore(join(tmpdir(), 'pico-example'))
const entries = ['hello', 'world'].map((text, offset) => {
  return { streamId: 1, baseOffset: offset, endOffset: offset + 1, maxTimestampMs: -1, bytes: Buffer.from(text) }
})

const builder = new DataObjectBuilder({ chunkBytes: 1 })
for (const entry of entries) builder.add(entry)
await store.put('data/1', [...entries.map(({ bytes }) => bytes), ...builder.finish()])

const index = await readDataObjectIndex(store, 'data/1', builder.lengthBytes)
const chunks = index.slice(1)?.chunks ?? []
const cache = openBlockCache({ store }, { capacityBytes: 64 * 1024 * 1024 })
for (const [i, { baseOffset }] of chunks.entries()) {
  const { bytes, memory } = await cache.read('data/1', chunks, i)
  console.log(baseOffset, Buffer.from(bytes).toString())
  memory.release()
}
await store.close()
