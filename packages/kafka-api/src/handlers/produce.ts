import { kafkaErrors, type ProduceRequest, produce, type ResponseInput } from '@pico/kafka-codec'
import type { AppendOutcome, Judgement, Partition, PartitionMiss } from '@pico/streams'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler, Ordered, Unanswered } from '../handler.ts'
import { missErrorCode, topicRef } from '../partition-access.ts'

/*
 * Produce 0-13 (kafka-compat 2.2): each partition is judged alone, in request order; the batch goes to the partition's gate, which
 * validates it, checks the producer and assigns offsets before the next one is looked at, so that appends happen in order of arrival.
 * Records that are held to a schema (`pico.schema.validate`) are judged first, those of several requests at once, and then appended in
 * the order of arrival in each partition. One bad record refuses its batch, INVALID_RECORD, and as in Kafka the producer's sequence
 * stays where it was. A schema that cannot be had is NOT_ENOUGH_REPLICAS: every client tries that again, and nothing was written.
 * acks 1 and all are the same (durable before answered); acks=0 too, without an answer: a failure closes the connection.
 *
 * v0-2: old message sets, converted to one v2 batch (librdkafka asks for v0 to learn which codecs there are). v8: record errors and a
 * message. v13: topics by id (KIP-516).
 * timeout.ms bounds acks=all only, as in Kafka: REQUEST_TIMED_OUT says that the records may still become durable.
 * Left out: transactions (a transactional id is refused, and transactional or control batches by the gate); the leader hints of v10.
 */

const firstWithZstd = 7
const firstWithBatches = 3

/** What Kafka finds out when it has the log in its hands, and so tells where that begins. */
const toldWithLogStart: ReadonlySet<number> = new Set([
  kafkaErrors.invalidTimestamp.code,
  kafkaErrors.outOfOrderSequenceNumber.code,
  kafkaErrors.invalidProducerEpoch.code,
  kafkaErrors.unsupportedCompressionType.code,
  kafkaErrors.invalidRecord.code,
])

type Response = ResponseInput<typeof produce>

type PartitionAnswer = {
  index: number
  errorCode: number
  baseOffset: bigint
  logAppendTimeMs: bigint
  logStartOffset: bigint
  recordErrors: { batchIndex: number; batchIndexErrorMessage: string | null }[]
  errorMessage: string | null
}

/** One partition of a request, and what becomes of it. */
interface Append {
  readonly topic: ProduceRequest['topicData'][number]
  /** Borrowed from the request, unless `isCopied`. */
  records: Uint8Array
  isCopied: boolean
  readonly answer: PartitionAnswer
  /** Resolves, never rejects, when the records are durable or have failed; `answer` is final then. Null when nothing was appended. */
  settled: Promise<void> | null
}

/** What came of looking for a partition. */
type Found = Partition | PartitionMiss | { readonly error: unknown }

export function produceHandler({ streams, schemas, clock, explain }: Dependencies): Handler {
  return handler({
    api: produce,
    versions: [0, 13],
    appends: true,
    handle(request, { apiVersion }) {
      const appends = appendsOf(request)
      const refusal = refuseWhole(request)
      if (refusal !== 0) for (const { answer } of appends) answer.errorCode = refusal
      const started = refusal === 0 ? appendAll(appends, apiVersion) : null
      const finished = started === null ? settle(appends, request) : started.then(() => settle(appends, request))
      if (request.acks === 0) return new Ordered<Response>(started, new Unanswered(outcome(finished, appends)))
      const response = () => respond(request, appends)
      return new Ordered<Response>(started, finished === null ? response() : finished.then(response))
    },
    fail(request, errorCode) {
      const appends = appendsOf(request)
      for (const { answer } of appends) answer.errorCode = errorCode
      return respond(request, appends)
    },
  })

  /**
   * Appends in request order. Null when all has been handed over; otherwise partitions have to be opened first, or what waits to be
   * judged is too much to take more.
   */
  function appendAll(appends: readonly Append[], apiVersion: number): Promise<void> | null {
    const found = appends.map((append) => find(append, apiVersion))
    if (found.some((partition) => partition instanceof Promise)) return appendOnceOpen(appends, found, apiVersion)
    for (const [at, append] of appends.entries()) appendTo(found[at] as Found, append, apiVersion)
    return roomIn(found as Found[])
  }

  /** Only the first request after a start or a long silence comes here: its records, borrowed until we return, are copied. */
  function appendOnceOpen(
    appends: readonly Append[],
    opening: readonly (Found | Promise<Found>)[],
    apiVersion: number,
  ): Promise<void> {
    for (const append of appends) keep(append)
    return Promise.all(opening).then((found) => {
      for (const [at, append] of appends.entries()) appendTo(found[at], append, apiVersion)
      return roomIn(found) ?? undefined
    })
  }

  /** When this connection may bring more for those partitions. Null: now. */
  function roomIn(found: readonly Found[]): Promise<void> | null {
    const full = found.filter((partition) => isPartition(partition) && !partition.hasJudgingRoom)
    if (full.length === 0) return null
    return Promise.all(full.map((partition) => (partition as Partition).whenJudgingRoom())).then(() => undefined)
  }

  function find({ topic, answer }: Append, apiVersion: number): Found | Promise<Found> {
    const failed = (error: unknown) => ({ error })
    try {
      const found = streams.partition(topicRef(topic, apiVersion), answer.index)
      return found instanceof Promise ? found.catch(failed) : found
    } catch (error) {
      return failed(error)
    }
  }

  function appendTo(found: Found | undefined, append: Append, apiVersion: number): void {
    const { answer } = append
    if (found === undefined || typeof found === 'string') {
      answer.errorCode = missErrorCode[found ?? 'unknown-partition']
    } else if ('error' in found) {
      failed(append, found.error)
    } else {
      try {
        appendOne(append, found, apiVersion)
      } catch (error) {
        failed(append, error)
      }
    }
  }

  function appendOne(append: Append, partition: Partition, apiVersion: number): void {
    if (!partition.isJudged) {
      append.settled = appended(append, partition, handOver(append, partition, apiVersion, null))
      return
    }
    keep(append)
    append.settled = partition
      .judged(
        append.records.length,
        (schema) => schemas.judgeBatch(schema, append.records),
        (judgement) => handOver(append, partition, apiVersion, judgement),
      )
      .then((outcome) => appended(append, partition, outcome) ?? undefined)
      .catch((error: unknown) => failed(append, error))
  }

  function handOver(
    { records }: Append,
    partition: Partition,
    apiVersion: number,
    judgement: Judgement | null,
  ): AppendOutcome {
    return apiVersion < firstWithBatches
      ? partition.appendMessageSet(records, judgement)
      : partition.append(records, { zstdAllowed: apiVersion >= firstWithZstd, judgement })
  }

  /** What an append came to, into its answer. Resolves when it is durable or has failed; null when nothing was appended. */
  function appended(append: Append, partition: Partition, { accepted, refused }: AppendOutcome): Promise<void> | null {
    const { answer } = append
    if (refused !== undefined) {
      answer.errorCode = refused.errorCode
      answer.errorMessage = refused.message
      const isOfTheLog = refused.isBeforeLog !== true && toldWithLogStart.has(refused.errorCode)
      if (isOfTheLog) answer.logStartOffset = BigInt(partition.startOffset)
      answer.recordErrors = refused.recordErrors.map(({ batchIndex, message }) => ({
        batchIndex,
        batchIndexErrorMessage: message,
      }))
      return null
    }
    const succeeded = () => {
      answer.errorCode = 0
      answer.baseOffset = BigInt(accepted.baseOffset)
      answer.logAppendTimeMs = BigInt(accepted.logAppendTimeMs)
      answer.logStartOffset = BigInt(partition.startOffset)
    }
    return accepted.committed.then(succeeded, (error: unknown) => failed(append, error))
  }

  function failed(append: Append, error: unknown): void {
    const { topic, answer } = append
    answer.errorCode = explain(error, 'append', { topic: topic.name || topic.topicId, partition: answer.index })
  }

  /** When every partition's fate is known, or time is up. Null when it is known already. */
  function settle(appends: readonly Append[], request: ProduceRequest): Promise<void> | null {
    const waiting = appends.flatMap(({ settled }) => (settled === null ? [] : [settled]))
    if (waiting.length === 0) return null
    const all = Promise.all(waiting).then(() => undefined)
    return request.acks === -1 ? orTimeout(all, request.timeoutMs) : all
  }

  function orTimeout(all: Promise<void>, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(Math.max(0, timeoutMs), resolve)
      void all.then(() => {
        cancel()
        resolve()
      })
    })
  }
}

function appendsOf(request: ProduceRequest): Append[] {
  return request.topicData.flatMap((topic) =>
    topic.partitionData.map(({ index, records }) => ({
      topic,
      records: records ?? noRecords,
      isCopied: false,
      answer: {
        index,
        // What an append that is still under way says when time is up.
        errorCode: kafkaErrors.requestTimedOut.code,
        baseOffset: -1n,
        logAppendTimeMs: -1n,
        logStartOffset: -1n,
        recordErrors: [],
        errorMessage: null,
      },
      settled: null,
    })),
  )
}

const noRecords = new Uint8Array(0)

/** Its records last from now on. */
function keep(append: Append): void {
  if (!append.isCopied) append.records = Uint8Array.from(append.records)
  append.isCopied = true
}

function isPartition(found: Found): found is Partition {
  return typeof found !== 'string' && 'append' in found
}

/** The error code that every partition gets, or 0. */
function refuseWhole({ acks, transactionalId }: ProduceRequest): number {
  if (transactionalId !== null) return kafkaErrors.transactionalIdAuthorizationFailed.code
  return acks === 0 || acks === 1 || acks === -1 ? 0 : kafkaErrors.invalidRequiredAcks.code
}

/** Answers are copied: a partition that settles after the time was up must not change what is being sent. */
function respond(request: ProduceRequest, appends: readonly Append[]): Response {
  const answers = appends[Symbol.iterator]()
  const responses = request.topicData.map(({ name, topicId, partitionData }) => ({
    name,
    topicId,
    partitionResponses: partitionData.map(() => ({ ...answers.next().value!.answer })),
  }))
  return { responses, throttleTimeMs: 0 }
}

/** For acks=0: why the connection must be closed, so that the client looks for the leader again; null when all went well. */
async function outcome(finished: Promise<unknown> | null, appends: readonly Append[]): Promise<string | null> {
  await finished
  const bad = appends.find(({ answer }) => answer.errorCode !== 0)
  if (bad === undefined) return null
  const { index, errorCode, errorMessage } = bad.answer
  return `Produce with acks=0 failed for ${bad.topic.name || bad.topic.topicId}-${index}: error ${errorCode}${errorMessage === null ? '' : ` (${errorMessage})`}`
}
