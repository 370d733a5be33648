import { kafkaErrors, type ListOffsetsRequest, listOffsets } from '@pico/kafka-codec'
import type { Partition, TimestampHit } from '@pico/streams'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'
import { nearestSafeInteger } from '../int64.ts'
import { lookupErrorCode } from '../lookup-errors.ts'
import { leaderEpochError, missErrorCode } from '../partition-access.ts'
import { withoutRepeats } from '../repeated-keys.ts'

/*
 * ListOffsets 0-11 (kafka-compat 2.5): latest is the high watermark (also for read_committed: there are no transactions), earliest the
 * trim watermark; a time gives the first record, in offset order, that is not older, with its own time, or -1.
 * v0 has offsets in a list. v4: leader epochs. v7: the record with the largest timestamp. v8: earliest local, which is earliest: nothing
 * is tiered. v9 latest tiered and v11 earliest pending upload: none, -1. v10's timeout has nothing to bound.
 * Left out: v0's search by segment; a time there gives the offset that later versions give.
 *
 * A lookup never creates a topic, whatever Metadata may do: what is missing is UNKNOWN_TOPIC_OR_PARTITION. A lookup that ran into a
 * deadline or was cancelled is REQUEST_TIMED_OUT, any other failure UNKNOWN_SERVER_ERROR; every one that failed is a warning in the log.
 */

const firstWithLeaderEpoch = 4

type RequestedPartition = ListOffsetsRequest['topics'][number]['partitions'][number]

interface Found {
  readonly offset: number
  readonly timestampMs: number
  readonly leaderEpoch: number
}

const none: Found = { offset: -1, timestampMs: -1, leaderEpoch: -1 }

/** Times below zero are questions of their own, each from some version on. */
interface SpecialTimestamp {
  readonly sinceVersion: number
  find(partition: Partition): Found | Promise<TimestampHit | null>
}

const specialTimestamps: Readonly<Record<number, SpecialTimestamp>> = {
  [-1]: {
    sinceVersion: 0,
    find: ({ highWatermark, leaderEpoch }) => ({ offset: highWatermark, timestampMs: -1, leaderEpoch }),
  },
  [-2]: { sinceVersion: 0, find: earliest },
  [-3]: { sinceVersion: 7, find: (partition) => partition.offsetOfMaxTimestamp() },
  [-4]: { sinceVersion: 8, find: earliest },
  [-5]: { sinceVersion: 9, find: () => none },
  [-6]: { sinceVersion: 11, find: () => none },
}

export function listOffsetsHandler({ streams, log }: Dependencies): Handler {
  return handler({
    api: listOffsets,
    versions: [0, 11],
    async handle(request, { apiVersion }) {
      const wanted = request.topics.flatMap(({ name, partitions }) => partitions.map((one) => keyOf(name, one)))
      const { repeated } = withoutRepeats(wanted, (key) => key)
      const topics = request.topics.map(async ({ name, partitions }) => {
        const { firsts } = withoutRepeats(partitions, (one) => keyOf(name, one))
        const answers = firsts.map((one) =>
          repeated.has(keyOf(name, one))
            ? refused(one.partitionIndex, kafkaErrors.invalidRequest.code)
            : lookUp(name, one, apiVersion),
        )
        return { name, partitions: await Promise.all(answers) }
      })
      return { throttleTimeMs: 0, topics: await Promise.all(topics) }
    },
    fail: (request, errorCode) => ({
      throttleTimeMs: 0,
      topics: request.topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => refused(partitionIndex, errorCode)),
      })),
    }),
  })

  async function lookUp(name: string, wanted: RequestedPartition, apiVersion: number) {
    const { partitionIndex } = wanted
    try {
      const partition = await streams.partition({ name }, partitionIndex)
      if (typeof partition === 'string') return failed(name, wanted, missErrorCode[partition], partition)
      const epochError = leaderEpochError(wanted.currentLeaderEpoch, partition)
      if (epochError !== 0) {
        return failed(name, wanted, epochError, `the leader epoch is ${partition.leaderEpoch}`)
      }
      const search = searchFor(nearestSafeInteger(wanted.timestamp), apiVersion)
      if (search === undefined) {
        return failed(name, wanted, kafkaErrors.unsupportedVersion.code, `not a time in version ${apiVersion}`)
      }
      const found = (await search(partition)) ?? none
      return apiVersion === 0 ? oldStyle(wanted, found) : answer(partitionIndex, found, apiVersion)
    } catch (error) {
      return failed(name, wanted, lookupErrorCode(error), error)
    }
  }

  function failed(topic: string, { partitionIndex, timestamp }: RequestedPartition, errorCode: number, cause: unknown) {
    const lookup = { topic, partition: partitionIndex, timestamp: String(timestamp), errorCode }
    log.warn(
      cause instanceof Error ? { ...lookup, err: cause } : { ...lookup, cause },
      'an offset could not be looked up',
    )
    return refused(partitionIndex, errorCode)
  }
}

function searchFor(timestampMs: number, apiVersion: number): SpecialTimestamp['find'] | undefined {
  if (timestampMs >= 0) return (partition) => partition.offsetForTimestamp(timestampMs)
  const special = specialTimestamps[timestampMs]
  return special !== undefined && apiVersion >= special.sinceVersion ? special.find : undefined
}

async function earliest(partition: Partition): Promise<Found> {
  return { offset: partition.startOffset, timestampMs: -1, leaderEpoch: await partition.leaderEpochOfStart() }
}

function answer(partitionIndex: number, { offset, timestampMs, leaderEpoch }: Found, apiVersion: number) {
  const found = { offset: BigInt(offset), timestamp: BigInt(timestampMs) }
  const epoch = apiVersion >= firstWithLeaderEpoch ? { leaderEpoch } : {}
  return { partitionIndex, errorCode: 0, oldStyleOffsets: [], ...found, ...epoch }
}

/** Version 0 lists offsets before the time, newest first; we know one. */
function oldStyle({ partitionIndex, maxNumOffsets }: RequestedPartition, { offset }: Found) {
  const known = offset >= 0 && maxNumOffsets > 0
  return { partitionIndex, errorCode: 0, oldStyleOffsets: known ? [BigInt(offset)] : [] }
}

function refused(partitionIndex: number, errorCode: number) {
  return { partitionIndex, errorCode, oldStyleOffsets: [] }
}

/** A partition asked for twice is answered INVALID_REQUEST, once. */
function keyOf(name: string, { partitionIndex }: RequestedPartition): string {
  return `${partitionIndex} ${name}`
}
