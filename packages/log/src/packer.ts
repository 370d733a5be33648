import { FencedError, type NewExtent, type NewObject, type PackCommit, type StreamState } from '@pico/metadata'
import { type DataObjectBuilder, type LentBytes, type StreamSlice, WAL_FRAME_HEADER_BYTES } from '@pico/storage'
import { addPacked } from './extent-switch.ts'
import type { Flush } from './flush.ts'
import { pieces } from './gather.ts'
import type { LogComponents } from './log.ts'
import { chunkBytes, putDataObject } from './new-data-object.ts'
import type { OpenStream } from './open-stream.ts'
import type { Run } from './run.ts'
import type { LogSettings } from './settings.ts'
import type { StoredEntries } from './stored-entries.ts'
import { foldStates } from './stream-states.ts'
import { untilAnswered } from './until-answered.ts'
import type { FrameLocation, Wal, WalUnit } from './wal.ts'

const retryMs = 1000
/** How long a pack that is under way may take at the end: longer, and what it would have moved is adopted. */
const lastPackMs = 2000

/** In packs: what is behind while one is under way, and no more than that. */
const keepingUp = 1.25
/** A pack that gathers in less time is not long ahead of the next: without haste it would leave a crash twice as much to recover. */
const briskMs = 4000

interface Frame {
  readonly unit: WalUnit
  readonly runs: readonly Run[]
  readonly lengthBytes: number
  readonly addedMs: number
}

interface PackerParts {
  readonly wal: Wal
  readonly stored: StoredEntries
  readonly stream: (streamId: number) => OpenStream | undefined
  readonly onFenced: (error: FencedError) => void
  /** Fewer bytes are behind. */
  readonly onProgress: () => void
}

/**
 * Moves committed entries out of the WAL: by packing (their bytes are copied, stream by stream, into a data object), or at the end
 * by adopting (extents point into the WAL itself, and no byte moves).
 */
export class Packer {
  packs = 0
  unpackedBytes = 0
  /** Of those, what a pack under way has in its object already. */
  #takenBytes = 0
  #unpackedRuns = 0
  readonly #components: LogComponents
  readonly #settings: LogSettings
  readonly #parts: PackerParts
  /** Committed and un-packed, in order. */
  #frames: Frame[] = []
  #packing: Promise<void> | null = null
  /** The oldest frames, so many, are to be packed by the round under way. */
  #framesDue = 0
  /** Packs, of everything or of one stream, come one after the other. */
  #lastTurn: Promise<unknown> = Promise.resolve()
  /** Under way, and waiting for it. */
  #turns = 0
  #cancelTimer: (() => void) | null = null
  /** The last round has; the next one waits for its time. */
  #hasFailed = false
  #stopped = false
  readonly #givenUp = new AbortController()
  /** All packed but still being filled when last looked at: their rows stay until they are complete. */
  #lingering: WalUnit[] = []
  /** Packed, their rows ended, but perhaps still read by somebody. */
  #unreleased: WalUnit[] = []

  constructor(components: LogComponents, settings: LogSettings, parts: PackerParts) {
    this.#components = components
    this.#settings = settings
    this.#parts = parts
  }

  /** Takes in a flush that has just been committed. */
  add(flush: Flush, location: FrameLocation): void {
    const bodyAt = location.position + WAL_FRAME_HEADER_BYTES
    for (const run of flush.runs) {
      run.walKey = location.key
      run.walPosition = bodyAt + run.bodyPosition
    }
    const addedMs = this.#components.clock.nowMs()
    this.#frames.push({ unit: location.unit, runs: flush.runs, lengthBytes: flush.lengthBytes, addedMs })
    this.unpackedBytes += flush.lengthBytes
    this.#unpackedRuns += flush.runs.length
    this.#schedule()
  }

  /** Packs everything committed so far. */
  pack(): Promise<void> {
    return this.#packFrames(this.#frames.length)
  }

  /** Packs the oldest frames, so many. Concurrent calls share one round of packs. */
  #packFrames(count: number): Promise<void> {
    this.#framesDue = Math.max(this.#framesDue, count)
    this.#packing ??= this.#packInParts().finally(() => {
      this.#packing = null
      this.#framesDue = 0
    })
    return this.#packing
  }

  /** A part at a time: a pack of all that has fallen behind would keep its WAL until the last of it is packed, and others waiting. */
  async #packInParts(): Promise<void> {
    do {
      const packed = await this.#inTurn(() => this.#packNow())
      this.#framesDue -= packed
    } while (this.#framesDue > 0 && !this.#stopped)
  }

  /** Packs what these streams have committed so far, and leaves the rest where it is. */
  packStreams(streamIds: readonly number[]): Promise<void> {
    return this.#inTurn(async () => {
      const streams = streamIds.flatMap((streamId) => this.#parts.stream(streamId) ?? [])
      const runs = unpackedRunsOf(streams)
      if (runs.length > 0) await this.#packRuns(runs)
    })
  }

  async #packRuns(runs: readonly Run[]): Promise<void> {
    const { object, slices } = await this.#write(runs, () => false)
    const extents = slices.map((slice) => extentOf(slice, object.objectId))
    await this.#commit({ objects: [object], extents, runs, units: [] })
    this.#switchOver(runs, { object, slices })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelLater()
    const giveUp = () => this.#givenUp.abort(new Error('the log is closing'))
    const cancel = this.#components.clock.after(lastPackMs, giveUp)
    await this.#lastTurn.finally(cancel) // what failed, whoever asked for it was told; adoptRest() takes over whatever could not be packed
  }

  /** Empties the WAL of these streams, which take no appends any more once `stop` has resolved, and leaves the rest where it is. */
  emptyWalOf(streams: readonly OpenStream[], stop: () => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      await stop()
      const runs = unpackedRunsOf(streams)
      if (runs.length === 0) return
      if (this.#components.wal.kind === 'local') await this.#packRuns(runs)
      else await this.#adopt(runs, [])
      for (const run of runs) run.packed = true
    })
  }

  /** At the end: extents into the WAL for what is left. */
  async adoptRest(): Promise<void> {
    const units = [...new Set(this.#frames.map((frame) => frame.unit))]
    const packedUnits = this.#lingering.filter((unit) => !units.includes(unit))
    if (units.length + packedUnits.length === 0) return
    await this.#adopt(this.#liveRuns(this.#frames), [...packedUnits, ...units])
    this.#frames = []
    this.unpackedBytes = 0
    this.#unpackedRuns = 0
  }

  /** Extents into the WAL itself for these runs, and an end to the rows of `units`, of which nothing else is left. */
  async #adopt(runs: readonly Run[], units: readonly WalUnit[]): Promise<void> {
    const places = new Map([...units, ...this.#frames.map((frame) => frame.unit)].map((unit) => [unit.key, unit]))
    const keys = [...new Set(runs.map(walKeyOf))]
    const firstId = keys.length > 0 ? await this.#components.metadata.nodes.reserve('objectId', keys.length) : 0
    const objectIds = new Map(keys.map((key, i) => [key, firstId + i]))
    const objects = keys.map((key, i) => {
      const unit = places.get(key)
      if (unit === undefined) throw new Error('a committed run has no place in the WAL')
      return { objectId: firstId + i, key, lengthBytes: unit.lengthBytes }
    })
    const extents = runs.map((run): NewExtent => {
      const { streamId, baseOffset, endOffset, lengthBytes, maxTimestampMs, crc32c, walPosition: position } = run
      const objectId = objectIds.get(walKeyOf(run)) ?? 0
      return { streamId, baseOffset, endOffset, objectId, position, lengthBytes, maxTimestampMs, crc32c }
    })
    await this.#commit({ objects, extents, runs, units })
  }

  /** Un-packed bytes that no pack has come to yet. */
  get behindBytes(): number {
    return this.unpackedBytes - this.#takenBytes
  }

  /** While packing keeps up, and nothing waits for its turn, it leaves the disk to those who append. */
  #isUnhurried(gatheredMs: number): boolean {
    const { packBytes, unpackedBytesMax } = this.#settings
    if (this.#stopped || this.#turns > 1 || gatheredMs < briskMs) return false
    return this.behindBytes <= Math.min(keepingUp * packBytes, unpackedBytesMax / 2)
  }

  get #isPackDue(): boolean {
    return this.unpackedBytes >= this.#settings.packBytes || this.#unpackedRuns >= this.#settings.packRuns
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#turns += 1
    const turn = this.#lastTurn.then(work).finally(() => {
      this.#turns -= 1
      this.#takenBytes = 0
    })
    this.#lastTurn = turn.catch(() => undefined)
    return turn
  }

  /** One pack as soon as there is enough for it, and one of everything when the oldest has waited for long. */
  #schedule(): void {
    if (this.#isPackDue && this.#packing === null && !this.#hasFailed) this.#packSoon(this.#wholePack(this.#frames))
    else if (this.#frames.length > 0) this.#packLater(this.#settings.packIntervalMs)
  }

  #packLater(delayMs: number): void {
    if (this.#stopped) return
    this.#cancelTimer ??= this.#components.clock.after(delayMs, () => this.#packSoon(this.#frames.length))
  }

  #cancelLater(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  #packSoon(frames: number): void {
    this.#cancelLater()
    this.#hasFailed = false
    this.#packFrames(frames).then(
      () => this.#schedule(),
      (error: unknown) => {
        if (error instanceof FencedError) this.#parts.onFenced(error)
        else if (!this.#givenUp.signal.aborted) {
          this.#components.onProblem?.('packing failed and will be tried again', error)
          this.#hasFailed = true
          this.#cancelLater()
          this.#packLater(retryMs)
        }
      },
    )
  }

  /** Packs the oldest of the frames that are due, as many as make up a pack, and says how many. */
  async #packNow(): Promise<number> {
    const due = this.#frames.slice(0, this.#framesDue)
    const frames = due.slice(0, this.#wholePack(due))
    if (frames.length > 0) {
      const runs = this.#liveRuns(frames)
      const gatheredMs = (frames.at(-1)?.addedMs ?? 0) - (frames[0]?.addedMs ?? 0)
      const object = runs.length > 0 ? await this.#write(runs, () => this.#isUnhurried(gatheredMs)) : null
      const { finished, lingering } = this.#unitsOf(frames)
      await this.#commit({
        objects: object === null ? [] : [object.object],
        extents: object?.slices.map((slice) => extentOf(slice, object.object.objectId)) ?? [],
        runs,
        units: finished,
      })
      this.#lingering = lingering
      this.#frames = this.#frames.slice(frames.length)
      for (const frame of frames) {
        this.unpackedBytes -= frame.lengthBytes
        this.#unpackedRuns -= frame.runs.length
      }
      if (object !== null) this.#switchOver(runs, object)
      this.packs += 1
      this.#parts.onProgress()
    }
    this.#releaseUnread()
    return frames.length
  }

  /** How many of these make up a pack: all, where they are too few for one. */
  #wholePack(frames: readonly Frame[]): number {
    let bytes = 0
    let runs = 0
    const last = frames.findIndex((frame) => {
      bytes += frame.lengthBytes
      runs += frame.runs.length
      return bytes >= this.#settings.packBytes || runs >= this.#settings.packRuns
    })
    return last === -1 ? frames.length : last + 1
  }

  /** Runs that are not packed yet, of streams that are still there, by stream, then offset. */
  #liveRuns(frames: readonly Frame[]): Run[] {
    const isWanted = (run: Run) => !run.packed && this.#parts.stream(run.streamId) !== undefined
    const runs = frames.flatMap((frame) => frame.runs.filter(isWanted))
    return runs.sort(byStreamAndOffset)
  }

  /** Units whose every frame is among these: those that get no more of them, and those that may. */
  #unitsOf(frames: readonly Frame[]): { finished: WalUnit[]; lingering: WalUnit[] } {
    const later = new Set(this.#frames.slice(frames.length).map((frame) => frame.unit))
    const units = new Set([...this.#lingering, ...frames.map((frame) => frame.unit)])
    const whole = [...units].filter((unit) => !later.has(unit))
    const finished = whole.filter((unit) => this.#parts.wal.isComplete(unit))
    return { finished, lingering: whole.filter((unit) => !finished.includes(unit)) }
  }

  /**
   * A pack can be larger than the log cache, and may take long to be put: its runs are held one at a time, and what has left the cache
   * meanwhile is read back from the WAL. From a shared one that would be a GET each, slower than they were written: there all are held.
   */
  async #write(
    runs: readonly Run[],
    unhurried: () => boolean,
  ): Promise<{ object: NewObject; slices: readonly StreamSlice[] }> {
    const held = new Map<Run, LentBytes>()
    for (const run of this.#components.wal.kind === 'shared' ? runs : []) {
      const lent = run.lend()
      if (lent !== null) held.set(run, lent)
    }
    try {
      return await putDataObject(this.#components, (builder) => this.#body(runs, held, builder), {
        signal: this.#givenUp.signal,
        unhurried,
      })
    } finally {
      for (const { memory } of held.values()) memory.release()
    }
  }

  async *#body(
    runs: readonly Run[],
    held: Map<Run, LentBytes>,
    builder: DataObjectBuilder,
  ): AsyncGenerator<Uint8Array> {
    let fetched: Uint8Array = new Uint8Array(0)
    for (const run of runs) {
      const lent = held.get(run) ?? run.lend()
      held.delete(run)
      try {
        if (lent === null && fetched.length < run.lengthBytes) fetched = Buffer.allocUnsafeSlow(run.lengthBytes)
        const bytes = lent?.bytes ?? (await this.#fetch(run, fetched.subarray(0, run.lengthBytes)))
        for (const piece of pieces(this.#components.format, run.streamId, bytes, chunkBytes)) builder.add(piece)
        yield bytes
        this.#takenBytes += run.lengthBytes
        this.#parts.onProgress()
      } finally {
        lent?.memory.release()
      }
    }
    yield* builder.finish()
  }

  #fetch(run: Run, into: Uint8Array): Promise<Uint8Array> {
    return this.#parts.stored.fetchRun(run, this.#components.wal.store, { into })
  }

  async #commit(taken: {
    objects: readonly NewObject[]
    extents: readonly NewExtent[]
    runs: readonly Run[]
    units: readonly WalUnit[]
  }): Promise<void> {
    const { metadata, node, clock } = this.#components
    const states: StreamState[] = await foldStates(this.#components, taken.runs)
    const pack: PackCommit = {
      objects: taken.objects,
      extents: taken.extents,
      states,
      walObjects: taken.units.flatMap(({ row }) => ('walObject' in row ? [{ node, sequence: row.walObject }] : [])),
      walSegments: taken.units.flatMap(({ row }) => ('walSegment' in row ? [row.walSegment] : [])),
    }
    // Another pack of the same entries would not continue one that happened after all.
    await untilAnswered(
      clock,
      () => this.#stopped,
      () => metadata.log.commitPack(node, pack, clock.nowMs()),
    )
    this.#unreleased.push(...taken.units.filter((unit) => !taken.objects.some((object) => object.key === unit.key)))
  }

  /** Readers find the packed runs by extents from now on, once they are out of memory. */
  #switchOver(runs: readonly Run[], packed: { object: NewObject; slices: readonly StreamSlice[] }): void {
    for (const slice of packed.slices) {
      const { object } = packed
      const stream = this.#parts.stream(slice.streamId)
      if (stream === undefined) continue
      addPacked(stream, {
        ...extentOf(slice, object.objectId),
        objectKey: object.key,
        objectBytes: object.lengthBytes,
        objectStreamId: slice.streamId,
      })
    }
    const touched = new Set<OpenStream>()
    for (const run of runs) {
      run.packed = true
      run.forgetSummaries()
      const stream = this.#parts.stream(run.streamId)
      if (stream === undefined) continue
      stream.unpackedRuns -= 1
      touched.add(stream)
    }
    for (const stream of touched) stream.dropStaleRuns()
  }

  #releaseUnread(): void {
    const { stored, wal } = this.#parts
    for (const unit of this.#unreleased) stored.drop(unit.key)
    const unread = this.#unreleased.filter((unit) => !stored.isRead(unit.key))
    this.#unreleased = this.#unreleased.filter((unit) => stored.isRead(unit.key))
    for (const unit of unread) wal.release(unit)
  }
}

function unpackedRunsOf(streams: readonly OpenStream[]): Run[] {
  return streams.flatMap((stream) => stream.runs.filter((run) => !run.packed)).sort(byStreamAndOffset)
}

function byStreamAndOffset(a: Run, b: Run): number {
  return a.streamId - b.streamId || a.baseOffset - b.baseOffset
}

function walKeyOf(run: Run): string {
  if (run.walKey === null) throw new Error('a committed run has no place in the WAL')
  return run.walKey
}

function extentOf(slice: StreamSlice, objectId: number): NewExtent {
  const { streamId, baseOffset, endOffset, position, lengthBytes, maxTimestampMs } = slice
  return { streamId, baseOffset, endOffset, objectId, position, lengthBytes, maxTimestampMs, crc32c: null }
}
