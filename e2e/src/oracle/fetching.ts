import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { fetch } from '@pico/kafka-codec'
import { NoAnswerError } from '../raw-kafka.ts'
import { decodeBatches } from '../test-batch.ts'
import { errorText, type Scenario, Session } from './session.ts'

const three = [{ value: Buffer.from('a') }, { value: Buffer.from('b') }, { value: Buffer.from('c') }]

/** Fetch (kafka-compat 2.4). */
export const fetching: readonly Scenario[] = [
  {
    name: 'Fetch from every offset',
    async run(session) {
      await session.makeTopic()
      await session.produce({ records: three })
      await session.produce({ records: three })
      for (const offset of [0, 1, 2, 3, 5, 6, 7, 1_000_000, -1, -5]) {
        await session.note(`offset ${offset}`, () => get(session, { offset }))
      }
      await session.note('committed only', () => get(session, { isolationLevel: 1 }))
    },
  },
  {
    name: 'Fetch of an empty log',
    async run(session) {
      await session.makeTopic()
      await session.note('offset 0', () => get(session, {}))
      await session.note('offset 1', () => get(session, { offset: 1 }))
    },
  },
  {
    name: 'every version of Fetch',
    async run(session) {
      await session.makeTopic()
      await session.produce({ records: three })
      for (let version = 4; version <= 18; version++) {
        await session.note(`version ${version}`, () => get(session, { version }))
      }
    },
  },
  {
    name: 'Fetch of what does not exist',
    async run(session) {
      await session.makeTopic()
      await session.note('unknown topic', () => get(session, { topic: `${session.topic}-not` }))
      await session.note('partition 1', () => get(session, { partition: 1 }))
      const topicId = '6f2b1c8e-3a5d-4e7f-9b0a-1c2d3e4f5a6b'
      await session.note('unknown topic id', () => get(session, { version: 13, topicId }))
      await session.note('zero topic id', () => get(session, { version: 13, topicId: zeroUuid }))
    },
  },
  {
    name: 'Fetch with a leader epoch',
    async run(session) {
      await session.makeTopic()
      await session.produce({ records: three })
      const current = await session.leaderEpoch()
      await session.note('the current one', () => get(session, { currentLeaderEpoch: current }))
      await session.note('the next', () => get(session, { currentLeaderEpoch: current + 1 }))
      await session.restart('stop')
      const after = await session.leaderEpoch()
      await session.note('the next, after a restart', () => get(session, { currentLeaderEpoch: after + 1 }))
      await session.note('one before, if there was', async () =>
        after === 0 ? 'there was none' : get(session, { currentLeaderEpoch: after - 1 }),
      )
    },
  },
  {
    name: 'Fetch within limits of size',
    async run(session) {
      await session.makeTopic()
      for (let batch = 0; batch < 5; batch++) await session.produce({ records: [{ value: Buffer.alloc(1000) }] })
      for (const bytes of [0, 1, 1000, 1100, 2200, 5000, 100_000]) {
        await session.note(`partition ${bytes} bytes`, () => get(session, { partitionMaxBytes: bytes }))
        await session.note(`answer ${bytes} bytes`, () => get(session, { maxBytes: bytes }))
      }
    },
  },
  {
    name: 'Fetch waits as long as it is told, and no longer',
    async run(session) {
      await session.makeTopic()
      const timed = async (question: Question) => {
        const from = performance.now()
        const { partitions } = await get(session, question)
        const tookMs = performance.now() - from
        return { partitions, waited: tookMs < 700 ? 'hardly' : tookMs < 1900 ? 'a second' : 'longer' }
      }
      await session.note('at the end, a second', () => timed({ minBytes: 1, maxWaitMs: 1000 }))
      await session.note('at the end, no minimum', () => timed({ minBytes: 0, maxWaitMs: 5000 }))
      await session.note('at the end, no wait', () => timed({ minBytes: 1, maxWaitMs: 0 }))
      await session.note('an error ends the wait', () => timed({ minBytes: 1, maxWaitMs: 5000, offset: 99 }))
      await session.note('an unknown topic ends the wait', () =>
        timed({ maxWaitMs: 5000, topic: `${session.topic}-not` }),
      )
      await session.produce({ records: three })
      await session.note('data, enough', () => timed({ minBytes: 1, maxWaitMs: 5000 }))
      await session.note('data, not enough', () => timed({ minBytes: 100_000, maxWaitMs: 1000 }))
      await session.note('a minimum above the maximum', () =>
        timed({ minBytes: 100_000, maxBytes: 10, maxWaitMs: 5000 }),
      )
    },
  },
  {
    name: 'every one of many short waits ends',
    async run(session) {
      await session.makeTopic()
      await session.note('unanswered of 2,000', async () => {
        const waits = Array.from({ length: 20 }, async (_, index) => {
          const own = new Session(session.broker, session.topic, { timeoutMs: 5000 })
          try {
            for (let wait = 0; wait < 100; wait++) await get(own, { maxWaitMs: 5 + ((wait + index) % 20) })
            return 0
          } catch (error) {
            if (error instanceof NoAnswerError) return 1
            throw error
          } finally {
            own.close()
          }
        })
        return (await Promise.all(waits)).reduce((sum: number, each) => sum + each, 0)
      })
    },
  },
  {
    name: 'a waiting Fetch gets what arrives',
    async run(session) {
      await session.makeTopic()
      const other = new Session(session.broker, session.topic)
      await session.note('what it got', async () => {
        const waiting = get(session, { minBytes: 1, maxWaitMs: 20_000 })
        await sleep(300)
        await other.produce({ records: three })
        return waiting
      })
      other.close()
    },
  },
  {
    name: 'Fetch sessions that nobody opened',
    async run(session) {
      await session.makeTopic()
      await session.produce({ records: three })
      await session.note('unknown id, next epoch', () => get(session, { sessionId: 123_456, sessionEpoch: 5 }))
      await session.note('unknown id, epoch 0', () => get(session, { sessionId: 123_456, sessionEpoch: 0 }))
      await session.note('unknown id, final epoch', () => get(session, { sessionId: 123_456, sessionEpoch: -1 }))
      await session.note('no id, epoch 1', () => get(session, { sessionId: 0, sessionEpoch: 1 }))
    },
  },
  {
    name: 'opening a fetch session',
    async run(session) {
      await session.makeTopic()
      await session.produce({ records: three })
      await session.note('session', () => get(session, { sessionId: 0, sessionEpoch: 0 }))
    },
  },
]

interface Question {
  readonly offset?: number
  readonly version?: number
  readonly topic?: string
  readonly topicId?: string
  readonly partition?: number
  readonly currentLeaderEpoch?: number
  readonly isolationLevel?: number
  readonly partitionMaxBytes?: number
  readonly maxBytes?: number
  readonly minBytes?: number
  readonly maxWaitMs?: number
  readonly sessionId?: number
  readonly sessionEpoch?: number
}

async function get(session: Session, question: Question): Promise<{ partitions: unknown }> {
  const { version = 12, offset = 0, partition = 0, currentLeaderEpoch = -1, isolationLevel = 0 } = question
  const { partitionMaxBytes = 1 << 20, maxBytes = 1 << 24, minBytes = 1, maxWaitMs = 100 } = question
  const { sessionId = 0, sessionEpoch = -1 } = question
  const topicId = version >= 13 ? (question.topicId ?? (await session.topicId())) : zeroUuid
  const connection = await session.connection()
  const answer = await connection.ask(fetch, version, {
    maxWaitMs,
    minBytes,
    maxBytes,
    isolationLevel,
    sessionId,
    sessionEpoch,
    topics: [
      {
        topic: question.topic ?? session.topic,
        topicId,
        partitions: [{ partition, currentLeaderEpoch, fetchOffset: BigInt(offset), partitionMaxBytes }],
      },
    ],
    forgottenTopicsData: [],
  })
  const partitions = answer.responses.flatMap((response) =>
    response.partitions.map((each) => ({
      topic: version >= 13 ? response.topicId === topicId : response.topic === (question.topic ?? session.topic),
      partition: each.partitionIndex,
      error: errorText(each.errorCode),
      highWatermark: Number(each.highWatermark),
      lastStableOffset: Number(each.lastStableOffset),
      logStartOffset: Number(each.logStartOffset),
      aborted: each.abortedTransactions,
      preferredReadReplica: each.preferredReadReplica,
      diverging: Number(each.divergingEpoch.endOffset),
      batches: decodeBatches(each.records ?? new Uint8Array()).map((batch) => [batch.baseOffset, batch.records.length]),
    })),
  )
  return { ...{ error: errorText(answer.errorCode), session: answer.sessionId === 0 ? 'none' : 'some' }, partitions }
}
