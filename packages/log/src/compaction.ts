import type { Compaction, Extent, ObjectSummary } from '@pico/metadata'
import type { DataObjectBuilder } from '@pico/storage'
import { extentBytes } from './extent-bytes.ts'
import { switchToMerged } from './extent-switch.ts'
import { pieces } from './gather.ts'
import type { LogComponents } from './log.ts'
import { chunkBytes, putDataObject } from './new-data-object.ts'
import type { OpenStream } from './open-stream.ts'
import type { LogSettings } from './settings.ts'
import { isWalKey, type StoredEntries } from './stored-entries.ts'
import { untilAnswered } from './until-answered.ts'

const candidatesMax = 64

/**
 * Which of the candidates (smallest first) to merge into one object; empty when it is not worth it. WAL objects and segments go
 * first, for they hold many streams in small pieces; data objects once there are enough small ones (size-tiered).
 */
export function chooseForCompaction(
  candidates: readonly ObjectSummary[],
  { compactFanIn, compactBelowBytes }: Pick<LogSettings, 'compactFanIn' | 'compactBelowBytes'>,
): ObjectSummary[] {
  const worthIt = candidates.length >= compactFanIn || candidates.some((candidate) => isWalKey(candidate.key))
  if (!worthIt) return []
  const chosen: ObjectSummary[] = []
  let totalBytes = 0
  for (const candidate of candidates) {
    if (chosen.length > 0 && totalBytes + candidate.liveBytes > compactBelowBytes * compactFanIn) break
    chosen.push(candidate)
    totalBytes += candidate.liveBytes
  }
  return chosen
}

/** Merges small objects into one, stream by stream; the old ones are doomed. True when something was merged. */
export async function compactOnce(
  components: LogComponents,
  settings: LogSettings,
  parts: { stored: StoredEntries; streams: ReadonlyMap<number, OpenStream> },
  signal: AbortSignal,
): Promise<boolean> {
  const { metadata, node, clock } = components
  const candidates = await metadata.log.compactionCandidates({
    maxBytes: settings.compactBelowBytes,
    limit: candidatesMax,
  })
  const chosen = chooseForCompaction(candidates, settings)
  if (chosen.length === 0) return false
  const extents = (await Promise.all(chosen.map(({ objectId }) => metadata.log.extentsOfObject(objectId)))).flat()
  if (extents.length === 0) return false
  extents.sort((a, b) => a.streamId - b.streamId || a.baseOffset - b.baseOffset)

  const merged: MergedExtent[] = []
  const { object } = await putDataObject(
    components,
    (builder) => body(components, parts.stored, extents, builder, merged, signal),
    { signal, unhurried: () => true },
  )
  const { objectId } = object
  const replaced = chosen.map((candidate) => candidate.objectId)
  const compaction: Compaction = { object, replaced, extents: merged.map((extent) => ({ ...extent, objectId })) }
  await untilAnswered(
    clock,
    () => signal.aborted,
    () => metadata.log.commitCompaction(node, compaction, clock.nowMs()),
  )
  for (const [streamId, extents] of Map.groupBy(compaction.extents, (extent) => extent.streamId)) {
    const stream = parts.streams.get(streamId)
    if (stream !== undefined) switchToMerged(stream, extents, { object, replaced: new Set(replaced) })
  }
  return true
}

type MergedExtent = Omit<Compaction['extents'][number], 'objectId'>

/** The extents' bytes, and in `merged` what becomes of them: neighbours of one stream become one extent. */
async function* body(
  components: LogComponents,
  stored: StoredEntries,
  extents: readonly Extent[],
  builder: DataObjectBuilder,
  merged: MergedExtent[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (const extent of extents) {
    const position = builder.lengthBytes
    for await (const bytes of extentBytes(components, stored, extent, signal)) {
      for (const piece of pieces(components.format, extent.streamId, bytes, chunkBytes)) builder.add(piece)
      yield bytes
    }
    const lengthBytes = builder.lengthBytes - position
    const cut = { baseOffset: extent.baseOffset, position }
    const last = merged.at(-1)
    if (last !== undefined && last.streamId === extent.streamId && last.endOffset === extent.baseOffset) {
      merged[merged.length - 1] = {
        ...last,
        endOffset: extent.endOffset,
        lengthBytes: last.lengthBytes + lengthBytes,
        maxTimestampMs: Math.max(last.maxTimestampMs, extent.maxTimestampMs),
        cuts: [...last.cuts, cut],
      }
    } else {
      const { streamId, baseOffset, endOffset, maxTimestampMs } = extent
      merged.push({ streamId, baseOffset, endOffset, position, lengthBytes, maxTimestampMs, crc32c: null, cuts: [cut] })
    }
  }
  yield* builder.finish()
}
