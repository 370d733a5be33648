import { type FetchRequest, fetch, kafkaErrors, type ResponseInput } from '@pico/kafka-codec'
import { BatchView } from '@pico/record-batch'
import type { Partition, PartitionMiss } from '@pico/streams'
import type { Dependencies } from '../dependencies.ts'
import type { Subject } from '../explainer.ts'
import { PartitionFetch, readPartitions } from '../fetch-reading.ts'
import { type Handler, handler } from '../handler.ts'
import { nearestSafeInteger } from '../int64.ts'
import { leaderEpochError, missErrorCode, topicRef } from '../partition-access.ts'

/*
 * Fetch 4-17 (kafka-compat 2.4): stored batches as they are, in views that are never copied. Long polls wait for events.
 *
 * Sessions (KIP-227) are not kept: every answer has session id 0, as a Kafka whose session cache is full answers, and every client
 * then sends full requests; one that names a session is told FETCH_SESSION_ID_NOT_FOUND.
 * Only whole batches are given. The high watermark is the log's end and the last stable offset: there are no transactions, and nothing
 * is readable before it is durable. Fetches of followers are refused: a partition has one replica.
 * v9: leader epoch fencing. v10: zstd (to older clients UNSUPPORTED_COMPRESSION_TYPE). v13: topics by id. Left out: 0-3, which need
 * down-conversion; rack awareness (v11); the leader hints of v16; v18, which only followers use.
 */

const firstWithZstd = 10
const firstWithTopicIds = 13

type Response = ResponseInput<typeof fetch>
type RequestedPartition = FetchRequest['topics'][number]['partitions'][number]

/** A requested partition: being read, or refused with an error code. */
type Target = PartitionFetch | number

export function fetchHandler({ streams, clock, settings, draining, explain }: Dependencies): Handler {
  return handler({
    api: fetch,
    versions: [4, 17],
    largeAnswer: true,
    async handle(request, context) {
      const { apiVersion, client } = context
      const inSession = request.sessionEpoch > 0 // 0 and -1 ask for everything, session or not
      if (inSession) return { ...empty, errorCode: kafkaErrors.fetchSessionIdNotFound.code }
      const targets = await Promise.all(targetsOf(request, apiVersion))
      const fetches = targets.filter((target) => typeof target !== 'number')
      const anyRefused = fetches.length < targets.length
      const limits = {
        minBytes: request.minBytes,
        maxBytes: Math.min(request.maxBytes, settings.fetchBytesMax),
        maxWaitMs: anyRefused ? 0 : request.maxWaitMs,
      }
      await readPartitions(fetches, limits, clock, { gone: client.gone, draining }, (error, partition) =>
        explain(error, 'read', subjectOf(partition)),
      )
      context.answerSent = () => {
        for (const each of fetches) each.release()
      }
      return respond(request, targets, apiVersion)
    },
    fail: (_, errorCode) => ({ ...empty, errorCode }),
  })

  function targetsOf(request: FetchRequest, apiVersion: number): (Target | Promise<Target>)[] {
    const replicaId = apiVersion >= 15 ? request.replicaState.replicaId : request.replicaId
    return request.topics.flatMap((topic) =>
      topic.partitions.map((wanted) => {
        if (replicaId >= 0) return kafkaErrors.notLeaderOrFollower.code
        return targetOf({ topic: topic.topic || topic.topicId, partition: wanted.partition }, wanted, () =>
          streams.partition(topicRef({ name: topic.topic, topicId: topic.topicId }, apiVersion), wanted.partition),
        )
      }),
    )
  }

  function targetOf(
    subject: Subject,
    wanted: RequestedPartition,
    find: () => ReturnType<Dependencies['streams']['partition']>,
  ): Target | Promise<Target> {
    const failed = (error: unknown) => explain(error, 'read', subject)
    try {
      const found = find()
      if (!(found instanceof Promise)) return begin(wanted, found)
      return found.then((partition) => begin(wanted, partition)).catch(failed)
    } catch (error) {
      return failed(error)
    }
  }
}

function subjectOf({ topic, partition }: Partition): Subject {
  return { topic, partition }
}

const empty = { throttleTimeMs: 0, sessionId: 0, responses: [] } as const

function begin(wanted: RequestedPartition, partition: Partition | PartitionMiss): Target {
  if (typeof partition === 'string') return missErrorCode[partition]
  const epochError = leaderEpochError(wanted.currentLeaderEpoch, partition)
  if (epochError !== 0) return epochError
  const offset = nearestSafeInteger(wanted.fetchOffset)
  if (offset < partition.startOffset || offset > partition.highWatermark) return kafkaErrors.offsetOutOfRange.code
  return new PartitionFetch(partition, offset, Math.max(0, wanted.partitionMaxBytes))
}

function respond(request: FetchRequest, targets: readonly Target[], apiVersion: number): Response {
  const inOrder = targets[Symbol.iterator]()
  const responses = request.topics.map(({ topic, topicId, partitions }) => ({
    topic,
    topicId,
    partitions: partitions.map(({ partition }) => ({
      partitionIndex: partition,
      abortedTransactions: request.isolationLevel === 0 ? null : [],
      ...outcome(inOrder.next().value!, apiVersion),
    })),
  }))
  return { throttleTimeMs: 0, errorCode: 0, sessionId: 0, responses }
}

function outcome(target: Target, apiVersion: number) {
  if (typeof target === 'number') return refused(target)
  const { partition, buffers, errorCode } = target
  if (errorCode !== 0) return refused(inTermsOf(apiVersion, errorCode))
  if (apiVersion < firstWithZstd && holdsZstd(buffers)) return refused(kafkaErrors.unsupportedCompressionType.code)
  const highWatermark = BigInt(partition.highWatermark)
  return {
    errorCode,
    highWatermark,
    lastStableOffset: highWatermark,
    logStartOffset: BigInt(partition.startOffset),
    records: buffers,
  }
}

function refused(errorCode: number) {
  const nothing = { errorCode, highWatermark: -1n, lastStableOffset: -1n, logStartOffset: -1n, records: noRecords }
  return unknownCodes.has(errorCode) ? { ...nothing, abortedTransactions: [] } : nothing
}

/** Of what it does not know, Kafka says that no transactions were aborted; of what it could not read, nothing. */
const unknownCodes: ReadonlySet<number> = new Set([
  kafkaErrors.unknownTopicOrPartition.code,
  kafkaErrors.unknownTopicId.code,
])

const noRecords = new Uint8Array(0)

function holdsZstd(buffers: readonly Uint8Array[]): boolean {
  const records = buffers.length === 1 ? buffers[0]! : Buffer.concat(buffers)
  for (let at = 0; at < records.length; ) {
    const batch = new BatchView(records, at)
    if (batch.codec === 'zstd') return true
    at += batch.byteLength
  }
  return false
}

/** A topic that was deleted during the wait is gone by the name or the id it was asked for. */
function inTermsOf(apiVersion: number, errorCode: number): number {
  const isGone = errorCode === kafkaErrors.unknownTopicOrPartition.code
  return isGone && apiVersion >= firstWithTopicIds ? kafkaErrors.unknownTopicId.code : errorCode
}
