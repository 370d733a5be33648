import type { LogRead } from '@pico/log'
import type { JudgeRecords } from './judged-appends.ts'
import type { ProducerDescription } from './producer-table.ts'
import type { TopicConfig } from './topic-config.ts'
import type { Judgement } from './topic-schema.ts'

/** What a front end knows about the request a batch came in. */
export interface AppendContext {
  /** zstd needs Produce 7 (KIP-110). */
  readonly zstdAllowed: boolean
  /** As `judged` gave it. */
  readonly judgement?: Judgement | null
}

/** Kafka's words for what can be wrong with a produced batch: the numbers are Kafka's error codes. */
export interface AppendRefusal {
  readonly errorCode: number
  readonly message: string
  /** Which records are to blame, by index in the batch (KIP-467). */
  readonly recordErrors: readonly { readonly batchIndex: number; readonly message: string }[]
  /** Found when the request was read, before Kafka would look at the log. */
  readonly isBeforeLog?: true
}

export interface AppendAccepted {
  readonly baseOffset: number
  /**
   * Milliseconds when the topic stamps records itself (LogAppendTime), else -1. Of a duplicate, as Kafka has it, the largest timestamp
   * of the original whatever the topic's timestamp type.
   */
  readonly logAppendTimeMs: number
  /** Settles as LogStream's `committed`. A duplicate of a batch still on its way shares its fate; of a durable one, resolves at once. */
  readonly committed: Promise<void>
}

export type AppendOutcome =
  | { readonly accepted: AppendAccepted; readonly refused?: never }
  | { readonly accepted?: never; readonly refused: AppendRefusal }

export interface TimestampHit {
  readonly offset: number
  readonly timestampMs: number
  readonly leaderEpoch: number
}

/** Why a watcher was called. `lost`: it is not served here any more, or not for the moment: look where it is. */
export type PartitionChange = 'advanced' | 'deleted' | 'lost'

/** An open partition (or HTTP-only stream): the gate that all writes pass, and the reads. */
export interface Partition {
  readonly streamId: number
  /** Of one of our own streams the name of the stream. */
  readonly topic: string
  readonly topicId: string
  readonly partition: number
  readonly config: TopicConfig
  readonly leaderEpoch: number
  readonly startOffset: number
  readonly highWatermark: number
  readonly sizeBytes: number

  /**
   * Judges one `records` field of a Produce request (kafka-compat 2.2: exactly one v2 batch), checks the producer (2.3), assigns
   * offsets and hands the batch to the log, all before it returns: two calls are in the log in the order they were made.
   * The bytes are borrowed until it returns.
   * A batch whose records are not as the schema wants them is refused as a whole, unless it is one that was taken before: its producer
   * has asked again, and is told so whatever the topic is bound to by now.
   * @throws AssertionError when records are to be judged (`isJudged`) and were not: nothing gets past a schema.
   */
  append(records: Uint8Array, context: AppendContext): AppendOutcome
  /** The same for the message sets of Produce 0-2 (magic 0 and 1), converted to one v2 batch. */
  appendMessageSet(messageSet: Uint8Array, judgement?: Judgement | null): AppendOutcome

  /** Whatever is appended goes through `judged`: records are held to a schema here, or others still wait for that. */
  readonly isJudged: boolean
  /** False while as many bytes wait to be judged as may. */
  readonly hasJudgingRoom: boolean
  whenJudgingRoom(): Promise<void>
  /**
   * Has `judge` hold the records to the topic's schema, and calls `act` to append them with what was found, in the order in which it
   * was called: see JudgedAppends.take. `bytes`: of the records, which have to last as long.
   */
  judged<T>(bytes: number, judge: JudgeRecords, act: (judgement: Judgement | null) => T): Promise<T>

  /** See LogStream.read. Null at the high watermark; 'out-of-range' below the start or past the end. @throws PartitionGoneError too */
  read(
    offset: number,
    maxBytes: number,
    signal?: AbortSignal,
  ): LogRead | null | 'out-of-range' | Promise<LogRead | null>
  /** Calls back on every change until the returned function is called. At most once per flush. */
  watch(watcher: (change: PartitionChange) => void): () => void

  /** The first record, in offset order, whose timestamp is at least this (ListOffsets). */
  offsetForTimestamp(timestampMs: number): Promise<TimestampHit | null>
  /** The first record that carries the highest timestamp (KIP-734). */
  offsetOfMaxTimestamp(): Promise<TimestampHit | null>
  /** OffsetForLeaderEpoch (kafka-compat 2.7): the largest known epoch at or below the one asked for, and where it ends. */
  endOfEpoch(leaderEpoch: number): Promise<{ readonly leaderEpoch: number; readonly endOffset: number }>
  /** The leader epoch that `startOffset` was written in; of an empty log, the one in force. */
  leaderEpochOfStart(): Promise<number>
  /** DeleteRecords: -1 means the high watermark. Returns the start now in force, or 'out-of-range'. */
  trim(offset: number): Promise<number | 'out-of-range'>
  /** Active producers, for DescribeProducers. */
  producers(): readonly ProducerDescription[]
}
