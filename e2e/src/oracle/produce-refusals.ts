import { setTimeout as sleep } from 'node:timers/promises'
import { crc32, gzipSync, zstdCompressSync } from 'node:zlib'
import { zeroUuid } from '@pico/binary'
import { fetch, produce } from '@pico/kafka-codec'
import { type BatchFields, type BatchRecord, decodeBatches, encodeBatch, encodeRecord } from '../test-batch.ts'
import { errorText, noAnswer, type ProduceSettings, type Scenario, type Session } from './session.ts'

const one: BatchRecord = { key: Buffer.from('key'), value: Buffer.from('value') }
const three: BatchRecord[] = [one, { ...one, timestampDelta: 5 }, { ...one, timestampDelta: 2 }]

const transactional = 1 << 4
const control = 1 << 5
const logAppendTime = 1 << 3
const hourMs = 3_600_000n

/** What a broker refuses to append, and how (kafka-compat 2.2). */
export const produceRefusals: readonly Scenario[] = [
  refusals('a damaged batch', {
    'wrong CRC': { records: [one], crc: 12_345 },
    'magic 0': { records: [one], magic: 0 },
    'magic 1': { records: [one], magic: 1 },
    'magic 3': { records: [one], magic: 3 },
    'magic -1': { records: [one], magic: -1 },
    'a base offset': { records: [one], baseOffset: 5n },
    'a leader epoch': { records: [one], partitionLeaderEpoch: 7 },
    'a length below a header': { records: [one], batchLength: 20 },
    'a negative length': { records: [one], batchLength: -1 },
    'a length past the end': { records: [one], batchLength: 1000 },
  }),
  refusals('wrong counts', {
    'no records': { records: [] },
    'count 0': { records: [one], recordCount: 0 },
    'count -1': { records: [one], recordCount: -1 },
    'count one more': { records: three, recordCount: 4 },
    'count one less': { records: three, recordCount: 2 },
    'last offset delta one more': { records: three, lastOffsetDelta: 3 },
    'last offset delta one less': { records: three, lastOffsetDelta: 1 },
    'last offset delta -1': { records: three, lastOffsetDelta: -1 },
    'count and delta one more': { records: three, recordCount: 4, lastOffsetDelta: 3 },
    'count and delta one less': { records: three, recordCount: 2, lastOffsetDelta: 1 },
    'two billion': { records: [one], recordCount: 2_000_000_000, lastOffsetDelta: 1_999_999_999 },
  }),
  refusals('wrong records', {
    'offset deltas with a gap': {
      records: [one, { ...one, offsetDelta: 2 }, { ...one, offsetDelta: 3 }],
      lastOffsetDelta: 3,
    },
    'offset deltas with a gap, count as records': { records: [one, { ...one, offsetDelta: 2 }] },
    'offset deltas that fall': {
      records: [
        { ...one, offsetDelta: 1 },
        { ...one, offsetDelta: 0 },
      ],
    },
    'a record longer than the batch': { records: [one], payload: Buffer.from([0x7e, 0, 0, 0, 1, 1, 0]) },
    'a negative record length': { records: [one], payload: Buffer.from([0x01, 0, 0, 0, 1, 1, 0]) },
    'a key longer than its record': { records: [one], payload: Buffer.from([12, 0, 0, 0, 60, 1, 0]) },
    'a negative count of headers': { records: [one], payload: Buffer.from([12, 0, 0, 0, 1, 1, 1]) },
    'more headers than fit': { records: [one], payload: Buffer.from([12, 0, 0, 0, 1, 1, 100]) },
    'a header without a name': { records: [one], payload: Buffer.from([16, 0, 0, 0, 1, 1, 2, 1, 1]) },
    'a record shorter than it says': { records: [one], payload: Buffer.from([14, 0, 0, 0, 1, 1, 0, 0]) },
    'bytes after the last record': { records: [one], payload: Buffer.concat([encodeRecord(one, 0), Buffer.alloc(5)]) },
    'neither key nor value': { records: [{}] },
  }),
  refusals('what only brokers may write', {
    'a control batch': { records: [one], attributes: control },
    'a transactional batch without a transactional id': { records: [one], attributes: transactional },
    both: { records: [one], attributes: control | transactional },
    'a transactional batch with a producer id': {
      records: [one],
      attributes: transactional,
      producerId: 1n,
      producerEpoch: 0,
      baseSequence: 0,
    },
  }),
  {
    name: 'a transactional id',
    async run(session) {
      await session.makeTopic()
      const batch = { records: [one], attributes: transactional, producerId: 1n, producerEpoch: 0, baseSequence: 0 }
      await session.note('transactional batch', () => session.produce(batch, { transactionalId: 'tx' }))
      await session.note('plain batch', () => session.produce({ records: [one] }, { transactionalId: 'tx' }))
    },
  },
  refusals('timestamps', {
    'two hours ahead': { records: [one], baseTimestamp: BigInt(Date.now()) + 2n * hourMs },
    'one of three two hours ahead': { records: [one, { ...one, timestampDelta: 7_200_000 }, one] },
    'half an hour ahead': { records: [one], baseTimestamp: BigInt(Date.now()) + hourMs / 2n },
    'ten years back': { records: [one], baseTimestamp: BigInt(Date.now()) - 87_600n * hourMs },
    none: { records: [one], baseTimestamp: -1n, maxTimestamp: -1n },
    zero: { records: [one], baseTimestamp: 0n, maxTimestamp: 0n },
    'minus two': { records: [one], baseTimestamp: -2n, maxTimestamp: -2n },
    'log append time, set by the client': { records: [one], attributes: logAppendTime },
    'log append time, no timestamp': {
      records: [one],
      attributes: logAppendTime,
      baseTimestamp: -1n,
      maxTimestamp: -1n,
    },
    'a maximum too high': { records: three, baseTimestamp: 1_000_000n, maxTimestamp: 9_000_000n },
    'a maximum too low': { records: three, baseTimestamp: 1_000_000n, maxTimestamp: 1_000_000n },
    'no maximum': { records: three, baseTimestamp: 1_000_000n, maxTimestamp: -1n },
  }),
  refusals('compression', {
    'codec 5': { records: [one], attributes: 5 },
    'codec 6': { records: [one], attributes: 6 },
    'codec 7': { records: [one], attributes: 7 },
    'gzip that is none': { records: [one], attributes: 1, payload: Buffer.from('this is not gzip') },
    'gzip cut short': { records: [one], attributes: 1, payload: gzipSync(encodeRecord(one, 0)).subarray(0, 20) },
    'snappy that is none': { records: [one], attributes: 2, payload: Buffer.alloc(30, 0xff) },
    'lz4 that is none': { records: [one], attributes: 3, payload: Buffer.alloc(30, 0xff) },
    'zstd that is none': { records: [one], attributes: 4, payload: Buffer.alloc(30, 0xff) },
    'gzip of fewer records': { records: three, attributes: 1, payload: gzipSync(encodeRecord(one, 0)) },
    'gzip of more records': {
      records: [one],
      attributes: 1,
      payload: gzipSync(Buffer.concat(three.map(encodeRecord))),
    },
    'gzip of nothing': { records: [one], attributes: 1, payload: gzipSync(Buffer.alloc(0)) },
    'gzip, right': { records: three, attributes: 1, payload: gzipSync(Buffer.concat(three.map(encodeRecord))) },
    'zstd, right': { records: three, attributes: 4, payload: zstdCompressSync(Buffer.concat(three.map(encodeRecord))) },
    'gzip, offset deltas with a gap': {
      records: [one, one],
      attributes: 1,
      payload: gzipSync(Buffer.concat([encodeRecord(one, 0), encodeRecord({ ...one, offsetDelta: 5 }, 1)])),
    },
    'gzip, a maximum timestamp too high': {
      records: three,
      attributes: 1,
      baseTimestamp: 1_000_000n,
      maxTimestamp: 9_000_000n,
      payload: gzipSync(Buffer.concat(three.map(encodeRecord))),
    },
  }),
  {
    name: 'zstd in versions before 7',
    async run(session) {
      await session.makeTopic()
      const payload = zstdCompressSync(encodeRecord(one, 0))
      for (const version of [3, 5, 6, 7]) {
        await session.note(`version ${version}`, () =>
          session.produce({ records: [one], attributes: 4, payload }, { version }),
        )
      }
    },
  },
  {
    name: 'several batches, and bytes around them',
    async run(session) {
      await session.makeTopic()
      const batch = encodeBatch({ records: [one] })
      const bytes = (...parts: Uint8Array[]) => Buffer.concat(parts)
      await session.note('nothing', () => session.produce(new Uint8Array()))
      await session.note('ten bytes', () => session.produce(Buffer.alloc(10)))
      await session.note('a batch without its last byte', () => session.produce(batch.subarray(0, -1)))
      await session.note('two batches', () => session.produce(bytes(batch, batch)))
      await session.note('a batch and a part of one', () => session.produce(bytes(batch, batch.subarray(0, 40))))
      await session.note('a batch and ten zeros', () => session.produce(bytes(batch, Buffer.alloc(10))))
      await session.note('end', () => session.endOffset())
    },
  },
  {
    name: 'null records',
    async run(session) {
      await session.makeTopic()
      const silent = sleep(2000).then(() => noAnswer)
      await session.note('null', () => Promise.race([session.produce(null), silent]))
      session.close()
      await session.note('end', () => session.endOffset())
    },
  },
  {
    name: 'sizes at the limit of the topic',
    async run(session) {
      await session.makeTopic({ 'max.message.bytes': '1000' })
      const sized = (bytes: number) => {
        const empty = encodeBatch({ records: [{ value: Buffer.alloc(200) }] }).length
        return { records: [{ value: Buffer.alloc(200 + bytes - empty) }] }
      }
      await session.note('999 bytes', () => session.produce(sized(999)))
      await session.note('1000 bytes', () => session.produce(sized(1000)))
      await session.note('1001 bytes', () => session.produce(sized(1001)))
      await session.note('1001 bytes with a wrong CRC', () => session.produce({ ...sized(1001), crc: 1 }))
      await session.note('end', () => session.endOffset())
    },
  },
  {
    name: 'sizes at the limit of the broker',
    async run(session) {
      await session.makeTopic()
      const sized = (bytes: number) => ({ records: [{ value: Buffer.alloc(bytes - 61 - 12) }] })
      const length = (bytes: number) => encodeBatch(sized(bytes)).length
      await session.note('1048588 bytes', async () => [length(1_048_588), await session.produce(sized(1_048_588))])
      await session.note('1048589 bytes', async () => [length(1_048_589), await session.produce(sized(1_048_589))])
      await session.note('3 MiB', () => session.produce(sized(3 * 1024 * 1024)))
    },
  },
  {
    name: 'acks that do not exist',
    async run(session) {
      await session.makeTopic()
      for (const acks of [2, -2, 100]) {
        await session.note(`acks=${acks}`, () => session.produce({ records: [one] }, { acks }))
      }
      await session.note('end', () => session.endOffset())
    },
  },
  {
    name: 'acks=0',
    async run(session) {
      await session.makeTopic()
      await session.note('a good batch', () => tell(session, encodeBatch({ records: [one] })))
      await session.note('end', () => eventually(() => session.endOffset(), 1))
      await session.note('a bad batch', () => tell(session, encodeBatch({ records: [one], crc: 1 })))
      await session.note('end after', () => session.endOffset())
    },
  },
  {
    name: 'topics and partitions that do not exist',
    async run(session) {
      await session.makeTopic()
      const send = (settings: ProduceSettings) => session.produce({ records: [one] }, settings)
      await session.note('unknown topic', () => send({ topic: `${session.topic}-not` }))
      await session.note('illegal topic', () => send({ topic: 'no such/name' }))
      await session.note('partition 1', () => send({ partition: 1 }))
      await session.note('partition -1', () => send({ partition: -1 }))
      const topicId = '6f2b1c8e-3a5d-4e7f-9b0a-1c2d3e4f5a6b'
      await session.note('unknown topic id', () => send({ version: 13, topicId }))
      await session.note('zero topic id', () => send({ version: 13, topicId: zeroUuid }))
    },
  },
  {
    name: 'one bad partition does not void the others',
    async run(session) {
      await session.makeTopic()
      const other = `${session.topic}-other`
      await session.makeTopic({}, other)
      const connection = await session.connection()
      const good = encodeBatch({ records: [one] })
      const bad = encodeBatch({ records: [one], crc: 1 })
      await session.note('a good, a bad, an unknown one', async () => {
        const answer = await connection.ask(produce, 9, {
          acks: -1,
          timeoutMs: 10_000,
          topicData: [
            { name: session.topic, topicId: zeroUuid, partitionData: [{ index: 0, records: bad }] },
            {
              name: other,
              topicId: zeroUuid,
              partitionData: [
                { index: 0, records: good },
                { index: 1, records: good },
              ],
            },
          ],
        })
        return answer.responses
          .flatMap(({ name, partitionResponses }) =>
            partitionResponses.map(
              ({ index, errorCode, baseOffset }) =>
                `${name === other ? 'other' : 'topic'} ${index}: ${errorText(errorCode)} at ${baseOffset}`,
            ),
          )
          .sort()
      })
    },
  },
  {
    name: 'a compacted topic wants keys',
    async run(session) {
      await session.makeTopic({ 'cleanup.policy': 'compact' })
      await session.note('all with keys', () => session.produce({ records: [one, one] }))
      await session.note('the second without', () => session.produce({ records: [one, { value: Buffer.from('v') }] }))
      await session.note('end', () => session.endOffset())
    },
  },
  {
    name: 'a topic that stamps the time of append',
    async run(session) {
      await session.makeTopic({ 'message.timestamp.type': 'LogAppendTime' })
      const old = { records: three, baseTimestamp: 1000n }
      await session.note('an old timestamp', () => session.produce(old))
      await session.note('the bit set by the client', () => session.produce({ ...old, attributes: logAppendTime }))
      await session.note('stored', () => stored(session))
    },
  },
  {
    name: 'what is stored of a batch',
    async run(session) {
      await session.makeTopic()
      await session.note('first', () => session.produce({ records: three, baseTimestamp: 1_000_000n }))
      await session.note('second', () =>
        session.produce({ records: [one], partitionLeaderEpoch: 55, baseTimestamp: 2_000_000n }),
      )
      await session.note('stored', () => stored(session))
    },
  },
  {
    name: 'every version of Produce',
    async run(session) {
      await session.makeTopic()
      for (let version = 3; version <= 13; version++) {
        await session.note(`version ${version}`, () => session.produce({ records: [one] }, { version }))
      }
    },
  },
  {
    name: 'Produce before version 3',
    async run(session) {
      await session.makeTopic()
      for (const version of [0, 1, 2]) {
        await session.note(`version ${version}`, () => session.produce(oldMessage(version === 2 ? 1 : 0), { version }))
      }
    },
  },
]

/**
 * A topic of its own, to which every batch is offered. Noted are the answer, how many offsets were used, and what was
 * stored; not where, which depends on what was taken before.
 */
function refusals(name: string, batches: Readonly<Record<string, BatchFields>>): Scenario {
  return {
    name,
    async run(session) {
      await session.makeTopic()
      for (const [title, batch] of Object.entries(batches)) {
        const before = await session.endOffset()
        await session.note(title, async () => {
          const { baseOffset, ...answer } = await session.produce(batch)
          const appended = (await session.endOffset()) - before
          const at = baseOffset === -1 ? 'nowhere' : baseOffset === before ? 'the end' : 'elsewhere'
          return { ...answer, at, appended, stored: appended === 0 ? 'nothing' : await stored(session, before) }
        })
      }
    },
  }
}

/** Produce with acks=0: says whether the connection lived on. */
async function tell(session: Session, records: Uint8Array): Promise<string> {
  const connection = await session.connection()
  connection.tell(produce, 9, {
    acks: 0,
    timeoutMs: 10_000,
    topicData: [{ name: session.topic, topicId: zeroUuid, partitionData: [{ index: 0, records }] }],
  })
  const open = new Promise<string>((resolve) => setTimeout(resolve, 1000, noAnswer))
  const outcome = await Promise.race([connection.closed.then(() => 'connection closed'), open])
  if (outcome !== noAnswer) session.close()
  return outcome
}

async function eventually(ask: () => Promise<number>, wanted: number): Promise<number> {
  for (let attempt = 0; attempt < 50 && (await ask()) !== wanted; attempt++) {
    await sleep(100)
  }
  return ask()
}

/** The batches of the topic as any consumer gets them. */
async function stored(session: Session, offset = 0): Promise<unknown> {
  const connection = await session.connection()
  const answer = await connection.ask(fetch, 11, {
    maxWaitMs: 1000,
    minBytes: 1,
    sessionEpoch: -1,
    topics: [
      {
        topic: session.topic,
        topicId: zeroUuid,
        partitions: [{ partition: 0, fetchOffset: BigInt(offset), partitionMaxBytes: 1 << 20 }],
      },
    ],
    forgottenTopicsData: [],
  })
  const epoch = await session.leaderEpoch()
  const recent = (timestampMs: number) => (Math.abs(Date.now() - timestampMs) < 60_000 ? 'now' : timestampMs)
  return decodeBatches(answer.responses[0]?.partitions[0]?.records ?? new Uint8Array()).map((batch) => ({
    baseOffset: batch.baseOffset - offset,
    attributes: batch.attributes,
    leaderEpoch: batch.partitionLeaderEpoch === epoch ? 'current' : batch.partitionLeaderEpoch - epoch,
    maxTimestamp: recent(batch.maxTimestampMs),
    offsets: batch.records.map((record) => record.offset - offset),
    timestamps: batch.records.map((record) => recent(record.timestampMs)),
  }))
}

/** A message set of one message, magic 0 or 1, with its CRC-32 (not CRC-32C). */
function oldMessage(magic: 0 | 1): Buffer {
  const value = Buffer.from('old')
  const body = Buffer.alloc(magic === 0 ? 2 : 10)
  body.writeInt8(magic, 0)
  if (magic === 1) body.writeBigInt64BE(1_000_000n, 2)
  const key = Buffer.from([0xff, 0xff, 0xff, 0xff])
  const length = Buffer.alloc(4)
  length.writeInt32BE(value.length)
  const checked = Buffer.concat([body, key, length, value])
  const head = Buffer.alloc(16)
  head.writeInt32BE(checked.length + 4, 8)
  head.writeUInt32BE(crc32(checked), 12)
  return Buffer.concat([head, checked])
}
