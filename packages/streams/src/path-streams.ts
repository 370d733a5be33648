import type { RecordInput } from '@pico/record-batch'
import type { JudgeRecords } from './judged-appends.ts'
import type { Partition } from './partition.ts'
import type { Judgement } from './topic-schema.ts'

/**
 * Streams by their paths, for HTTP: partition 0 of every topic, and the streams that only HTTP knows (names.ts says which path is which
 * topic). Whatever was written by a Kafka client is here, and the other way round.
 */
export interface PathStreams {
  /**
   * Makes the stream, with its first records, or nothing at all: a crash on the way leaves no half of it behind. An expired stream of
   * that name counts as absent.
   */
  create(stream: NewPathStream): Promise<CreateStreamOutcome>
  /** The stream, open for append and read; synchronous when it is open already. */
  open(name: string): PathStreamAnswer | Promise<PathStreamAnswer>
  /** What HEAD and the listings tell, without opening it. */
  describe(name: string): Promise<StreamDescription | StreamMiss>
  /**
   * Those whose name begins with `prefix` and comes after `after`, in byte order of names, from an index; neither our own streams nor
   * expired or deleted ones.
   */
  list(page: { prefix: string; after: string | null; limit: number }): Promise<StreamDescription[]>
  /** What has live forks stays, for them alone, as 'gone' until the last of them goes. */
  delete(name: string): Promise<'deleted' | StreamMiss>
}

/** 'gone': deleted, but kept for its forks. */
export type StreamMiss = 'missing' | 'gone' | NotOwner

export interface NotOwner {
  readonly kind: 'not-owner'
  /** Where the owner serves HTTP, as it says itself (`--http-address`); null while nobody has the stream. */
  readonly ownerAddress: string | null
}

export type PathStreamAnswer = PathStream | StreamMiss

export interface NewPathStream {
  /** `/orders/eu`, decoded. */
  readonly name: string
  /** Kept to the letter. */
  readonly contentType: string
  /** Settings by their Kafka names: `Pico-TTL` is `retention.ms`. */
  readonly config: Readonly<Record<string, string>>
  readonly expiry: StreamExpiry
  readonly closed: boolean
  /** In one batch; may be empty. */
  readonly records: readonly RecordInput[]
  /** Of the records above, before there is anything; asked only if the settings bind a schema that records are held to. */
  readonly judge?: JudgeRecords
  readonly fork?: ForkPoint
  /** Whether what is there already is what was asked for. Called at most once; the stream there stays as it is. */
  readonly matches: (existing: StreamDescription) => boolean
}

/** When the stream ends by itself: at a time, or when nobody has read or written it for so long. */
export type StreamExpiry =
  | { readonly kind: 'never' }
  | { readonly kind: 'at'; readonly expiresAtMs: number }
  | { readonly kind: 'idle'; readonly ttlSeconds: number }

/** A fork begins with what its source holds below `offset`, and shares the source's offsets up to there. */
export interface ForkPoint {
  readonly source: string
  readonly offset: number
  /** As the request gave it, to recognise the same fork when it is asked for again. */
  readonly subOffset: number
}

export type CreateStreamOutcome =
  | { readonly kind: 'created'; readonly stream: StreamDescription }
  /** `matches` said yes. */
  | { readonly kind: 'exists'; readonly stream: StreamDescription }
  | { readonly kind: 'conflict'; readonly message: string; readonly stream: StreamDescription | null }
  | { readonly kind: 'invalid'; readonly message: string }
  /** `pico.schema` names none that there is. */
  | { readonly kind: 'unknown-schema'; readonly message: string }
  /** The first records are not as the stream's schema wants them. */
  | { readonly kind: 'breaks-schema'; readonly judgement: Judgement }
  /** Of a fork. */
  | { readonly kind: 'source-missing' | 'source-gone' | 'fork-beyond-tail' | 'fork-below-start' }
  | NotOwner

export interface StreamDescription {
  readonly streamId: number
  readonly name: string
  /** As Kafka clients know it; null when they cannot. */
  readonly topic: string | null
  /** New when a name is created again: RFC 4122 text. */
  readonly incarnation: string
  readonly contentType: string
  readonly config: Readonly<Record<string, string>>
  readonly expiry: StreamExpiry
  readonly createdAtMs: number
  readonly closed: boolean
  readonly startOffset: number
  /** The tail. Of a stream that is open nowhere and was never adopted, what SQL knows. */
  readonly nextOffset: number
  readonly sizeBytes: number
  readonly fork: ForkPoint | null
  readonly ownerNodeId: number | null
  readonly leaderEpoch: number
}

/** An open stream, as HTTP writes it. The same object that Kafka's handlers have as a Partition. */
export interface PathStream extends Partition {
  readonly name: string
  readonly incarnation: string
  readonly contentType: string
  readonly expiry: StreamExpiry
  /** Durably closed: nothing comes after `highWatermark`. Watchers are told ('advanced') when it comes true, also without a record. */
  readonly closed: boolean

  /**
   * All of them in one batch, consecutive, or none: judged, given their offsets and handed to the log before it returns, as `append`
   * does. Missing timestamps are the clock's, and none is below one that the stream has (they are raised).
   * Where `isJudged`, it is called by `judged`, with what that gave. @throws AssertionError as `append`
   */
  appendRecords(records: readonly RecordInput[], terms?: AppendTerms): AppendRecordsOutcome
  /**
   * Closes without a record. Durable when it resolves; closing twice without a producer changes nothing. With a producer it takes one
   * sequence number, and is recognised when it comes again. Comes after appends that wait to be judged.
   */
  closeNow(producer?: HttpProducerStamp): Promise<CloseOutcome>
  /** Somebody read it: the time of an 'idle' expiry begins anew. Appends and closings do that by themselves. */
  touch(): void
}

export interface AppendTerms {
  readonly producer?: HttpProducerStamp
  /** Only if this is the next offset (in flight ones counted). */
  readonly matchOffset?: number
  /** Durable Streams' `Stream-Seq`: byte-wise greater than the last one taken. Latin-1 text, as Node gives header bytes. */
  readonly streamSeq?: string
  /** Close with this append, in one. */
  readonly close?: boolean
  /** As `judged` gave it. */
  readonly judgement?: Judgement | null
}

/** Of an HTTP producer, whose id is text. */
export interface HttpProducerStamp {
  readonly id: string
  /** Both 0 to 2^53 - 1. */
  readonly epoch: number
  readonly sequence: number
  /** What a sequence number counts: Pico's count records, those of Durable Streams requests. */
  readonly counts: 'records' | 'requests'
}

export type AppendRecordsOutcome =
  | {
      readonly kind: 'appended'
      readonly baseOffset: number
      readonly nextOffset: number
      /** Of the first record. */
      readonly timestampMs: number
      readonly committed: Promise<void>
    }
  | DuplicateAppend
  | { readonly kind: 'refused'; readonly why: RecordsRefusal }

export interface DuplicateAppend {
  readonly kind: 'duplicate'
  /** Of the append it repeats, where that is still remembered (the last five of a producer). */
  readonly of: { readonly baseOffset: number; readonly nextOffset: number } | null
  /** Highest sequence taken of that producer. */
  readonly lastSequence: number
  /** It closed the stream. */
  readonly closed: boolean
  /** Shares the fate of what it repeats. */
  readonly committed: Promise<void>
}

export type CloseOutcome =
  | { readonly kind: 'closed'; readonly nextOffset: number }
  | DuplicateAppend
  | { readonly kind: 'refused'; readonly why: RecordsRefusal }

export type RecordsRefusal =
  | { readonly kind: 'closed'; readonly nextOffset: number }
  | { readonly kind: 'old-epoch'; readonly currentEpoch: number }
  /** A new epoch has to begin with sequence 0. */
  | { readonly kind: 'epoch-not-from-zero' }
  | { readonly kind: 'sequence-gap'; readonly expectedSequence: number }
  | { readonly kind: 'match-failed'; readonly nextOffset: number }
  | { readonly kind: 'stream-seq'; readonly lastStreamSeq: string }
  | { readonly kind: 'too-large'; readonly message: string }
  | { readonly kind: 'invalid-record'; readonly index: number; readonly message: string }
  | { readonly kind: 'breaks-schema'; readonly judgement: Judgement }
  /** Deleted, moved away, or this node is closing: look it up again. */
  | { readonly kind: 'not-serving' }
