import { FencedError, type LogIndex, type Metadata, MetadataUnavailableError, type NodeIdentity } from '@pico/metadata'
import { encodeWalFrame, type ObjectStore } from '@pico/storage'
import type { Clock } from './clock.ts'
import { AppendFailedError } from './errors.ts'
import type { Flush } from './flush.ts'
import type { LogComponents } from './log.ts'
import type { FrameLocation, Wal, WalUnit } from './wal.ts'
import { walKey } from './wal-key.ts'

const outcomeRetryMs = 250

interface Upload {
  readonly key: string
  readonly lengthBytes: number
  readonly index: Uint8Array
  readonly uploaded: Promise<void>
  readonly abort: AbortController
  readonly resolve: (location: FrameLocation) => void
  readonly reject: (error: Error) => void
}

type NewRow = Parameters<LogIndex['commitWalObjects']>[1][number]

/**
 * The shared WAL: an object per flush, several uploads at once, committed in SQL in the order they were sealed; those that are
 * there when the database is free are committed together.
 */
export class SharedWal implements Wal {
  readonly flushesInFlightMax: number
  readonly #store: ObjectStore
  readonly #metadata: Metadata
  readonly #node: NodeIdentity
  readonly #clock: Clock
  readonly #onProblem: (message: string, error: unknown) => void
  readonly #deadlineMs: number
  /** Never reused within an epoch, so that an upload given up for dead cannot overwrite a later one when it lands after all. */
  #uploads = 0
  #committedSequence = 0
  /** Goes up whenever a commit's outcome had to be asked for, so that one that comes late changes nothing. */
  #attempt = 0
  #queue: Upload[] = []
  /** Why writes failed, until `resume`. */
  #failure: Error | null = null
  #committing = false
  #closed = false

  constructor(
    components: Pick<LogComponents, 'store' | 'metadata' | 'node' | 'clock' | 'onProblem'>,
    settings: { flushesInFlightMax: number; storeDeadlineMs: number },
  ) {
    this.#store = components.store
    this.#metadata = components.metadata
    this.#node = components.node
    this.#clock = components.clock
    this.#onProblem = components.onProblem ?? (() => undefined)
    this.flushesInFlightMax = settings.flushesInFlightMax
    this.#deadlineMs = settings.storeDeadlineMs
  }

  write(flush: Flush): Promise<FrameLocation> {
    if (this.#failure !== null) return Promise.reject(this.#failure)
    this.#uploads += 1
    const sequence = this.#uploads
    const key = walKey(this.#node, sequence)
    const identity = { ...this.#node, sequence }
    const frame = encodeWalFrame({
      identity,
      position: 0,
      committedBytes: 0,
      body: flush.body(),
      runs: flush.walRuns(),
    })
    const abort = new AbortController()
    const cancelDeadline = this.#clock.after(this.#deadlineMs, () => {
      abort.abort(new Error(`no answer within ${this.#deadlineMs} ms`))
    })
    const uploaded = this.#store.put(key, frame.buffers, { signal: abort.signal }).finally(cancelDeadline)
    uploaded.catch(() => undefined) // the commit loop below meets the error, in its turn
    const { promise, resolve, reject } = Promise.withResolvers<FrameLocation>()
    this.#queue.push({ key, lengthBytes: frame.lengthBytes, index: frame.index, uploaded, abort, resolve, reject })
    void this.#commitInOrder()
    return promise
  }

  resume(): void {
    this.#failure = null
  }

  isComplete(): boolean {
    return true
  }

  release(): void {
    // The pack that took the last entry over has doomed the object.
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#failAll(new AppendFailedError('the WAL is closed'))
  }

  async #commitInOrder(): Promise<void> {
    if (this.#committing) return
    this.#committing = true
    try {
      while (this.#queue.length > 0) {
        const ready = await this.#uploadedPrefix()
        if (ready.length === 0) continue
        await this.#commit(ready)
      }
    } finally {
      this.#committing = false
    }
  }

  /** The uploads at the head of the queue that are there, at least the first; none when that one failed. */
  async #uploadedPrefix(): Promise<Upload[]> {
    const [first, ...rest] = this.#queue
    if (first === undefined) return []
    try {
      await first.uploaded
    } catch (cause) {
      this.#failAll(new AppendFailedError(`object ${first.key} could not be written`, { cause }))
      return []
    }
    const ready = [first]
    for (const upload of rest) {
      if (!(await isSettled(upload.uploaded))) break
      ready.push(upload)
    }
    return this.#closed ? [] : ready
  }

  async #commit(ready: readonly Upload[]): Promise<void> {
    const rows = ready.map((upload, i) => ({
      sequence: this.#committedSequence + 1 + i,
      key: upload.key,
      lengthBytes: upload.lengthBytes,
      index: upload.index,
    }))
    try {
      await this.#commitRows(rows)
    } catch (error) {
      this.#failAll(error instanceof Error ? error : new Error(String(error)))
      return
    }
    this.#committedSequence += rows.length
    this.#queue = this.#queue.slice(ready.length)
    for (const [i, upload] of ready.entries()) {
      const row = rows[i]
      if (row === undefined) throw new Error('a commit lost a row')
      const unit: WalUnit = { key: upload.key, lengthBytes: upload.lengthBytes, row: { walObject: row.sequence } }
      upload.resolve({ key: upload.key, position: 0, unit })
    }
  }

  /** Commits, for as long as it takes: where the answer is lost, the database is asked what happened, as guessing could lose or double. */
  async #commitRows(rows: readonly NewRow[]): Promise<void> {
    const last = rows.at(-1)
    if (last === undefined) return
    for (;;) {
      try {
        await this.#metadata.log.commitWalObjects(this.#node, rows, this.#attempt)
        return
      } catch (error) {
        if (!(error instanceof MetadataUnavailableError)) throw error
        this.#onProblem('the database did not answer a commit: appends wait until it does', error)
      }
      const happened = await this.#settled(last.sequence)
      this.#attempt += 1
      if (happened) return
    }
  }

  async #settled(sequence: number): Promise<boolean> {
    for (;;) {
      if (this.#closed)
        throw new AppendFailedError('the WAL was closed before the database told whether it is committed')
      try {
        return await this.#metadata.log.settleWalCommit(this.#node, sequence, this.#attempt)
      } catch (error) {
        if (!(error instanceof MetadataUnavailableError)) throw error
        await new Promise<void>((resume) => this.#clock.after(outcomeRetryMs, resume))
      }
    }
  }

  #failAll(error: Error): void {
    const failed = this.#queue
    this.#queue = []
    const reason = error instanceof FencedError ? error : new AppendFailedError(error.message, { cause: error })
    this.#failure = reason
    for (const upload of failed) {
      upload.abort.abort(reason)
      upload.reject(reason)
    }
  }
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  const pending = Symbol('pending')
  try {
    return (await Promise.race([promise, Promise.resolve(pending)])) !== pending
  } catch {
    return false // it failed: its own turn will tell
  }
}
