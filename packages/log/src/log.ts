import type { Metadata, NodeIdentity } from '@pico/metadata'
import type { ObjectStore, SegmentStore } from '@pico/storage'
import type { Clock } from './clock.ts'
import type { EntryFormat } from './entry-format.ts'
import type { LogStream, LogStreamObserver } from './log-stream.ts'
import type { SharedBelow } from './shared-below.ts'

/** Which WAL: frames in segment files (the frame is the commit), or an object per flush and a commit in SQL. */
export type WalComponents =
  | { readonly kind: 'local'; readonly store: ObjectStore & SegmentStore }
  | { readonly kind: 'shared'; readonly store: ObjectStore }

export interface LogComponents {
  /** Where data objects live. */
  readonly store: ObjectStore
  readonly wal: WalComponents
  readonly metadata: Metadata
  /** This run of this node, freshly registered: what earlier epochs left in the WAL is adopted at open. */
  readonly node: NodeIdentity
  readonly clock: Clock
  readonly format: EntryFormat
  /**
   * Whether this node, at this moment, is the one that does for all what one node has to do: retention and compaction of what nobody has
   * open, merging of objects, deletion of doomed ones. Default: it is, as the only one.
   */
  readonly leads?: () => boolean
  /** Told of what failed in the background and will be tried again: an operator wants to know. */
  readonly onProblem?: (message: string, error: unknown) => void
}

export interface Log {
  /**
   * The streams, open for this node, in the order asked for; those already open as they are (their observer stays). Unknown ids
   * come back as undefined. @throws FencedError, MetadataUnavailableError
   */
  open(
    streamIds: readonly number[],
    observe: (stream: LogStream) => LogStreamObserver,
  ): Promise<(LogStream | undefined)[]>
  /** An open stream, or undefined. */
  opened(streamId: number): LogStream | undefined
  /**
   * Gives streams up: makes what they have durable, takes it over into extents (invariant B: a stream that is open nowhere has nothing
   * un-packed), and forgets them. They are still this node's, in SQL. `stop` has to see to it that they take no appends any more; it is
   * called once nothing else is in the way, so that writers wait for as little as can be. @throws FencedError, MetadataUnavailableError
   */
  release(streamIds: readonly number[], stop?: () => Promise<void>): Promise<void>
  /**
   * Takes over what a fenced node epoch, and earlier ones of the same node, left in the WAL: no byte moves, and its streams may be
   * opened. May be repeated, and done by several nodes at once. @throws FencedError, MetadataUnavailableError
   */
  adopt(fenced: NodeIdentity): Promise<void>
  /** Reads from SQL where a stream's entries are: another node may have merged the objects they were in. @throws FencedError, MetadataUnavailableError */
  relocate(streamId: number): Promise<void>
  /** This node may serve no more: what is pending fails, nothing is accepted from then on, and `onFenced` is called. */
  fence(): void
  /** Forgets a stream that was deleted: its un-packed entries are not packed. Pending appends settle with their flush. */
  forget(streamId: number): void
  /**
   * Asked before an idle stream is dropped from memory (nothing un-packed, no append or read for `idleStreamMs`). The default is to
   * agree. Return false to keep it (somebody waits on it).
   */
  onIdle: (stream: LogStream) => boolean

  /** False when more than `unflushedBytesMax` wait to become durable: stop reading input until `whenRoom()` resolves. */
  hasRoom(): boolean
  whenRoom(): Promise<void>

  /** Streams whose state was carried over entries that an earlier run had left in the WAL, and that opening has adopted. */
  readonly adoptedStreamIds: readonly number[]

  /** Resolves when everything appended so far is settled. */
  flush(): Promise<void>
  /** Packs what is durable and un-packed into a data object: of these streams, where they are open, or everything. */
  pack(streamIds?: readonly number[]): Promise<void>
  /**
   * What a fork of an open stream that ends at `offset`, which is durable, can share with it: packs what the stream has un-packed, and
   * finds where the fork's own entries have to begin. Null when the stream is not open (any more). @throws ReadFailedError
   */
  shareBelow(streamId: number, offset: number): Promise<SharedBelow | null>
  /** One round of maintenance: retention, compaction of objects, deletion of doomed ones. Runs by itself every `maintenanceIntervalMs`. */
  maintain(): Promise<void>
  /**
   * Called in every round of maintenance, which waits for it, before idle streams are dropped: for what the user of the engine does to
   * packed entries (LogStream.replacePacked). What it throws ends the round.
   */
  onMaintenance: (signal: AbortSignal) => Promise<void>
  /** Called once when this node epoch is fenced. The log accepts nothing from then on. */
  onFenced: () => void
  readonly stats: LogStats
  /** Flushes, adopts what is un-packed, closes segments. */
  close(): Promise<void>
}

export interface LogStats {
  readonly openStreams: number
  readonly unflushedBytes: number
  readonly unpackedBytes: number
  readonly logCacheBytes: number
  readonly blockCacheBytes: number
  readonly flushes: number
  readonly flushedBytes: number
  readonly failedFlushes: number
  readonly packs: number
  readonly compactions: number
  readonly deletedObjects: number
}
