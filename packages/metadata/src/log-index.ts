import type { NodeIdentity } from './node-registry.ts'

/** Where a stream's offsets `[baseOffset, endOffset)` lie: contiguous bytes of one object. */
export interface Extent {
  readonly streamId: number
  readonly baseOffset: number
  readonly endOffset: number
  readonly objectId: number
  readonly objectKey: string
  readonly objectBytes: number
  readonly position: number
  readonly lengthBytes: number
  readonly maxTimestampMs: number
  /** CRC-32C of the extent's bytes when it points into a WAL object or segment; null for a data object, whose footer has them. */
  readonly crc32c: number | null
  /** The stream under whose id a data object holds the bytes: of a fork's extents its source, or the source of that. */
  readonly objectStreamId: number
}

/** Entries are written under their own stream's id: only a fork takes over extents of another. */
export type NewExtent = Omit<Extent, 'objectKey' | 'objectBytes' | 'objectStreamId'>

export interface NewObject {
  readonly objectId: number
  readonly key: string
  readonly lengthBytes: number
}

export interface WalObjectRow {
  readonly node: NodeIdentity
  readonly sequence: number
  readonly key: string
  readonly lengthBytes: number
  /** The object's footer, byte for byte: nothing has to read an object to know what is in it. */
  readonly index: Uint8Array
}

export interface WalSegmentRow {
  readonly node: NodeIdentity
  readonly segmentId: number
  readonly key: string
  readonly sizeBytes: number
  /** Set when the segment was closed after a failed write or in good order: nothing past it is ever read. */
  readonly committedBytes: number | null
}

export interface StreamState {
  readonly streamId: number
  readonly state: Uint8Array
}

/** What a pack (bytes copied into a data object) and an adoption (extents that point into the WAL itself) have in common. */
export interface PackCommit {
  /** An object whose key is there already (a WAL object adopted one stream at a time) keeps the id it has. */
  readonly objects: readonly NewObject[]
  /** Ascending per stream, continuing its packedOffset. */
  readonly extents: readonly NewExtent[]
  /** State of each stream as of the end of its extents here; a state of a stream without extents here is a bug (assert). */
  readonly states: readonly StreamState[]
  /** WAL objects whose rows end here. Their keys are doomed unless they are among `objects`. */
  readonly walObjects: readonly { readonly node: NodeIdentity; readonly sequence: number }[]
  /** WAL segments whose rows end here; likewise. */
  readonly walSegments: readonly number[]
}

export interface DoomedObject {
  readonly key: string
  readonly doomedAtMs: number
}

export interface ObjectSummary {
  readonly objectId: number
  readonly key: string
  readonly lengthBytes: number
  /** Bytes that extents still point to. */
  readonly liveBytes: number
  readonly extents: number
}

export interface LogIndex {
  /**
   * Commits uploaded WAL objects, in sequence order: one update that advances the node's WAL sequence where its epoch is the
   * current one and not fenced, and one insert. Its cost does not depend on how many streams are in them.
   * @param attempt 0, and one more after every `settleWalCommit`
   * @throws FencedError when nothing advanced. The sequences must continue the last committed one (1 for a new epoch).
   */
  commitWalObjects(node: NodeIdentity, objects: readonly Omit<WalObjectRow, 'node'>[], attempt?: number): Promise<void>
  /**
   * Resolves a commit of unknown outcome, made with `attempt`: whether the object of that sequence was committed. If it was not, it
   * never will be, even if the commit is still on its way: from now on the node's commits are those of the next attempt. May be repeated.
   */
  settleWalCommit(node: NodeIdentity, sequence: number, attempt: number): Promise<boolean>
  /** Committed, un-packed WAL objects of every epoch of the node, by epoch and sequence. */
  walObjects(nodeId: number): Promise<WalObjectRow[]>

  /** Fenced node epochs that have WAL objects or segments left: somebody has to adopt them. */
  unadoptedNodes(): Promise<NodeIdentity[]>

  /** Records a segment before its first frame. Idempotent for the same segment. @throws FencedError */
  createWalSegment(node: NodeIdentity, segment: Omit<WalSegmentRow, 'node' | 'committedBytes'>): Promise<void>
  /** Records where a segment ends. Idempotent for the same length; a different one is a bug. @throws FencedError */
  closeWalSegment(node: NodeIdentity, segmentId: number, committedBytes: number): Promise<void>
  /** Un-packed segments of every epoch of the node, by id. */
  walSegments(nodeId: number): Promise<WalSegmentRow[]>

  /**
   * Records that an object is about to be uploaded: if no commit names the key before `dueAtMs`, it is doomed like any other.
   * A commit that names the key takes the mark away. Every object but those of the WAL has to be announced: a commit that names one
   * that is not, or is overdue by then, is refused. Announcing again moves the time, which is safe only before it has come.
   */
  announceUpload(key: string, dueAtMs: number): Promise<void>
  /**
   * Takes un-packed entries over into extents. Entries of streams that are gone, or that another node has open (its current epoch
   * owns them), are left out, and the ids of those streams returned. Left out too are extents below a stream's packedOffset (taken
   * with an earlier transfer or pack, or by this very call when it is repeated), and those below its trim watermark, which still
   * move packedOffset. A gap after packedOffset is a bug (assert), unless all of it is trimmed; so is releasing the WAL of another
   * node that is not fenced. An object that no extent ended up pointing into is doomed at once.
   * @throws FencedError; UploadExpiredError when a data object was not announced, or is overdue at `nowMs`.
   */
  commitPack(node: NodeIdentity, pack: PackCommit, nowMs: number): Promise<{ skippedStreamIds: number[] }>

  /** States as of packedOffset, of those streams that have one. */
  streamStates(streamIds: readonly number[]): Promise<StreamState[]>
  packedOffsets(streamIds: readonly number[]): Promise<{ streamId: number; packedOffset: number }[]>

  /** Objects worth merging: those with at most `maxBytes` live bytes (small or thinly used, it makes no difference), least first. */
  compactionCandidates(limits: { maxBytes: number; limit: number }): Promise<ObjectSummary[]>
  extentsOfObject(objectId: number): Promise<Extent[]>
  /**
   * Replaces the extents of `replaced` objects by those of `object`, whose bytes are the same entries. Each new extent must cover
   * exactly a run of consecutive replaced ones of its stream; it is left out where its stream is gone, and where any of the ones it
   * replaces is gone because of a trim, it starts later: give extents cut so that every replaced extent's base is a legal cut (`cuts`).
   * Dooms the replaced objects, but for those with extents that no new one covers, which stay. May be repeated.
   * @throws FencedError; UploadExpiredError when the new object was not announced, or is overdue at `nowMs`.
   */
  commitCompaction(node: NodeIdentity, compaction: Compaction, nowMs: number): Promise<void>

  /**
   * Puts one extent in the place of consecutive ones of its stream, with other bytes for the same offsets, and dooms what nothing points
   * into any more. False when they are not what they were (trimmed, merged): then the new object is doomed. May be repeated.
   * @throws FencedError; StreamNotOwnedError when `node` is not the owner; UploadExpiredError when the object was not announced, or is overdue at `nowMs`.
   */
  replaceExtents(node: NodeIdentity, replacement: ExtentReplacement, nowMs: number): Promise<boolean>

  /** Doomed at or before `beforeMs`, oldest first. */
  doomed(beforeMs: number, limit: number): Promise<DoomedObject[]>
  /** To be called after their bytes are gone. */
  forgetDoomed(keys: readonly string[]): Promise<void>
  /** Whether any row (object, WAL, doomed) knows the key. */
  knownKeys(keys: readonly string[]): Promise<Set<string>>
  /** Number and bytes of the objects that extents point into; number of doomed keys, announced uploads included. */
  totals(): Promise<{ objects: number; lengthBytes: number; doomed: number }>
}

export interface ExtentReplacement {
  readonly object: NewObject
  /** From the base of the first replaced extent to the end of the last. */
  readonly extent: NewExtent
  /** In order. */
  readonly replaced: readonly Pick<Extent, 'baseOffset' | 'endOffset' | 'objectId'>[]
}

export interface Compaction {
  readonly object: NewObject
  readonly replaced: readonly number[]
  readonly extents: readonly (NewExtent & {
    /** The replaced extents it covers, in order: base offset and where its bytes begin in the new object. */
    readonly cuts: readonly { readonly baseOffset: number; readonly position: number }[]
  })[]
}
