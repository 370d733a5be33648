import type { Clock } from '../server/surroundings.ts'
import { laterCursor, nextCursor } from './cursor.ts'
import { modeOf } from './media-type.ts'
import { recordStart } from './offset-token.ts'
import { type Chunk, type ChunkReader, readChunk } from './read-chunk.ts'
import { controlFrame, dataFrame, keepAliveFrame } from './sse-frames.ts'
import { ssePayload } from './sse-payload.ts'
import { type WaitOutcome, waitForChange } from './wait-for-change.ts'

export interface LiveReader extends ChunkReader {
  /** See DurableRequest. */
  readonly waitOver: AbortSignal
  readonly clock: Clock
  readonly random: () => number
  readonly cursor: string | null
  readonly maxDurationMs: number
  /** Between frames that keep a silent connection in use. */
  readonly keepAliveMs: number
}

/**
 * The frames of a connection with `live=sse`, from its first chunk on: one `data` and one `control` event for each chunk there is, a control
 * event to begin with when there is none. Ends with the stream, when the stream or the reader is gone, or when the time is over: the reader comes back
 * with its last offset. Nothing is read before what was read is asked for, so a slow reader has one chunk in memory.
 */
export async function* liveEvents(reader: LiveReader, first: Chunk): AsyncGenerator<Buffer, void, undefined> {
  const { stream, clock, random, waitOver } = reader
  const endMs = clock.nowMs() + reader.maxDurationMs
  const mode = modeOf(stream.contentType)
  let cursor = nextCursor(reader.cursor, clock.nowMs(), random)
  /** Null before the first control event. */
  let wasUpToDate: boolean | null = null
  for (let chunk = first; ; ) {
    const { payload, next } = ssePayload(chunk, mode)
    const { isUpToDate, isEnd } = chunk
    if (payload !== null || wasUpToDate === null || isEnd || (isUpToDate && !wasUpToDate)) {
      cursor = laterCursor(cursor, clock.nowMs())
      const control = controlFrame({ next, isUpToDate, isEnd, cursor })
      yield payload === null ? control : Buffer.concat([dataFrame(payload), control])
      wasUpToDate = isUpToDate
    }
    if (isEnd) return
    if (isUpToDate) {
      const seen = { tail: chunk.next.record, isClosed: false }
      for (;;) {
        const leftMs = endMs - clock.nowMs()
        if (leftMs <= 0) return
        const outcome: WaitOutcome = await waitForChange(stream, seen, Math.min(leftMs, reader.keepAliveMs), {
          clock,
          signal: waitOver,
        })
        if (outcome === 'changed') break
        if (outcome !== 'timeout') return
        if (endMs > clock.nowMs()) yield keepAliveFrame
      }
    } else if (clock.nowMs() >= endMs || waitOver.aborted) {
      return
    }
    stream.touch()
    const read = await readChunk(reader, next)
    if (typeof read === 'string') return
    chunk = read
  }
}

/** Nothing, at the tail. */
export function emptyChunk(stream: { readonly highWatermark: number; readonly closed: boolean }): Chunk {
  const tail = recordStart(stream.highWatermark)
  return { from: tail, next: tail, pieces: [], isUpToDate: true, isEnd: stream.closed }
}
