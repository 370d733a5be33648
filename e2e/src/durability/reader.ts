import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { fetch, kafkaErrorOf } from '@pico/kafka-codec'
import { ConnectionLostError, connectRaw, NoAnswerError, type RawConnection } from '../raw-kafka.ts'
import { endOffset, errorName } from '../raw-topics.ts'
import { decodeBatches } from '../test-batch.ts'
import type { LogRecord, ReaderHistory } from './history.ts'

export interface TailReader {
  readonly history: ReaderHistory
  /** Requests that were never answered, in words. */
  readonly unanswered: string[]
  stop(): Promise<void>
}

/** Follows a topic from its beginning and keeps all that it was given, across restarts of the broker. */
export function startTailReader(port: number, topic: string): TailReader {
  const history: ReaderHistory = { topic, seen: [] }
  const unanswered: string[] = []
  let stopping = false
  const run = async () => {
    while (!stopping) {
      let connection: RawConnection | undefined
      try {
        connection = await connectRaw(port)
        while (!stopping) history.seen.push(...(await fetchFrom(connection, topic, history.seen.length, 500)))
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error
        if (error instanceof NoAnswerError)
          unanswered.push(`reader of ${topic} at ${history.seen.length}: ${error.message}`)
        await sleep(50)
      } finally {
        connection?.close()
      }
    }
  }
  const done = run()
  done.catch(() => undefined) // for whoever stops it
  return {
    history,
    unanswered,
    async stop() {
      stopping = true
      await done
    },
  }
}

/** The whole log of a topic, from offset 0 to its end at the time of the call. */
export async function readLog(port: number, topic: string): Promise<LogRecord[]> {
  const end = await endOffset(port, topic)
  const connection = await connectRaw(port)
  const log: LogRecord[] = []
  try {
    while (log.length < end) {
      const more = await fetchFrom(connection, topic, log.length, 5000)
      if (more.length === 0) throw new Error(`${topic}: nothing at offset ${log.length}, though the end is ${end}`)
      for (const record of more) log.push(record)
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
    const [first] = await fetchFrom(connection, topic, 0, 5000)
    if (first === undefined) throw new Error(`${topic} has no record`)
    return first
  } finally {
    connection.close()
  }
}

const fetchVersion = 11

async function fetchFrom(
  connection: RawConnection,
  topic: string,
  offset: number,
  maxWaitMs: number,
): Promise<LogRecord[]> {
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
        partitions: [{ partition: 0, fetchOffset: BigInt(offset), partitionMaxBytes: 4 * 1024 * 1024 }],
      },
    ],
    forgottenTopicsData: [],
  })
  const partition = answer.responses[0]?.partitions[0]
  if (partition === undefined) return []
  if (partition.errorCode !== 0) {
    if (kafkaErrorOf(partition.errorCode)?.retriable === true) return []
    throw new Error(`Fetch of ${topic} from ${offset}: ${errorName(partition.errorCode)}`)
  }
  return decodeBatches(partition.records ?? new Uint8Array())
    .flatMap((batch) => batch.records)
    .filter((record) => record.offset >= offset)
    .map((record) => ({ offset: record.offset, value: record.value?.toString('latin1') ?? 'null' }))
}
