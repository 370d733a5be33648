import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import kafkajs, { type IHeaders, type KafkaMessage } from 'kafkajs'
import { compressFrame, decompressFrame } from 'lz4-napi'
import { compress, uncompress } from 'snappy'
import type { Codec, KafkaClient } from './client.ts'
import type { ReadRecord, TestRecord } from './record.ts'

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs

/** kafkajs 2.2: the most used client in JavaScript. It brings gzip; the other codecs are what its users plug in. */
export const kafkaJs: KafkaClient = {
  name: 'kafkajs',
  limits: { nullHeaderValues: false, binaryHeaderValues: true, recordsOfNothing: true },
  tool: async () => undefined,
  readsByGroup: true,
  async write(bootstrap, topic, records, how) {
    // kafkajs says that idempotence with more than one request in flight can lose the order.
    const inFlight = how.idempotence ? { idempotent: true, maxInFlightRequests: 1 } : {}
    const producer = open(bootstrap).producer({ allowAutoTopicCreation: true, ...inFlight })
    await producer.connect()
    const offsets: number[] = []
    try {
      for (const messages of chunks(records)) {
        const answers = await producer.send({
          topic,
          acks: how.acks === 'all' ? -1 : how.acks,
          compression: compressionTypes[how.codec],
          messages: messages.map((record) => ({ ...record, headers: toHeaders(record), partition: 0 })),
        })
        const base = Number(answers?.[0]?.baseOffset)
        offsets.push(...messages.map((_, index) => base + index))
      }
    } finally {
      await producer.disconnect()
    }
    return how.acks === 0 ? undefined : offsets
  },
  async read(bootstrap, wanted) {
    const byTopic = new Map([...wanted.keys()].map((topic) => [topic, [] as ReadRecord[]]))
    const consumer = open(bootstrap).consumer({ groupId: `read-${Date.now()}-${process.pid}` })
    await consumer.connect()
    try {
      await consumer.subscribe({ topics: [...wanted.keys()], fromBeginning: true })
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`kafkajs got ${counts(byTopic)} of ${counts(wanted)}`)), 30_000)
        const left = new Set([...wanted].filter(([, count]) => count > 0).map(([topic]) => topic))
        const done = (settle: () => void) => {
          clearTimeout(timer)
          settle()
        }
        consumer.on('consumer.crash', ({ payload }) => {
          if (!payload.restart) done(() => reject(payload.error)) // else it only waits, as for a coordinator that loads
        })
        consumer
          .run({
            eachMessage: async ({ topic, message }) => {
              byTopic.get(topic)?.push(toRecord(message))
              if (byTopic.get(topic)?.length === wanted.get(topic)) left.delete(topic)
              if (left.size === 0) done(resolve)
            },
          })
          .catch((error: unknown) => done(() => reject(error)))
      })
    } finally {
      await consumer.disconnect()
    }
    return byTopic
  },
}

export const compressionTypes: Record<Codec, number> = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

const zstd = { compress: promisify(zstdCompress), decompress: promisify(zstdDecompress) }
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: (encoder: { buffer: Buffer }) => zstd.compress(encoder.buffer),
  decompress: (bytes: Buffer) => zstd.decompress(bytes),
})
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: (encoder: { buffer: Buffer }) => compressFrame(encoder.buffer),
  decompress: (bytes: Buffer) => decompressFrame(bytes),
})
CompressionCodecs[CompressionTypes.Snappy] = () => ({
  compress: (encoder: { buffer: Buffer }) => compress(encoder.buffer),
  decompress: unsnappy,
})

/** Java writes snappy in blocks under a header (snappy-java's stream format); librdkafka and kafkajs write one raw block. */
async function unsnappy(bytes: Buffer): Promise<Buffer> {
  const magic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0])
  const blocksFrom = magic.length + 8 // two int32 versions follow
  if (!bytes.subarray(0, magic.length).equals(magic)) return (await uncompress(bytes, { asBuffer: true })) as Buffer
  const blocks: Buffer[] = []
  for (let at = blocksFrom; at < bytes.length; ) {
    const length = bytes.readInt32BE(at)
    blocks.push((await uncompress(bytes.subarray(at + 4, at + 4 + length), { asBuffer: true })) as Buffer)
    at += 4 + length
  }
  return Buffer.concat(blocks)
}

function open(bootstrap: string): InstanceType<typeof Kafka> {
  return new Kafka({ clientId: 'e2e', brokers: [bootstrap], logLevel: logLevel.NOTHING, retry: { retries: 8 } })
}

/** A send of kafkajs is one batch, which must stay under the broker's largest message (1 MiB). */
function chunks(records: readonly TestRecord[]): TestRecord[][] {
  const list: TestRecord[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const record of records) {
    const size = 200 + (record.key?.length ?? 0) + (record.value?.length ?? 0)
    if (bytes + size > 1_000_000) {
      list.push([])
      bytes = 0
    }
    list.at(-1)?.push(record)
    bytes += size
  }
  return list
}

function toHeaders(record: TestRecord): IHeaders {
  const headers: Record<string, Buffer[]> = {}
  for (const [name, value] of record.headers) {
    if (value === null) throw new Error('kafkajs cannot send a header without a value')
    headers[name] = [...(headers[name] ?? []), value]
  }
  return headers
}

function toRecord(message: KafkaMessage): ReadRecord {
  const headers = Object.entries(message.headers ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => [name, each == null ? null : Buffer.from(each)] as const),
  )
  const { key, value } = message
  return { offset: Number(message.offset), timestampMs: Number(message.timestamp), key, value, headers }
}

function counts(byTopic: ReadonlyMap<string, number | unknown[]>): string {
  return [...byTopic].map(([topic, count]) => `${topic} ${Array.isArray(count) ? count.length : count}`).join(', ')
}
