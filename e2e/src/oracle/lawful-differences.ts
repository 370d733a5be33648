import { expect } from 'vitest'
import { connectionClosed, noAnswer } from './session.ts'

/**
 * Where we answer otherwise than Kafka on purpose: one entry a difference, with the reason. What each side answers is
 * asserted, and an entry that nothing meets any more is an error.
 */
export interface LawfulDifference {
  readonly scenario: string
  readonly step: string | RegExp
  readonly kafka: unknown
  readonly pico: unknown
  readonly why: string
}

const error = (name: string): unknown => expect.objectContaining({ error: name })
const offsetsStored = (...offsets: number[]): unknown =>
  expect.objectContaining({ error: 'NONE', stored: [expect.objectContaining({ offsets })] })
const topicAnswered = (topic: unknown): unknown => expect.objectContaining({ topics: [topic] })

const transactions = 'We have no transactions. Every client gives up at once on this error, and retries those of Kafka.'
const oldVersions = 'Kafka 4 dropped this version. Clients that have nothing newer are served still.'
const clearError =
  'Kafka fails with an exception of its own and says "unknown server error"; the client is told what is wrong.'
const sessions = 'Fetch sessions are not offered: session id 0 makes every client send full requests.'

export const lawfulDifferences: readonly LawfulDifference[] = [
  ...(['stop', 'kill'] as const).map((how) => ({
    scenario: `producers are known after a restart (${how})`,
    step: 'the oldest of five again',
    kafka: error('OUT_OF_ORDER_SEQUENCE_NUMBER'),
    pico: expect.objectContaining({ error: 'NONE', baseOffset: 2 }),
    why: 'After a restart Kafka knows the last batch of a producer, we know the last five as before.',
  })),
  {
    scenario: 'wrong records',
    step: 'offset deltas with a gap, count as records',
    kafka: offsetsStored(0, 2),
    pico: offsetsStored(0, 1),
    why: 'Kafka stores a record past the end of its batch; our offsets are dense.',
  },
  {
    scenario: 'wrong records',
    step: 'offset deltas that fall',
    kafka: offsetsStored(1, 0),
    pico: offsetsStored(0, 1),
    why: 'Kafka stores offsets that go backwards; ours rise.',
  },
  {
    scenario: 'compression',
    step: 'gzip, offset deltas with a gap',
    kafka: error('UNKNOWN_SERVER_ERROR'),
    pico: offsetsStored(0, 1),
    why: 'The same rule as without compression, where Kafka accepts such deltas as well.',
  },
  {
    scenario: 'compression',
    step: /^codec [567]$/,
    kafka: error('UNKNOWN_SERVER_ERROR'),
    pico: error('UNSUPPORTED_COMPRESSION_TYPE'),
    why: clearError,
  },
  {
    scenario: 'compression',
    step: /that is none$|cut short$/,
    kafka: error('UNKNOWN_SERVER_ERROR'),
    pico: error('INVALID_RECORD'),
    why: clearError,
  },
  {
    scenario: 'what only brokers may write',
    step: /^a transactional batch|^both$/,
    kafka: error('TRANSACTIONAL_ID_AUTHORIZATION_FAILED'),
    pico: error('INVALID_RECORD'),
    why: 'Without transactions, a transactional batch is no more lawful than a control batch.',
  },
  {
    scenario: 'a transactional id',
    step: /./,
    kafka: expect.anything(), // depends on the state of its transaction coordinator
    pico: error('TRANSACTIONAL_ID_AUTHORIZATION_FAILED'),
    why: transactions,
  },
  {
    scenario: 'InitProducerId with a transactional id',
    step: 'error',
    kafka: expect.anything(),
    pico: 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
    why: transactions,
  },
  {
    scenario: 'timestamps',
    step: 'log append time, set by the client',
    kafka: error('NONE'),
    pico: error('INVALID_TIMESTAMP'),
    why: 'Only brokers stamp the time of append. Kafka drops the bit in silence; no client sets it.',
  },
  {
    scenario: 'null records',
    step: 'null',
    kafka: noAnswer,
    pico: error('INVALID_RECORD'),
    why: 'Kafka never answers, and the client waits for its time-out.',
  },
  {
    scenario: 'Produce before version 3',
    step: /./,
    kafka: connectionClosed,
    pico: error('NONE'),
    why: oldVersions,
  },
  {
    scenario: 'ListOffsets version 0',
    step: /./,
    kafka: connectionClosed,
    pico: [error('NONE')],
    why: oldVersions,
  },
  {
    scenario: 'every version of CreateTopics',
    step: /^version [01]$/,
    kafka: connectionClosed,
    pico: error('NONE'),
    why: oldVersions,
  },
  {
    scenario: 'ApiVersions 5, which Kafka 4.4 clients ask first',
    step: 'answer',
    kafka: 'NONE',
    pico: 'UNSUPPORTED_VERSION',
    why: 'Version 5 lets a client name the node it expects, for clusters that moved. The answer tells it to ask with 4.',
  },
  {
    scenario: 'every version of Fetch',
    step: 'version 18',
    kafka: error('NONE'),
    pico: connectionClosed,
    why: 'Version 18 differs from 17 in a field that only followers send.',
  },
  {
    scenario: 'Fetch sessions that nobody opened',
    step: 'unknown id, epoch 0',
    kafka: expect.objectContaining({ error: 'NONE', session: 'some' }),
    pico: expect.objectContaining({ error: 'NONE', session: 'none' }),
    why: sessions,
  },
  {
    scenario: 'opening a fetch session',
    step: 'session',
    kafka: expect.objectContaining({ error: 'NONE', session: 'some' }),
    pico: expect.objectContaining({ error: 'NONE', session: 'none' }),
    why: sessions,
  },
  {
    scenario: 'partitions and replicas',
    step: /^1 partitions, [23] replicas$/,
    kafka: error('INVALID_REPLICATION_FACTOR'),
    pico: expect.objectContaining({ error: 'NONE', replicas: 1 }),
    why: 'Durability is the object store’s. Tools that ask for 3 work; --kafka-replication-factor strict refuses as Kafka does.',
  },
  {
    scenario: 'partitions and replicas',
    step: '2 partitions, 1 replicas',
    kafka: error('NONE'),
    pico: error('INVALID_PARTITIONS'),
    why: 'A topic is a stream: one partition, unless the operator raised --kafka-max-partitions.',
  },
  {
    scenario: 'CreateTopics only to validate',
    step: 'a good one',
    kafka: expect.objectContaining({ error: 'NONE', topicId: 'some' }),
    pico: expect.objectContaining({ error: 'NONE', topicId: 'none' }),
    why: 'Kafka makes up an id for a topic that will not exist.',
  },
  {
    scenario: 'Metadata of what does not exist',
    step: 'neither name nor id',
    kafka: topicAnswered(error('UNKNOWN_SERVER_ERROR')),
    pico: topicAnswered(error('INVALID_REQUEST')),
    why: clearError,
  },
  {
    scenario: 'Metadata of what does not exist',
    step: 'an id before its time',
    kafka: topicAnswered(error('INVALID_REQUEST')),
    pico: topicAnswered(error('INVALID_REQUEST')),
    why: 'The same error; Kafka leaves out its brokers, for want of which some clients give up for good.',
  },
  {
    scenario: 'Metadata makes a topic that is missing',
    step: 'the first answer',
    kafka: topicAnswered(error('UNKNOWN_TOPIC_OR_PARTITION')),
    pico: topicAnswered(error('NONE')),
    why: 'The topic is made before the answer, which saves every client a retry.',
  },
  {
    scenario: 'single settings are changed',
    step: 'an unknown operation',
    kafka: expect.objectContaining({ answers: ['UNKNOWN_SERVER_ERROR', 'UNKNOWN_SERVER_ERROR'] }),
    pico: expect.objectContaining({ answers: ['INVALID_REQUEST', 'INVALID_REQUEST'] }),
    why: clearError,
  },
]
