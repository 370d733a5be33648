import { strict as assert } from 'node:assert'
import type { Extent } from '@pico/metadata'
import type { DataObjectBuilder } from '@pico/storage'
import { pieces } from './gather.ts'
import type { LogComponents } from './log.ts'
import { chunkBytes, putDataObject } from './new-data-object.ts'
import type { OpenStream } from './open-stream.ts'
import { untilAnswered } from './until-answered.ts'

/** See LogStream.replacePacked. The object first, then one transaction: a crash in between leaves an object that is doomed by itself. */
export async function replacePacked(
  components: LogComponents,
  stream: OpenStream,
  replaced: readonly Extent[],
  entries: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<boolean> {
  const { metadata, node, clock } = components
  const [first] = replaced
  const last = replaced.at(-1)
  if (first === undefined || last === undefined || !replaced.every((extent) => stream.extents.includes(extent)))
    return false
  const { object, slices } = await putDataObject(
    components,
    (builder) => body(components, stream.streamId, entries, builder),
    signal,
  )
  const [slice] = slices
  assert(slice !== undefined && slices.length === 1, 'something of a stream stays, and of that stream only')
  assert(
    slice.baseOffset >= first.baseOffset && slice.endOffset === last.endOffset,
    'the new entries lie where the old ones did, and end where those end',
  )
  const extent = {
    streamId: stream.streamId,
    baseOffset: first.baseOffset,
    endOffset: last.endOffset,
    objectId: object.objectId,
    position: slice.position,
    lengthBytes: slice.chunks.reduce((sum, chunk) => sum + chunk.lengthBytes, 0),
    maxTimestampMs: Math.max(-1, ...slice.chunks.map((chunk) => chunk.maxTimestampMs)),
    crc32c: null,
  }
  const isDone = await untilAnswered(
    clock,
    () => signal.aborted,
    () => metadata.log.replaceExtents(node, { object, extent, replaced }, clock.nowMs()),
  )
  if (!isDone) return false
  const gone = new Set(replaced)
  const added = { ...extent, objectKey: object.key, objectBytes: object.lengthBytes, objectStreamId: stream.streamId }
  // A trim may have come in between: what lies below its watermark is of no interest to anybody.
  const kept = stream.extents.filter((each) => !gone.has(each))
  stream.extents = [...kept, added].sort((a, b) => a.baseOffset - b.baseOffset)
  stream.forgetRunsBelow(last.endOffset)
  return true
}

async function* body(
  { format }: LogComponents,
  streamId: number,
  entries: AsyncIterable<Uint8Array>,
  builder: DataObjectBuilder,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of entries) {
    for (const piece of pieces(format, streamId, bytes, chunkBytes)) builder.add(piece)
    yield bytes
  }
  yield* builder.finish()
}
