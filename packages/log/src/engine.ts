import { strict as assert } from 'node:assert'
import { type Extent, FencedError, type NodeIdentity } from '@pico/metadata'
import { ObjectMissingError } from '@pico/storage'
import { type AdoptedWal, adoptWalOf } from './adopt.ts'
import { AppendFailedError, LogClosedError } from './errors.ts'
import { extentBytes } from './extent-bytes.ts'
import { switchToRead } from './extent-switch.ts'
import { Flush } from './flush.ts'
import type { Log, LogComponents, LogStats } from './log.ts'
import { LogCache, type Slab } from './log-cache.ts'
import type { Appended, LogStream, LogStreamObserver, NewEntry } from './log-stream.ts'
import { type Maintenance, startMaintenance } from './maintenance.ts'
import { OpenStream, type StreamEngine } from './open-stream.ts'
import { Packer } from './packer.ts'
import { replacePacked } from './replace-packed.ts'
import type { LogSettings } from './settings.ts'
import { type SharedBelow, sharedBelow } from './shared-below.ts'
import type { StoredEntries } from './stored-entries.ts'
import { untilAnswered } from './until-answered.ts'
import type { FrameLocation, Wal } from './wal.ts'

/**
 * What makes a flush worth writing beside others. A write and what follows from it cost a quarter of a millisecond of CPU: what is
 * smaller is gathered until the one before it is done, which is as quick and spares the CPU for those who have much to write.
 */
const worthwhileBytes = 32 * 1024
/** But not for so long: a write that takes longer than most is not waited for. */
const gatherMs = 2

/** Whoever wrote to a stream that has moved here has waited already: its first flush is so long after the one before, where that is sooner. */
const movedFlushIntervalMs = 50

/**
 * The engine: appends are copied into a forming flush; flushes are sealed, made durable by the WAL, and settled in order; what is
 * settled is packed later. All of it on one thread, so an append needs no lock and no queue.
 */
export class LogEngine implements Log, StreamEngine {
  onIdle: (stream: LogStream) => boolean = () => true
  onFenced: () => void = () => undefined
  onMaintenance: (signal: AbortSignal) => Promise<void> = async () => undefined
  readonly stored: StoredEntries
  readonly adoptedStreamIds: readonly number[]
  readonly #components: LogComponents
  readonly #settings: LogSettings
  readonly #wal: Wal
  readonly #cache: LogCache
  readonly #packer: Packer
  readonly #maintenance: Maintenance
  readonly #streams = new Map<number, OpenStream>()
  readonly #opening = new Map<number, Promise<OpenStream | undefined>>()
  #forming: Flush | null = null
  /** Sealed, waiting for the WAL, in order. */
  #sealed: Flush[] = []
  /** Given to the WAL, in order. */
  #inFlight: Flush[] = []
  #sealDue = false
  #lastSealMs = Number.NEGATIVE_INFINITY
  /** The forming flush has the first entry of a stream that has moved here. */
  #holdsMoved = false
  #cancelSealTimer: (() => void) | null = null
  #unflushedBytes = 0
  #roomWaiters: (() => void)[] = []
  #state: 'open' | 'fenced' | 'closed' = 'open'
  /** The last flush failed, and that was reported: the next success ends it. */
  #isFailing = false
  readonly #counts = { flushes: 0, flushedBytes: 0, failedFlushes: 0 }

  constructor(
    components: LogComponents,
    settings: LogSettings,
    parts: { wal: Wal; stored: StoredEntries; adopted: AdoptedWal },
  ) {
    this.#components = components
    this.#settings = settings
    this.#wal = parts.wal
    this.stored = parts.stored
    this.adoptedStreamIds = parts.adopted.statefulStreamIds
    this.#cache = new LogCache(settings.logCacheBytes, (slab) => this.#evicted(slab))
    this.#packer = new Packer(components, settings, {
      wal: parts.wal,
      stored: parts.stored,
      stream: (streamId) => this.#streams.get(streamId),
      onFenced: (error) => this.#fence(error),
      onProgress: () => this.#wakeIfRoom(),
    })
    this.#maintenance = startMaintenance(components, settings, {
      stored: parts.stored,
      streams: this.#streams,
      trim: (streamId, offset) => this.#trimById(streamId, offset),
      onMaintenance: (signal) => this.onMaintenance(signal),
      dropIdle: () => this.#dropIdle(),
      onFenced: (error) => this.#fence(error),
    })
  }

  async open(
    streamIds: readonly number[],
    observe: (stream: LogStream) => LogStreamObserver,
  ): Promise<(LogStream | undefined)[]> {
    this.#assertOpen()
    const unknown = streamIds.filter((id) => !this.#streams.has(id) && !this.#opening.has(id))
    if (unknown.length > 0) {
      const opened = this.#openNow([...new Set(unknown)], observe)
      for (const id of unknown) {
        this.#opening.set(
          id,
          opened.then((streams) => streams.get(id)),
        )
      }
    }
    return Promise.all(streamIds.map((id) => this.#streams.get(id) ?? this.#opening.get(id)))
  }

  opened(streamId: number): LogStream | undefined {
    return this.#streams.get(streamId)
  }

  forget(streamId: number): void {
    this.#streams.delete(streamId)
  }

  async release(streamIds: readonly number[], stop = async () => undefined): Promise<void> {
    this.#assertOpen()
    const streams = streamIds.flatMap((streamId) => this.#streams.get(streamId) ?? [])
    if (streams.length === 0) return
    const emptied = this.#packer.emptyWalOf(streams, async () => {
      await stop()
      if (streams.some((stream) => stream.nextOffset !== stream.committedOffset)) await this.flush()
    })
    await this.#guarded(emptied)
    for (const stream of streams) this.#streams.delete(stream.streamId)
  }

  async adopt(fenced: NodeIdentity): Promise<void> {
    this.#assertOpen()
    await this.#guarded(adoptWalOf(this.#components, fenced))
  }

  async relocate(streamId: number): Promise<void> {
    const { metadata, node } = this.#components
    const [read] = await this.#guarded(metadata.streams.open(node, [streamId]))
    const stream = this.#streams.get(streamId)
    if (stream !== undefined && read !== undefined) switchToRead(stream, read.extents)
  }

  fence(): void {
    const { nodeId, nodeEpoch } = this.#components.node
    this.#fence(new FencedError(nodeId, nodeEpoch))
  }

  append(stream: OpenStream, entry: NewEntry): Appended {
    this.#assertOpen()
    const lengthBytes = entry.bytes.length
    if (this.#forming !== null && this.#forming.lengthBytes + lengthBytes > this.#settings.flushBytesMax) this.#seal()
    this.#forming ??= new Flush()
    const flush = this.#forming
    const baseOffset = stream.nextOffset
    stream.nextOffset += entry.count
    const bytes = flush.add(stream.streamId, baseOffset, this.#cache.reserve(lengthBytes), entry)
    this.#unflushedBytes += lengthBytes
    if (stream.hasJustMoved) {
      stream.hasJustMoved = false
      this.#holdsMoved = true
      this.#cancelSealTimer?.()
      this.#cancelSealTimer = null
    }
    this.#scheduleSeal()
    return { baseOffset, bytes, committed: flush.committed }
  }

  async trim(stream: OpenStream, offset: number): Promise<number> {
    this.#assertOpen()
    const { metadata, node, clock } = this.#components
    const target = Math.min(offset, stream.committedOffset)
    if (target <= stream.startOffset) return stream.startOffset
    const inForce = await this.#guarded(
      untilAnswered(
        clock,
        () => this.#state !== 'open',
        () => metadata.streams.trim(node, stream.streamId, target, clock.nowMs()),
      ),
    )
    stream.startOffset = Math.max(stream.startOffset, inForce ?? target)
    stream.extents = stream.extents.filter((extent) => extent.endOffset > stream.startOffset)
    return stream.startOffset
  }

  async *readPacked(extent: Extent, signal: AbortSignal): AsyncIterable<Uint8Array> {
    try {
      yield* extentBytes(this.#components, this.stored, extent, signal)
    } catch (error) {
      // Another node has merged the object with others: whoever reads the stream's extents next finds it.
      if (error instanceof ObjectMissingError) await this.relocate(extent.streamId)
      throw error
    }
  }

  replacePacked(
    stream: OpenStream,
    replaced: readonly Extent[],
    entries: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<boolean> {
    this.#assertOpen()
    const isOver = () => this.#state !== 'open'
    const current = () => this.#streams.get(stream.streamId)
    return this.#guarded(replacePacked(this.#components, stream, replaced, entries, { signal, isOver, current }))
  }

  hasRoom(): boolean {
    return (
      this.#unflushedBytes < this.#settings.unflushedBytesMax &&
      this.#packer.behindBytes < this.#settings.unpackedBytesMax
    )
  }

  whenRoom(): Promise<void> {
    if (this.hasRoom()) return Promise.resolve()
    return new Promise((resolve) => this.#roomWaiters.push(resolve))
  }

  async flush(): Promise<void> {
    if (this.#forming !== null) this.#seal()
    const last = this.#sealed.at(-1) ?? this.#inFlight.at(-1)
    if (last === undefined) return
    await last.committed.catch(() => undefined) // whoever appended is told; here it only matters that it is settled
  }

  pack(streamIds?: readonly number[]): Promise<void> {
    return streamIds === undefined ? this.#packer.pack() : this.#packer.packStreams(streamIds)
  }

  maintain(): Promise<void> {
    return this.#maintenance.run()
  }

  async shareBelow(streamId: number, offset: number): Promise<SharedBelow | null> {
    this.#assertOpen()
    const stream = this.#streams.get(streamId)
    if (stream === undefined) return null
    assert(offset <= stream.committedOffset, 'what is durable is shared')
    await this.#guarded(this.#packer.packStreams([streamId]))
    return this.#streams.get(streamId) === stream ? sharedBelow(stream, offset, this.stored) : null
  }

  get stats(): LogStats {
    return {
      ...this.#counts,
      ...this.#maintenance.counts,
      packs: this.#packer.packs,
      openStreams: this.#streams.size,
      unflushedBytes: this.#unflushedBytes,
      unpackedBytes: this.#packer.unpackedBytes,
      logCacheBytes: this.#cache.sizeBytes,
      blockCacheBytes: this.stored.cachedBytes,
    }
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return
    const fenced = this.#state === 'fenced'
    await this.flush()
    this.#state = 'closed'
    await this.#maintenance.stop()
    await this.#packer.stop()
    await this.#wal.close()
    if (!fenced) await this.#packer.adoptRest()
    this.#wakeRoomWaiters()
  }

  nowMs(): number {
    return this.#components.clock.nowMs()
  }

  /** Seals the forming flush when it is due: an interval after the one before, or as soon as the WAL has nothing on its way. */
  #scheduleSeal(): void {
    const dueInMs = this.#sealDueInMs()
    if (dueInMs > 0) {
      this.#cancelSealTimer ??= this.#components.clock.after(dueInMs, () => this.#seal())
    } else if (!this.#sealDue && this.#maySeal()) {
      this.#sealDue = true
      this.#components.clock.soon(() => {
        this.#sealDue = false
        if (this.#maySeal()) this.#seal()
      })
    }
  }

  /** An interval spares writes that cost money; what comes after a longer silence spares none by waiting. */
  #sealDueInMs(): number {
    const configuredMs = this.#settings.flushIntervalMs
    const flushIntervalMs = this.#holdsMoved ? Math.min(movedFlushIntervalMs, configuredMs) : configuredMs
    // No longer than that, if the clock was put back.
    return Math.min(flushIntervalMs, this.#lastSealMs + flushIntervalMs - this.nowMs())
  }

  /** With an interval: when it is over. Without: at once where nothing is on its way, and beside what is where that pays, or takes long. */
  #maySeal(): boolean {
    if (this.#settings.flushIntervalMs > 0) return this.#sealDueInMs() <= 0
    const ahead = this.#inFlight.length + this.#sealed.length
    if (ahead === 0) return true
    if (ahead >= this.#wal.flushesInFlightMax) return false
    return (this.#forming?.lengthBytes ?? 0) >= worthwhileBytes || this.nowMs() - this.#lastSealMs >= gatherMs
  }

  #seal(): void {
    this.#cancelSealTimer?.()
    this.#cancelSealTimer = null
    this.#holdsMoved = false
    if (this.#forming === null) return
    this.#lastSealMs = this.nowMs()
    this.#sealed.push(this.#forming)
    this.#forming = null
    this.#writeSealed()
  }

  #writeSealed(): void {
    while (this.#inFlight.length < this.#wal.flushesInFlightMax) {
      const flush = this.#sealed.shift()
      if (flush === undefined) return
      this.#inFlight.push(flush)
      this.#wal.write(flush).then(
        (location) => this.#settle(flush, location),
        (error: unknown) => {
          if (!flush.void) this.#fail(this.#inFlight.indexOf(flush), error)
        },
      )
    }
  }

  /** The flush is durable: what it holds becomes readable, then whoever appended it is told. */
  #settle(flush: Flush, location: FrameLocation): void {
    if (flush.void) return
    this.#inFlight.shift()
    this.#release(flush)
    this.#isFailing = false
    this.#counts.flushes += 1
    this.#counts.flushedBytes += flush.lengthBytes
    this.#packer.add(flush, location)
    const moved = new Set<OpenStream>()
    for (const run of flush.runs) {
      const stream = this.#streams.get(run.streamId)
      if (stream === undefined) continue
      // Pushed to an empty array, the first one would make room for sixteen more: of most streams there is no other.
      if (stream.runs.length === 0) stream.runs = [run]
      else stream.runs.push(run)
      stream.unpackedRuns += 1
      stream.committedOffset = run.endOffset
      moved.add(stream)
    }
    for (const stream of moved) stream.observer?.committed(stream.committedOffset)
    flush.resolve()
    this.#next()
  }

  /** A flush failed, and with it all that was assigned after it: the streams go back to where they were before. */
  #fail(firstInFlight: number, error: unknown): void {
    const doomed = [...this.#inFlight.slice(firstInFlight), ...this.#sealed]
    if (this.#forming !== null) doomed.push(this.#forming)
    this.#inFlight = this.#inFlight.slice(0, firstInFlight)
    this.#sealed = []
    this.#forming = null
    this.#holdsMoved = false
    this.#cancelSealTimer?.()
    this.#cancelSealTimer = null

    const back = new Map<OpenStream, number>()
    for (const voided of doomed) {
      voided.void = true
      this.#release(voided)
      this.#counts.failedFlushes += 1
      for (const run of voided.runs) {
        const stream = this.#streams.get(run.streamId)
        if (stream !== undefined && !back.has(stream)) back.set(stream, run.baseOffset)
      }
    }
    for (const [stream, nextOffset] of back) {
      stream.nextOffset = nextOffset
      stream.observer?.rolledBack(nextOffset)
    }
    this.#wal.resume()
    const reason =
      error instanceof FencedError || error instanceof AppendFailedError
        ? error
        : new AppendFailedError(error instanceof Error ? error.message : String(error), { cause: error })
    for (const voided of doomed) voided.reject(reason)
    if (doomed.length > 0 && !this.#isFailing) {
      this.#isFailing = true
      this.#components.onProblem?.('appends fail, and those who made them are told to try again', error)
    }
    if (error instanceof FencedError) this.#fence(error)
    this.#next()
  }

  #release(flush: Flush): void {
    this.#unflushedBytes -= flush.lengthBytes
    for (const { slab, start, end } of flush.pieces) slab.unsettledBytes -= end - start
  }

  #next(): void {
    this.#writeSealed()
    if (this.#forming !== null) this.#scheduleSeal()
    this.#cache.evict()
    this.#wakeIfRoom()
  }

  #evicted(slab: Slab): void {
    const touched = new Set<OpenStream>()
    for (const run of slab.runs) {
      run.slab = null
      const stream = this.#streams.get(run.streamId)
      if (stream !== undefined) touched.add(stream)
    }
    for (const stream of touched) stream.dropStaleRuns()
  }

  async #openNow(
    streamIds: number[],
    observe: (stream: LogStream) => LogStreamObserver,
  ): Promise<Map<number, OpenStream>> {
    const { metadata, node } = this.#components
    try {
      const found = await this.#guarded(metadata.streams.open(node, streamIds))
      const streams = new Map<number, OpenStream>()
      for (const row of found) {
        const stream = new OpenStream(row, this)
        stream.observer = observe(stream)
        streams.set(row.streamId, stream)
        this.#streams.set(row.streamId, stream)
      }
      return streams
    } finally {
      for (const id of streamIds) this.#opening.delete(id)
    }
  }

  async #trimById(streamId: number, offset: number): Promise<void> {
    const { metadata, node, clock } = this.#components
    const open = this.#streams.get(streamId)
    if (open !== undefined) {
      await this.trim(open, offset)
      return
    }
    // Nobody has it open: own it for the trim, in SQL alone.
    const [row] = await this.#guarded(metadata.streams.open(node, [streamId]))
    if (row !== undefined) await this.#guarded(metadata.streams.trim(node, streamId, offset, clock.nowMs()))
  }

  #dropIdle(): void {
    const before = this.nowMs() - this.#settings.idleStreamMs
    for (const stream of this.#streams.values()) {
      const settled = stream.unpackedRuns === 0 && stream.nextOffset === stream.committedOffset
      if (settled && stream.lastUsedMs <= before && this.onIdle(stream)) this.#streams.delete(stream.streamId)
    }
  }

  async #guarded<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      if (error instanceof FencedError) this.#fence(error)
      throw error
    }
  }

  #fence(error: FencedError): void {
    if (this.#state !== 'open') return
    this.#state = 'fenced'
    this.#fail(0, error)
    this.#wakeRoomWaiters()
    this.onFenced()
  }

  #assertOpen(): void {
    if (this.#state === 'closed') throw new LogClosedError()
    if (this.#state === 'fenced') throw new FencedError(this.#components.node.nodeId, this.#components.node.nodeEpoch)
  }

  #wakeIfRoom(): void {
    if (this.#roomWaiters.length > 0 && this.hasRoom()) this.#wakeRoomWaiters()
  }

  #wakeRoomWaiters(): void {
    const waiters = this.#roomWaiters
    this.#roomWaiters = []
    for (const wake of waiters) wake()
  }
}
