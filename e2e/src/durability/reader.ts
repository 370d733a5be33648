import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { fetch, kafkaErrorOf } from '@pico/kafka-codec'
import { ConnectionLostError, connectRaw, NoAnswerError, type RawConnection } from '../raw-kafka.ts'
import { endOffset, errorName } from '../raw-topics.ts'
import { decodeBatches } from '../test-batch.ts'
import { contentOf, type EndView, type LogRecord, logName, type ReaderHistory } from './history.ts'
import { type LoadState, startLoop } from './load-loop.ts'

export interface TailReaderSettings {
  /** To a broker that leads the partition, as far as anybody knows. */
  readonly connect: () => Promise<RawConnection>
  readonly topic: string
  /** 0 when left out. */
  readonly partition?: number
  /** As long as one answer may wait for records; 500 when left out. */
  readonly waitMs?: number
  /** A broker that says nothing is one more that is away, and no breach: it may be stopped. */
  readonly toleratesSilence?: boolean
  /** Takes leave of a broker after so many answers, and asks who leads; never, when left out. */
  readonly answersPerConnection?: number
}

export interface TailReader {
  readonly history: ReaderHistory
  /** Requests that were never answered, or refused with an error that no client retries, in words. */
  readonly refusals: string[]
  stop(): Promise<void>
}

/** Follows a partition from its beginning and keeps all that it was given, across restarts of the broker. */
export function startTailReader(settings: TailReaderSettings): TailReader {
  const { topic, partition = 0, waitMs = 500, answersPerConnection = Number.POSITIVE_INFINITY } = settings
  const log = logName(topic, partition)
  const history: ReaderHistory = { name: `Kafka reader of ${log}`, log, seen: [], ends: [] }
  const refusals: string[] = []
  const state: LoadState = { isStopping: false, isAbandoned: false }
  const follow = async (connection: RawConnection) => {
    for (let answers = 0; !state.isStopping && answers < answersPerConnection; answers++) {
      const due = history.seen.length === 0 ? 0 : history.seen[history.seen.length - 1]!.offset + 1
      const answer = await fetchFrom(connection, topic, partition, due, waitMs)
      history.seen.push(...answer.records)
      if (answer.end !== undefined) history.ends.push(answer.end)
      if (answer.problem !== undefined) return
    }
  }
  const run = async () => {
    while (!state.isStopping) {
      let connection: RawConnection | undefined
      try {
        connection = await settings.connect()
        await follow(connection)
      } catch (error) {
        if (error instanceof FetchRefusal) refusals.push(error.message)
        else if (!(error instanceof ConnectionLostError)) throw error
        if (error instanceof NoAnswerError && settings.toleratesSilence !== true)
          refusals.push(`${history.name} at ${history.seen.length}: ${error.message}`)
      } finally {
        connection?.close()
      }
      await sleep(50)
    }
  }
  return {
    history,
    refusals,
    ...startLoop(history.name, state, run),
  }
}

/** The whole log of partition 0, from offset 0 to its end at the time of the call. */
export async function readLog(port: number, topic: string): Promise<LogRecord[]> {
  return readLogTo(() => connectRaw(port), topic, 0, await endOffset(port, topic))
}

/** What a partition has from offset 0 to before `end`, or to the end that the first answer names. */
export async function readLogTo(
  connect: () => Promise<RawConnection>,
  topic: string,
  partition: number,
  end?: number,
): Promise<LogRecord[]> {
  const connection = await connect()
  const log: LogRecord[] = []
  let last = end
  try {
    while (last === undefined || log.length < last) {
      const answer = await fetchFrom(connection, topic, partition, log.length, 5000)
      const what = `${logName(topic, partition)} at offset ${log.length}`
      if (answer.problem !== undefined) throw new ConnectionLostError(`${what}: ${answer.problem}`)
      last ??= answer.end?.offset ?? 0
      if (answer.records.length === 0 && log.length < last)
        throw new Error(`${what}: nothing, though the end is ${last}`)
      for (const record of answer.records) log.push(record)
    }
  } finally {
    connection.close()
  }
  return log
}

/** Fails when the topic has none. */
export async function readFirstRecord(port: number, topic: string): Promise<LogRecord> {
  const connection = await connectRaw(port)
  try {
    const [first] = (await fetchFrom(connection, topic, 0, 0, 5000)).records
    if (first === undefined) throw new Error(`${topic} has no record`)
    return first
  } finally {
    connection.close()
  }
}

const fetchVersion = 11

/** Refused with an error that no client retries. */
class FetchRefusal extends Error {}

interface FetchAnswer {
  readonly records: readonly LogRecord[]
  readonly end?: EndView
  /** A retriable error, by name. */
  readonly problem?: string
}

async function fetchFrom(
  connection: RawConnection,
  topic: string,
  index: number,
  offset: number,
  maxWaitMs: number,
): Promise<FetchAnswer> {
  const askedAtMs = performance.now()
  const answer = await connection.ask(fetch, fetchVersion, {
    maxWaitMs,
    minBytes: 1,
    maxBytes: 8 * 1024 * 1024,
    sessionId: 0,
    sessionEpoch: -1,
    topics: [
      {
        topic,
        topicId: zeroUuid,
        partitions: [{ partition: index, fetchOffset: BigInt(offset), partitionMaxBytes: 4 * 1024 * 1024 }],
      },
    ],
    forgottenTopicsData: [],
  })
  const answeredAtMs = performance.now()
  const partition = answer.responses[0]?.partitions[0]
  if (partition === undefined) return { records: [], problem: 'the partition is not in the answer' }
  if (partition.errorCode !== 0) {
    const problem = errorName(partition.errorCode)
    if (kafkaErrorOf(partition.errorCode)?.retriable === true) return { records: [], problem }
    throw new FetchRefusal(`Fetch of ${logName(topic, index)} from ${offset}: ${problem}`)
  }
  const records = decodeBatches(partition.records ?? new Uint8Array())
    .flatMap((batch) => batch.records)
    .filter((record) => record.offset >= offset)
    .map((record) => ({ offset: record.offset, content: contentOf(record.value?.toString('latin1') ?? 'null') }))
  const end = { askedAtMs, answeredAtMs, offset: Number(partition.highWatermark), of: `port ${connection.port}` }
  return { records, end }
}
