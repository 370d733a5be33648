import { gzipSync, zstdCompressSync } from 'node:zlib'
import { zeroUuid } from '@pico/binary'
import { fetch, produce } from '@pico/kafka-codec'
import { compressFrameSync } from 'lz4-napi'
import { compressSync } from 'snappy'
import { ConnectionLostError, type RawConnection } from '../raw-kafka.ts'
import { KafkaRefusal } from '../raw-topics.ts'
import { decodeBatches, encodeBatch, encodeRecord } from '../test-batch.ts'
import type { CrossRecord, StoredRecord } from './cross-record.ts'

export const batchCodecs = ['none', 'gzip', 'snappy', 'java snappy', 'lz4', 'zstd'] as const
export type BatchCodec = (typeof batchCodecs)[number]

export interface KafkaBatch {
  readonly topic: string
  /** With a timestamp each. */
  readonly records: readonly CrossRecord[]
  readonly codec: BatchCodec
  /** Of an idempotent producer. */
  readonly stamp?: { readonly producerId: bigint; readonly baseSequence: number }
}

/** Returns its base offset. @throws KafkaRefusal, ConnectionLostError */
export async function produceBatch(connection: RawConnection, batch: KafkaBatch): Promise<number> {
  const { topic, records, codec, stamp } = batch
  const baseTimestampMs = records[0]?.timestampMs ?? 0
  const encoded = records.map((record) => ({
    key: record.key,
    value: record.value,
    headers: record.headers.map(([name, value]) => [name.toString(), value] as const),
    timestampDelta: (record.timestampMs ?? 0) - baseTimestampMs,
  }))
  const [attributes, compress] = compressors[codec]
  const bytes = encodeBatch({
    records: encoded,
    attributes,
    baseTimestamp: BigInt(baseTimestampMs),
    ...(stamp === undefined ? {} : { ...stamp, producerEpoch: 0 }),
    payload: compress(Buffer.concat(encoded.map(encodeRecord))),
  })
  const answer = await connection.ask(produce, 9, {
    transactionalId: null,
    acks: -1,
    timeoutMs: 30_000,
    topicData: [{ name: topic, topicId: zeroUuid, partitionData: [{ index: 0, records: bytes }] }],
  })
  const partition = answer.responses[0]?.partitionResponses[0]
  if (partition === undefined) throw new Error('Produce was answered without its partition')
  if (partition.errorCode !== 0) throw new KafkaRefusal(`Produce to ${topic}`, partition.errorCode)
  return Number(partition.baseOffset)
}

/** All records of a topic, by Fetch, in answers of any size. */
export async function fetchAll(
  connection: RawConnection,
  topic: string,
  partitionMaxBytes: number,
): Promise<StoredRecord[]> {
  const all: StoredRecord[] = []
  for (;;) {
    const answer = await connection.ask(fetch, 11, {
      maxWaitMs: 0,
      minBytes: 1,
      maxBytes: 8 * 1024 * 1024,
      sessionId: 0,
      sessionEpoch: -1,
      topics: [
        {
          topic,
          topicId: zeroUuid,
          partitions: [{ partition: 0, fetchOffset: BigInt(all.length), partitionMaxBytes }],
        },
      ],
      forgottenTopicsData: [],
    })
    const partition = answer.responses[0]?.partitions[0]
    if (partition === undefined) throw new ConnectionLostError('Fetch was answered without its partition')
    if (partition.errorCode !== 0) throw new KafkaRefusal(`Fetch of ${topic} from ${all.length}`, partition.errorCode)
    const before = all.length
    for (const batch of decodeBatches(partition.records ?? new Uint8Array())) {
      for (const record of batch.records) if (record.offset >= before) all.push(record)
    }
    if (all.length > before) continue
    if (partition.highWatermark === BigInt(before)) return all
    throw new Error(`${topic}: nothing at ${before}, below the high watermark ${partition.highWatermark}`)
  }
}

const compressors: Readonly<Record<BatchCodec, readonly [attributes: number, (payload: Buffer) => Buffer]>> = {
  none: [0, (payload) => payload],
  gzip: [1, (payload) => gzipSync(payload)],
  snappy: [2, (payload) => compressSync(payload)],
  'java snappy': [2, javaSnappy],
  lz4: [3, (payload) => compressFrameSync(Buffer.from(payload))],
  zstd: [4, (payload) => zstdCompressSync(payload)],
}

/** As snappy-java's stream writes it: magic, version 1, compatible with 1, then blocks of 32 KiB, each after its length. */
function javaSnappy(payload: Buffer): Buffer {
  const parts = [Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1])]
  for (let at = 0; at < payload.length; at += 32 * 1024) {
    const block = compressSync(payload.subarray(at, at + 32 * 1024))
    const length = Buffer.alloc(4)
    length.writeInt32BE(block.length)
    parts.push(length, Buffer.from(block))
  }
  return Buffer.concat(parts)
}
