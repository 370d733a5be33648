import { gzipSync } from 'node:zlib'
import { listOffsets, offsetForLeaderEpoch } from '@pico/kafka-codec'
import { encodeRecord } from '../test-batch.ts'
import { errorText, type Scenario, type Session } from './session.ts'

const value = Buffer.from('v')

/** ListOffsets and OffsetForLeaderEpoch (kafka-compat 2.5, 2.7). */
export const offsets: readonly Scenario[] = [
  {
    name: 'ListOffsets of a log whose timestamps rise and fall',
    async run(session) {
      await session.makeTopic()
      // Offsets 0 to 6 with timestamps 1000, 1300, 1200 | 1300, 900 | 1100, 1250.
      await session.produce({ records: at(0, 300, 200), baseTimestamp: 1000n })
      await session.produce({ records: at(400, 0), baseTimestamp: 900n })
      const zipped = at(0, 150)
      const payload = gzipSync(Buffer.concat(zipped.map(encodeRecord)))
      await session.produce({ records: zipped, baseTimestamp: 1100n, attributes: 1, payload })
      for (const timestamp of [0, 899, 900, 999, 1000, 1001, 1100, 1200, 1201, 1250, 1299, 1300, 1301, 9_999_999]) {
        await session.note(`timestamp ${timestamp}`, () => list(session, { timestamp }))
      }
      for (const special of [-1, -2, -3, -4, -5, -6, -7]) {
        await session.note(`special ${special}`, () => list(session, { timestamp: special }))
      }
      await session.note('latest, committed', () => list(session, { timestamp: -1, isolationLevel: 1 }))
    },
  },
  {
    name: 'ListOffsets of an empty log',
    async run(session) {
      await session.makeTopic()
      for (const timestamp of [0, -1, -2, -3, -4, -5, -6]) {
        await session.note(`timestamp ${timestamp}`, () => list(session, { timestamp }))
      }
    },
  },
  {
    name: 'every version of ListOffsets, and special timestamps before their time',
    async run(session) {
      await session.makeTopic()
      await session.produce({ records: at(0, 1), baseTimestamp: 1000n })
      for (let version = 1; version <= 11; version++) {
        for (const timestamp of [1001, -1, -2, -3, -4, -5, -6]) {
          await session.note(`version ${version}, timestamp ${timestamp}`, () => list(session, { timestamp, version }))
        }
      }
    },
  },
  {
    name: 'ListOffsets version 0',
    async run(session) {
      await session.makeTopic()
      await session.produce({ records: at(0, 1), baseTimestamp: 1000n })
      for (const timestamp of [-1, -2]) {
        await session.note(`timestamp ${timestamp}`, () => list(session, { timestamp, version: 0 }))
      }
    },
  },
  {
    name: 'ListOffsets of what does not exist, and twice in one request',
    async run(session) {
      await session.makeTopic()
      await session.note('unknown topic', () => list(session, { timestamp: -1, topic: `${session.topic}-not` }))
      await session.note('partition 1', () => list(session, { timestamp: -1, partitions: [1] }))
      await session.note('partition -1', () => list(session, { timestamp: -1, partitions: [-1] }))
      await session.note('partition 0 twice', () => list(session, { timestamp: -1, partitions: [0, 0] }))
    },
  },
  {
    name: 'ListOffsets with a leader epoch',
    async run(session) {
      await session.makeTopic()
      await session.produce({ records: at(0), baseTimestamp: 1000n })
      const current = await session.leaderEpoch()
      await session.note('the current one', () => list(session, { timestamp: -1, currentLeaderEpoch: current }))
      await session.note('the next', () => list(session, { timestamp: -1, currentLeaderEpoch: current + 1 }))
      await session.restart('stop')
      const after = await session.leaderEpoch()
      await session.note('the epoch does not fall', async () => after >= current)
      await session.note('the next, after a restart', () =>
        list(session, { timestamp: -1, currentLeaderEpoch: after + 1 }),
      )
      await session.note('one before, if there was', async () =>
        after === 0 ? 'there was none' : list(session, { timestamp: -1, currentLeaderEpoch: after - 1 }),
      )
    },
  },
  {
    name: 'OffsetForLeaderEpoch',
    async run(session) {
      await session.makeTopic()
      await session.produce({ records: at(0, 1, 2), baseTimestamp: 1000n })
      const current = await session.leaderEpoch()
      for (const version of [2, 3, 4]) {
        await session.note(`the current epoch, version ${version}`, () =>
          epochEnd(session, { leaderEpoch: current, version }),
        )
      }
      await session.note('epoch -1', () => epochEnd(session, { leaderEpoch: -1 }))
      await session.note('the next epoch', () => epochEnd(session, { leaderEpoch: current + 1 }))
      await session.note('asked by one that knows the epoch', () =>
        epochEnd(session, { leaderEpoch: current, currentLeaderEpoch: current }),
      )
      await session.note('asked by one that is ahead', () =>
        epochEnd(session, { leaderEpoch: current, currentLeaderEpoch: current + 1 }),
      )
      await session.note('partition 1', () => epochEnd(session, { leaderEpoch: current, partition: 1 }))
      await session.note('unknown topic', () =>
        epochEnd(session, { leaderEpoch: current, topic: `${session.topic}-not` }),
      )
      await session.restart('stop')
      await session.produce({ records: at(0), baseTimestamp: 1000n })
      const after = await session.leaderEpoch()
      await session.note('the current epoch after a restart', () => epochEnd(session, { leaderEpoch: after }))
      await session.note('the one before the restart', () => epochEnd(session, { leaderEpoch: current }))
    },
  },
]

function at(...timestampDeltas: number[]): { value: Buffer; timestampDelta: number }[] {
  return timestampDeltas.map((timestampDelta) => ({ value, timestampDelta }))
}

interface ListQuestion {
  readonly timestamp: number
  readonly version?: number
  readonly isolationLevel?: number
  readonly currentLeaderEpoch?: number
  readonly topic?: string
  readonly partitions?: readonly number[]
}

async function list(session: Session, question: ListQuestion): Promise<unknown> {
  const { timestamp, version = 11, isolationLevel = 0, currentLeaderEpoch = -1, partitions = [0] } = question
  const current = question.topic === undefined ? await session.leaderEpoch() : -1
  const connection = await session.connection()
  const answer = await connection.ask(listOffsets, version, {
    replicaId: -1,
    isolationLevel,
    topics: [
      {
        name: question.topic ?? session.topic,
        partitions: partitions.map((partitionIndex) => ({
          partitionIndex,
          currentLeaderEpoch,
          timestamp: BigInt(timestamp),
        })),
      },
    ],
    timeoutMs: 5000,
  })
  return answer.topics[0]?.partitions.map((partition) => ({
    error: errorText(partition.errorCode),
    timestamp: Number(partition.timestamp),
    offset: Number(partition.offset),
    leaderEpoch: relative(partition.leaderEpoch, current),
    ...(version === 0 ? { oldStyle: partition.oldStyleOffsets.map(Number) } : {}),
  }))
}

interface EpochQuestion {
  readonly leaderEpoch: number
  readonly currentLeaderEpoch?: number
  readonly version?: number
  readonly partition?: number
  readonly topic?: string
}

async function epochEnd(session: Session, question: EpochQuestion): Promise<unknown> {
  const { leaderEpoch, currentLeaderEpoch = -1, version = 4, partition = 0 } = question
  const current = await session.leaderEpoch()
  const connection = await session.connection()
  const answer = await connection.ask(offsetForLeaderEpoch, version, {
    replicaId: -1,
    topics: [{ topic: question.topic ?? session.topic, partitions: [{ partition, currentLeaderEpoch, leaderEpoch }] }],
  })
  return answer.topics[0]?.partitions.map((each) => ({
    error: errorText(each.errorCode),
    leaderEpoch: relative(each.leaderEpoch, current),
    endOffset: Number(each.endOffset),
  }))
}

/** Brokers count epochs from where they like. */
function relative(epoch: number, current: number): string {
  if (epoch === -1) return 'none'
  return epoch === current ? 'current' : epoch < current ? 'earlier' : 'later'
}
