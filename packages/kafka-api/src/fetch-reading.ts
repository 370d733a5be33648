import { kafkaErrors } from '@pico/kafka-codec'
import type { Partition, PartitionChange } from '@pico/streams'
import type { Clock } from './clock.ts'

/** What a fetch wants of one partition, and what it has got so far. */
export class PartitionFetch {
  readonly partition: Partition
  /** Where to read on. */
  nextOffset: number
  readonly maxBytes: number
  /** Whole batches, back to back: views of memory that nobody writes to until `release`. */
  readonly buffers: Uint8Array[] = []
  readonly #reads: BatchesRead[] = []
  lengthBytes = 0
  errorCode = 0
  /** There is more to read than the limits allow: waiting for more would be in vain. */
  full = false

  constructor(partition: Partition, fetchOffset: number, maxBytes: number) {
    this.partition = partition
    this.nextOffset = fetchOffset
    this.maxBytes = maxBytes
  }

  keep(read: BatchesRead): void {
    for (const buffer of read.buffers) this.buffers.push(buffer)
    this.#reads.push(read)
    this.lengthBytes += read.lengthBytes
    this.nextOffset = read.endOffset
  }

  /** Nobody looks at the buffers any more. */
  release(): void {
    for (const read of this.#reads) read.release()
  }

  get hasMore(): boolean {
    return this.errorCode === 0 && !this.full && this.nextOffset < this.partition.highWatermark
  }
}

export interface FetchLimits {
  /** Answer as soon as so many bytes are there. */
  readonly minBytes: number
  /** Over all partitions. The first batch of the first partition that has any is given even when it is larger (KIP-74). */
  readonly maxBytes: number
  readonly maxWaitMs: number
}

/** Ends a wait before its time. */
export interface FetchInterrupts {
  /** Nobody waits for the answer any more. */
  readonly gone: AbortSignal
  /** Answer with what is there. */
  readonly draining: AbortSignal
}

/**
 * Reads partitions in order, and waits (for events, never by polling) until there is enough, an error, a partition that can give
 * no more within its limit, or the time is up (kafka-compat 2.4). `explain` turns a failed read into an error code.
 */
export async function readPartitions(
  fetches: readonly PartitionFetch[],
  limits: FetchLimits,
  clock: Clock,
  interrupts: FetchInterrupts,
  explain: (error: unknown, partition: Partition) => number,
): Promise<void> {
  const { gone, draining } = interrupts
  let watch: Watch | undefined
  try {
    for (;;) {
      await readRound(fetches, limits, gone, explain)
      if (gone.aborted || draining.aborted || isEnough(fetches, limits)) return
      if (watch?.timeIsUp === true) return
      watch ??= new Watch(fetches, clock, limits.maxWaitMs, interrupts)
      await watch.change()
    }
  } finally {
    watch?.close()
  }
}

function isEnough(fetches: readonly PartitionFetch[], { minBytes, maxBytes, maxWaitMs }: FetchLimits): boolean {
  if (maxWaitMs <= 0 || fetches.length === 0) return true
  let bytes = 0
  for (const { errorCode, full, lengthBytes } of fetches) {
    if (errorCode !== 0 || full) return true
    bytes += lengthBytes
  }
  return bytes >= Math.min(minBytes, maxBytes)
}

/** Reads what is there and was not read before, within the limits. Reads that have to go to the store run side by side. */
async function readRound(
  fetches: readonly PartitionFetch[],
  limits: FetchLimits,
  signal: AbortSignal,
  explain: (error: unknown, partition: Partition) => number,
): Promise<void> {
  let remaining = limits.maxBytes
  for (const { lengthBytes } of fetches) remaining -= lengthBytes
  let at = 0
  while (at < fetches.length && !signal.aborted) {
    const reads: (readonly [PartitionFetch, ReturnType<typeof startRead>])[] = []
    let promised = 0
    for (; at < fetches.length && (reads.length === 0 || promised < remaining); at++) {
      const fetch = fetches[at]
      if (fetch?.hasMore !== true) continue
      if (remaining <= 0 && remaining < limits.maxBytes) {
        fetch.full = true
        continue
      }
      const allowance = Math.min(fetch.maxBytes - fetch.lengthBytes, remaining - promised)
      reads.push([fetch, startRead(fetch, allowance, signal, explain)])
      promised += Math.max(0, allowance)
    }
    for (const [fetch, started] of reads) {
      const read = started instanceof Promise ? await started : started
      if (read !== null) remaining -= take(fetch, read, remaining, remaining === limits.maxBytes)
    }
  }
}

type BatchesRead = Exclude<Awaited<ReturnType<Partition['read']>>, 'out-of-range' | null>

/** Never rejects: what goes wrong is the partition's error code. */
function startRead(
  fetch: PartitionFetch,
  allowance: number,
  signal: AbortSignal,
  explain: (error: unknown, partition: Partition) => number,
): BatchesRead | null | Promise<BatchesRead | null> {
  const failed = (error: unknown) => {
    if (!signal.aborted) fetch.errorCode = explain(error, fetch.partition)
    return null
  }
  try {
    const read = fetch.partition.read(fetch.nextOffset, Math.max(1, allowance), signal)
    if (read === 'out-of-range') {
      fetch.errorCode = kafkaErrors.offsetOutOfRange.code
      return null
    }
    return read instanceof Promise ? read.catch(failed) : read
  } catch (error) {
    return failed(error)
  }
}

/**
 * Keeps what was read if it fits. A read gives at least one batch whatever the limit, so that only the first of an answer may
 * exceed its own. Returns the bytes kept.
 */
function take(fetch: PartitionFetch, read: BatchesRead, remaining: number, isFirst: boolean): number {
  const allowance = Math.min(fetch.maxBytes - fetch.lengthBytes, remaining)
  if (read.lengthBytes > allowance && !isFirst) {
    fetch.full = true
    read.release()
    return 0
  }
  fetch.keep(read)
  fetch.full = fetch.lengthBytes >= fetch.maxBytes || fetch.hasMore
  return read.lengthBytes
}

/** One wait for anything that may change the answer. */
class Watch {
  /** Said by the timer itself, which may fire a little before the clock shows the time it was set for. */
  timeIsUp = false
  readonly #stops: (() => void)[] = []
  #changed = false
  #wake: (() => void) | undefined

  constructor(
    fetches: readonly PartitionFetch[],
    clock: Clock,
    maxWaitMs: number,
    { gone, draining }: FetchInterrupts,
  ) {
    const changed = () => {
      this.#changed = true
      this.#wake?.()
    }
    for (const fetch of fetches) {
      this.#stops.push(
        fetch.partition.watch((change) => {
          fetch.errorCode ||= errorOfChange[change]
          changed()
        }),
      )
      if (fetch.hasMore) this.#changed = true // it moved while another partition was being read
    }
    this.#stops.push(
      clock.after(maxWaitMs, () => {
        this.timeIsUp = true
        changed()
      }),
    )
    for (const signal of [gone, draining]) {
      signal.addEventListener('abort', changed)
      this.#stops.push(() => signal.removeEventListener('abort', changed))
    }
  }

  /** Resolves on the next change, or at once when there was one since the last. */
  async change(): Promise<void> {
    if (!this.#changed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#changed = false
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }
}

const errorOfChange: Readonly<Record<PartitionChange, number>> = {
  advanced: 0,
  deleted: kafkaErrors.unknownTopicOrPartition.code,
  lost: kafkaErrors.notLeaderOrFollower.code,
}
