import { crc32c } from '@pico/binary'
import { WAL_FRAME_HEADER_BYTES, type WalRun } from '@pico/storage'
import type { Slab } from './log-cache.ts'
import type { NewEntry } from './log-stream.ts'
import { Run } from './run.ts'

/** Past this a new run begins, so that finding an entry in a run stays a short walk. */
const runBytesMax = 256 * 1024

/** The entries of all streams that become durable together: one frame of the WAL. */
export class Flush {
  readonly committed: Promise<void>
  readonly runs: Run[] = []
  /** The slabs it lies in, in order, with its range in each. */
  readonly pieces: { readonly slab: Slab; readonly start: number; end: number }[] = []
  lengthBytes = 0
  /** Set when it, or one before it, failed: whatever the WAL says later, nobody listens any more. */
  void = false
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  readonly #openRuns = new Map<number, Run>()

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // A flush nobody waits for (acks=0) may fail: those who do wait are told through the same promise.
    promise.catch(() => undefined)
    this.committed = promise
    this.resolve = resolve
    this.reject = reject
  }

  /** Takes in an entry whose bytes the caller has just reserved at the end of `slab`, and returns where they go. */
  add(streamId: number, baseOffset: number, slab: Slab, entry: NewEntry): Uint8Array {
    const start = slab.usedBytes - entry.bytes.length
    const run = this.#runFor(streamId, baseOffset, slab, start)
    run.endOffset = baseOffset + entry.count
    run.lengthBytes += entry.bytes.length
    if (entry.maxTimestampMs > run.maxTimestampMs) run.maxTimestampMs = entry.maxTimestampMs
    if (entry.summary.length > 0) run.addSummary(entry.summary)

    const piece = this.pieces.at(-1)
    if (piece?.slab === slab && piece.end === start) piece.end = slab.usedBytes
    else this.pieces.push({ slab, start, end: slab.usedBytes })
    this.lengthBytes += entry.bytes.length
    const bytes = slab.bytes.subarray(start, slab.usedBytes)
    bytes.set(entry.bytes)
    return bytes
  }

  body(): Uint8Array[] {
    return this.pieces.map(({ slab, start, end }) => slab.bytes.subarray(start, end))
  }

  /** What the frame's footer says of it. To be asked once no entry is patched any more. */
  walRuns(): WalRun[] {
    return this.runs.map((run) => {
      const bytes = run.view()
      if (bytes === null) throw new Error('a run on its way to the WAL was evicted')
      run.crc32c = crc32c(bytes)
      return {
        streamId: run.streamId,
        baseOffset: run.baseOffset,
        endOffset: run.endOffset,
        position: WAL_FRAME_HEADER_BYTES + run.bodyPosition,
        lengthBytes: run.lengthBytes,
        maxTimestampMs: run.maxTimestampMs,
        crc32c: run.crc32c,
        summary: run.joinedSummaries(),
      }
    })
  }

  #runFor(streamId: number, baseOffset: number, slab: Slab, start: number): Run {
    const open = this.#openRuns.get(streamId)
    if (
      open !== undefined &&
      open.slab === slab &&
      open.slabPosition + open.lengthBytes === start &&
      open.lengthBytes < runBytesMax
    ) {
      return open
    }
    const run = new Run(streamId, baseOffset, slab, start, this.lengthBytes)
    this.#openRuns.set(streamId, run)
    this.runs.push(run)
    slab.runs.push(run)
    return run
  }
}
