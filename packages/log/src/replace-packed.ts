import { strict as assert } from 'node:assert'
import type { Extent } from '@pico/metadata'
import type { DataObjectBuilder } from '@pico/storage'
import { switchExtents, switchToRead } from './extent-switch.ts'
import { pieces } from './gather.ts'
import type { LogComponents } from './log.ts'
import { chunkBytes, putDataObject } from './new-data-object.ts'
import type { OpenStream } from './open-stream.ts'
import { untilAnswered } from './until-answered.ts'

export interface Circumstances {
  readonly signal: AbortSignal
  /** The log is closing, or fenced: nobody reads from it any more. */
  readonly isOver: () => boolean
  /** The stream as it is open now: it may have been dropped and opened again. */
  readonly current: () => OpenStream | undefined
}

/** See LogStream.replacePacked. The object first, then one transaction: a crash in between leaves an object that is doomed by itself. */
export async function replacePacked(
  components: LogComponents,
  stream: OpenStream,
  replaced: readonly Extent[],
  entries: AsyncIterable<Uint8Array>,
  { signal, isOver, current }: Circumstances,
): Promise<boolean> {
  const { metadata, node, clock } = components
  const [first] = replaced
  const last = replaced.at(-1)
  if (first === undefined || last === undefined || !replaced.every((extent) => stream.extents.includes(extent)))
    return false
  const { object, slices } = await putDataObject(
    components,
    (builder) => body(components, stream.streamId, entries, builder),
    { signal, unhurried: () => true },
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
  // Whoever wanted it may have given up, and still the stream has to be as SQL has it.
  const isDone = await untilAnswered(clock, isOver, () =>
    metadata.log.replaceExtents(node, { object, extent, replaced }, clock.nowMs()),
  )
  if (!isDone) {
    const [read] = await untilAnswered(clock, isOver, () => metadata.streams.open(node, [stream.streamId]))
    if (read !== undefined) switchToRead(stream, read.extents)
    return false
  }
  const added = { ...extent, objectKey: object.key, objectBytes: object.lengthBytes, objectStreamId: stream.streamId }
  const isReplaced = ({ baseOffset, objectId }: Extent) =>
    replaced.some((old) => old.baseOffset === baseOffset && old.objectId === objectId)
  for (const open of new Set([stream, current()])) {
    // One that was opened since has the new extent already. A trim may have come in between: what lies below its watermark is of no
    // interest to anybody.
    if (open?.extents.some(isReplaced)) switchExtents(open, isReplaced, added)
    open?.forgetRunsBelow(last.endOffset)
  }
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
