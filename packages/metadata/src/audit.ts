import type { NodeIdentity } from './node-registry.ts'
import type { StreamLife } from './stream-catalog.ts'

/** An object key that a row names, and why it does. Each as of one moment. */
export interface KnownObject {
  readonly key: string
  /** Extents point into it, or should. */
  readonly data: KnownDataObject | null
  /** Un-packed entries are in it. */
  readonly wal:
    | { readonly kind: 'object'; readonly node: NodeIdentity; readonly sequence: number; readonly lengthBytes: number }
    | {
        readonly kind: 'segment'
        readonly node: NodeIdentity
        readonly segmentId: number
        readonly sizeBytes: number
        readonly committedBytes: number | null
      }
    | null
  /**
   * When it was doomed; ahead of now: when its announced upload is due. Void beside `data` and `wal`: a commit of a WAL object leaves
   * an announcement in place.
   */
  readonly doomedAtMs: number | null
}

export interface KnownDataObject {
  readonly objectId: number
  readonly lengthBytes: number
  /** As the object's own row counts them. */
  readonly counted: { readonly extents: number; readonly bytes: number }
  /** As they are. */
  readonly extents: number
  readonly liveBytes: number
  /** Where the last of them ends in the object; 0 without any. */
  readonly usedBytes: number
}

/** What the rows of a stream say of one another, as of one moment. */
export interface StreamAudit {
  readonly streamId: number
  readonly name: string
  readonly life: StreamLife
  readonly startOffset: number
  readonly packedOffset: number
  /** As the stream's own row counts them. */
  readonly packedBytes: number
  readonly extents: number
  readonly extentBytes: number
  /** Of the first and the last extent; null without any. */
  readonly baseOffset: number | null
  readonly endOffset: number | null
  /** Base offset of the first extent that does not begin where the one before it ends. */
  readonly firstGap: number | null
  /** Of the first one that is empty, or lies nowhere. */
  readonly firstMalformed: number | null
  /** Of the first one whose object has no row. */
  readonly firstWithoutObject: number | null
  /** Of the first one that ends past the end of its object. */
  readonly firstOutside: number | null
  readonly leaderEpochs: number
  readonly states: number
}

/** Rows of a stream that has none itself. */
export interface LeftoverRows {
  readonly table: 'extents' | 'stream_epochs' | 'stream_states' | 'transfers'
  readonly streamId: number
  readonly rows: number
}

/**
 * All that the database knows, page by page, for whoever proves that it agrees with itself and with the bucket. Reads only, and
 * judges nothing. Every answer is of one moment; two answers are of two.
 */
export interface Audit {
  /** In byte order of keys, after `after`. */
  objects(page: { after: string; limit: number }): Promise<KnownObject[]>
  /** Those of `keys` that any row names, in byte order. */
  objectsByKey(keys: readonly string[]): Promise<KnownObject[]>
  /** By id, after `afterStreamId`; also those that are 'creating' or 'gone'. */
  streams(page: { afterStreamId: number; limit: number }): Promise<StreamAudit[]>
  leftovers(limit: number): Promise<LeftoverRows[]>
}
