import { describe, expect, test } from 'vitest'
import {
  type AcceptedBatch,
  BatchView,
  type CompressionType,
  defaultProduceRules,
  type ProduceRules,
  type ProduceVerdict,
  produceErrors,
  type TimestampType,
  validateProduced,
} from '../src/index.ts'
import { fromBase64, type GoldenVerdict, goldenRecords, readGolden } from './golden-data.ts'

/**
 * Nearly a thousand produced batches, judged by a real broker's code (golden/src/main/java/Broker.java). Every verdict
 * has to be Kafka's, except for the differences listed here, each of which has to occur as often as it says.
 */
const golden = readGolden<GoldenVerdict>('verdicts')
const brokerNowMs = 1_700_000_060_000
const brokerLeaderEpoch = 5

const verdicts = new Map<GoldenVerdict, ProduceVerdict>()

type Difference = { readonly what: string; readonly times: number; readonly applies: (entry: GoldenVerdict) => boolean }

const unknownServerError = -1
const differences: readonly Difference[] = [
  {
    // A Java exception that nobody expected, answered with UNKNOWN_SERVER_ERROR: here a refusal that says what is wrong.
    what: 'Kafka fails with an unexpected exception, and the batch is refused here too',
    times: 53,
    applies: (entry) => entry.errorCode === unknownServerError && !judge(entry).accepted,
  },
  {
    what: 'Kafka fails to renumber compressed records with gaps in their offsets, which are renumbered here',
    times: 17,
    applies: (entry) =>
      entry.error === 'UnsupportedOperationException' && (rewritten(entry)?.batch.codec ?? 'none') !== 'none',
  },
  {
    what: 'Kafka keeps gaps and repetitions among the offsets of uncompressed records, which are renumbered here',
    times: 7,
    applies: (entry) => entry.errorCode === 0 && rewritten(entry)?.batch.codec === 'none' && hasOffsetGaps(entry),
  },
  {
    what: 'Kafka stores compressed records that its own consumers cannot read, which are refused here',
    times: 5,
    applies: (entry) => entry.records === null && errorCodeOf(entry) === produceErrors.invalidRecord,
  },
  {
    what: 'Kafka clears the LogAppendTime bit on a CreateTime topic, which is refused here',
    times: 1,
    applies: (entry) => entry.name === 'log append time bit' && errorCodeOf(entry) === produceErrors.invalidTimestamp,
  },
  {
    what: 'Kafka acknowledges old message sets that hold nothing whole, which are refused here',
    times: 8,
    applies: (entry) => entry.version < 3 && entry.stored === '' && errorCodeOf(entry) === produceErrors.invalidRecord,
  },
  {
    what: 'Kafka takes zstd in Produce 0 to 2, which is refused here as in 3 to 6',
    times: 2,
    applies: (entry) => entry.version < 3 && errorCodeOf(entry) === produceErrors.unsupportedCompressionType,
  },
  {
    what: 'Kafka counts the records of an old uncompressed set each on its own, where they are counted through here',
    times: 3,
    applies: (entry) =>
      entry.version < 3 &&
      entry.errorCode === errorCodeOf(entry) &&
      String(entry.recordErrors ?? []) !== String(recordErrorsOf(entry)),
  },
]

const sameAsKafka = golden.filter((entry) => !differences.some((difference) => difference.applies(entry)))

test.each(differences)('$what: $times times', ({ times, applies }) => {
  expect(golden.filter(applies).length).toBe(times)
})

test('nothing else differs', () => {
  const listed = differences.reduce((total, difference) => total + difference.times, 0)
  expect(sameAsKafka.length).toBe(golden.length - listed)
})

describe.each(sameAsKafka)('$name, Produce $version, $config', (entry) => {
  test(entry.errorCode === 0 ? 'is accepted and stored as Kafka stores it' : `earns ${entry.errorCode}`, () => {
    const verdict = judge(entry)
    if (!verdict.accepted) {
      expect(verdict.errorCode, verdict.errorMessage).toBe(entry.errorCode)
      expect(verdict.recordErrors.map((error) => error.batchIndex)).toEqual(entry.recordErrors ?? [])
      return
    }
    expect(entry.errorCode).toBe(0)
    expect(verdict.maxTimestampMs).toBe(entry.maxTimestamp)
    expect(verdict.logAppendTimeMs).toBe(entry.logAppendTime)
    const stored = store(verdict)
    expect(stored.isCrcValid()).toBe(true)
    expect(stored.count).toBe(verdict.count)
    expect(goldenRecords(stored)).toEqual(entry.records)
    const kafkas = new BatchView(fromBase64(entry.stored ?? ''))
    // Another compressor makes other bytes of the same records; everything else is the same to the byte.
    if (verdict.rewritten && stored.codec !== 'none') expect(headerOf(stored)).toEqual(headerOf(kafkas))
    else expect(Buffer.from(stored.batchBytes()).equals(kafkas.batchBytes())).toBe(true)
  })
})

function judge(entry: GoldenVerdict): ProduceVerdict {
  const verdict = verdicts.get(entry) ?? validateProduced(fromBase64(entry.bytes), rulesOf(entry))
  verdicts.set(entry, verdict)
  return verdict
}

function rulesOf({ config, version }: GoldenVerdict): ProduceRules {
  const defaults = defaultProduceRules
  return {
    ...defaults,
    produceVersion: version,
    nowMs: brokerNowMs,
    maxMessageBytes: Number(config['max.message.bytes'] ?? defaults.maxMessageBytes),
    timestampType: (config['message.timestamp.type'] ?? defaults.timestampType) as TimestampType,
    timestampBeforeMaxMs: Number(config['message.timestamp.before.max.ms'] ?? defaults.timestampBeforeMaxMs),
    isCompacted: config['cleanup.policy'] === 'compact',
    compressionType: (config['compression.type'] ?? defaults.compressionType) as CompressionType,
  }
}

/** What a log does with an accepted batch: copy, then patch. */
function store(verdict: AcceptedBatch): BatchView {
  const stored = new BatchView(new Uint8Array(verdict.batch.batchBytes()))
  stored.patchPartitionLeaderEpoch(brokerLeaderEpoch)
  if (verdict.logAppendTimeMs !== -1) stored.stampLogAppendTime(verdict.logAppendTimeMs)
  return stored
}

function headerOf(batch: BatchView): unknown[] {
  const { baseOffset, partitionLeaderEpoch, attributes, lastOffsetDelta, baseTimestamp, maxTimestamp } = batch
  const { producerId, producerEpoch, baseSequence, count } = batch
  return [
    [baseOffset, partitionLeaderEpoch, attributes, lastOffsetDelta, baseTimestamp, maxTimestamp],
    [producerId, producerEpoch, baseSequence, count],
  ]
}

function errorCodeOf(entry: GoldenVerdict): number {
  const verdict = judge(entry)
  return verdict.accepted ? 0 : verdict.errorCode
}

function recordErrorsOf(entry: GoldenVerdict): number[] {
  const verdict = judge(entry)
  return verdict.accepted ? [] : verdict.recordErrors.map((error) => error.batchIndex)
}

function rewritten(entry: GoldenVerdict): AcceptedBatch | null {
  const verdict = judge(entry)
  return verdict.accepted && verdict.rewritten ? verdict : null
}

function hasOffsetGaps(entry: GoldenVerdict): boolean {
  return entry.records?.some((record, index) => record.offset !== index) ?? false
}
