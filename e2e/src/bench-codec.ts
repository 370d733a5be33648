/**
 * Speed of the codec beside kafkajs 2.2.4, in one run: Produce v9 and Fetch v12, requests and responses, both ways.
 *
 * Where kafkajs has the code (it encodes requests and decodes responses, up to Produce 7 and Fetch 11), its own file is
 * run: those rows say "own". It decodes no record batches there, because the record sets are empty. In the other rows
 * its `Encoder` and `Decoder` are driven by code written here in the style of its files, on exactly the bytes of
 * version 9 and 12, but without the promises that its files make for every topic and partition.
 *
 * Encoding ends where the socket takes over: in buffers for `writev` here, in one buffer for kafkajs.
 *
 * Run: `node --conditions=@pico/source src/bench-codec.ts`
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { ByteWriter } from '@pico/binary'
import {
  type Codec,
  type FetchRequest,
  type FetchResponse,
  fetch,
  type ProduceRequest,
  type ProduceResponse,
  produce,
} from '@pico/kafka-codec'

interface KafkaJsEncoder {
  readonly buffer: Buffer
  writeInt16(value: number): this
  writeInt32(value: number): this
  writeInt64(value: bigint): this
  writeUVarInt(value: number): this
  writeUVarIntString(value: string | null): this
  writeUVarIntBytes(value: Uint8Array | null): this
  writeUVarIntArray(array: KafkaJsEncoder[] | null, type?: 'object'): this
}

interface KafkaJsDecoder {
  readInt8(): number
  readInt16(): number
  readInt32(): number
  readInt64(): bigint
  readUVarIntString(): string | null
  readUVarIntBytes(): Buffer | null
  readUVarIntArray<T>(reader: (decoder: KafkaJsDecoder) => T): T[] | null
  readTaggedFields(): object | null
}

const require = createRequire(import.meta.url)
const Encoder = require('kafkajs/src/protocol/encoder') as new () => KafkaJsEncoder
const Decoder = require('kafkajs/src/protocol/decoder') as new (bytes: Uint8Array) => KafkaJsDecoder

const topicCount = 5
const partitionCount = 20
/** A full batch at the default `batch.size` of Kafka's producers. */
const recordsBytes = 16_384
const roundCount = 9
const roundMs = 100
const zeroUuid = '00000000-0000-0000-0000-000000000000'

const produceRequest: ProduceRequest = {
  transactionalId: null,
  acks: -1,
  timeoutMs: 30_000,
  topicData: eachTopic((name) => ({
    name,
    topicId: zeroUuid,
    partitionData: eachPartition((index) => ({ index, records: Buffer.alloc(recordsBytes, index) })),
  })),
}

const fetchResponse: FetchResponse = {
  throttleTimeMs: 0,
  errorCode: 0,
  sessionId: 77,
  responses: eachTopic((topic) => ({
    topic,
    topicId: zeroUuid,
    partitions: eachPartition((partitionIndex) => ({
      partitionIndex,
      errorCode: 0,
      highWatermark: 123_456_789n,
      lastStableOffset: 123_456_789n,
      logStartOffset: 1000n,
      divergingEpoch: { epoch: -1, endOffset: -1n },
      currentLeader: { leaderId: -1, leaderEpoch: -1 },
      snapshotId: { endOffset: -1n, epoch: -1 },
      abortedTransactions: null,
      preferredReadReplica: -1,
      records: Buffer.alloc(recordsBytes, partitionIndex),
    })),
  })),
  nodeEndpoints: [],
}

const produceResponse: ProduceResponse = {
  responses: eachTopic((name) => ({
    name,
    topicId: zeroUuid,
    partitionResponses: eachPartition((index) => ({
      index,
      errorCode: 0,
      baseOffset: 123_456_789n,
      logAppendTimeMs: -1n,
      logStartOffset: 1000n,
      recordErrors: [],
      errorMessage: null,
      currentLeader: { leaderId: -1, leaderEpoch: -1 },
    })),
  })),
  throttleTimeMs: 0,
  nodeEndpoints: [],
}

const fetchRequest: FetchRequest = {
  clusterId: null,
  replicaId: -1,
  replicaState: { replicaId: -1, replicaEpoch: -1n },
  maxWaitMs: 500,
  minBytes: 1,
  maxBytes: 50_000_000,
  isolationLevel: 1,
  sessionId: 0,
  sessionEpoch: -1,
  topics: eachTopic((topic) => ({
    topic,
    topicId: zeroUuid,
    partitions: eachPartition((partition) => ({
      partition,
      currentLeaderEpoch: -1,
      fetchOffset: 123_456_789n,
      lastFetchedEpoch: -1,
      logStartOffset: -1n,
      partitionMaxBytes: 1_000_000,
      replicaDirectoryId: zeroUuid,
      highWatermark: 0x7fff_ffff_ffff_ffffn,
    })),
  })),
  forgottenTopicsData: [],
  rackId: '',
}

/** The same as kafkajs's Fetch file takes it. */
const fetchRequestOfKafkaJs = {
  ...fetchRequest,
  maxWaitTime: fetchRequest.maxWaitMs,
  topics: fetchRequest.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((each) => ({ ...each, maxBytes: each.partitionMaxBytes })),
  })),
}

const fetchResponseWithoutRecords: FetchResponse = {
  ...fetchResponse,
  responses: fetchResponse.responses.map((topic) => ({
    ...topic,
    partitions: topic.partitions.map((partition) => ({ ...partition, records: null })),
  })),
}

function eachTopic<T>(make: (name: string) => T): T[] {
  return Array.from({ length: topicCount }, (_, index) => make(`orders.eu-west-${index}`))
}

function eachPartition<T>(make: (index: number) => T): T[] {
  return Array.from({ length: partitionCount }, (_, index) => make(index))
}

const kafkajs = {
  encodeProduce: (request: ProduceRequest) =>
    new Encoder()
      .writeUVarIntString(request.transactionalId)
      .writeInt16(request.acks)
      .writeInt32(request.timeoutMs)
      .writeUVarIntArray(
        request.topicData.map(({ name, partitionData }) =>
          new Encoder()
            .writeUVarIntString(name)
            .writeUVarIntArray(
              partitionData.map(({ index, records }) =>
                new Encoder().writeInt32(index).writeUVarIntBytes(records).writeUVarInt(0),
              ),
            )
            .writeUVarInt(0),
        ),
      )
      .writeUVarInt(0).buffer,

  decodeProduce(bytes: Uint8Array) {
    const decoder = new Decoder(bytes)
    const request = {
      transactionalId: decoder.readUVarIntString(),
      acks: decoder.readInt16(),
      timeoutMs: decoder.readInt32(),
      topicData: decoder.readUVarIntArray((topic) => {
        const name = topic.readUVarIntString()
        const partitionData = topic.readUVarIntArray((partition) => {
          const index = partition.readInt32()
          const records = partition.readUVarIntBytes()
          partition.readTaggedFields()
          return { index, records }
        })
        topic.readTaggedFields()
        return { name, partitionData }
      }),
    }
    decoder.readTaggedFields()
    return request
  },

  encodeFetch: (response: FetchResponse) =>
    new Encoder()
      .writeInt32(response.throttleTimeMs)
      .writeInt16(response.errorCode)
      .writeInt32(response.sessionId)
      .writeUVarIntArray(
        response.responses.map(({ topic, partitions }) =>
          new Encoder()
            .writeUVarIntString(topic)
            .writeUVarIntArray(
              partitions.map((partition) =>
                new Encoder()
                  .writeInt32(partition.partitionIndex)
                  .writeInt16(partition.errorCode)
                  .writeInt64(partition.highWatermark)
                  .writeInt64(partition.lastStableOffset)
                  .writeInt64(partition.logStartOffset)
                  .writeUVarIntArray(null)
                  .writeInt32(partition.preferredReadReplica)
                  .writeUVarIntBytes(partition.records)
                  .writeUVarInt(0),
              ),
            )
            .writeUVarInt(0),
        ),
      )
      .writeUVarInt(0).buffer,

  decodeFetch(bytes: Uint8Array) {
    const decoder = new Decoder(bytes)
    const response = {
      throttleTimeMs: decoder.readInt32(),
      errorCode: decoder.readInt16(),
      sessionId: decoder.readInt32(),
      responses: decoder.readUVarIntArray((topic) => {
        const name = topic.readUVarIntString()
        const partitions = topic.readUVarIntArray((partition) => {
          const decoded = {
            partitionIndex: partition.readInt32(),
            errorCode: partition.readInt16(),
            highWatermark: partition.readInt64(),
            lastStableOffset: partition.readInt64(),
            logStartOffset: partition.readInt64(),
            abortedTransactions: partition.readUVarIntArray((aborted) => ({
              producerId: aborted.readInt64(),
              firstOffset: aborted.readInt64(),
            })),
            preferredReadReplica: partition.readInt32(),
            records: partition.readUVarIntBytes(),
          }
          partition.readTaggedFields()
          return decoded
        })
        topic.readTaggedFields()
        return { topic: name, partitions }
      }),
    }
    decoder.readTaggedFields()
    return response
  },

  encodeProduceResponse: (response: ProduceResponse) =>
    new Encoder()
      .writeUVarIntArray(
        response.responses.map(({ name, partitionResponses }) =>
          new Encoder()
            .writeUVarIntString(name)
            .writeUVarIntArray(
              partitionResponses.map((partition) =>
                new Encoder()
                  .writeInt32(partition.index)
                  .writeInt16(partition.errorCode)
                  .writeInt64(partition.baseOffset)
                  .writeInt64(partition.logAppendTimeMs)
                  .writeInt64(partition.logStartOffset)
                  .writeUVarIntArray([], 'object')
                  .writeUVarIntString(partition.errorMessage)
                  .writeUVarInt(0),
              ),
            )
            .writeUVarInt(0),
        ),
      )
      .writeInt32(response.throttleTimeMs)
      .writeUVarInt(0).buffer,

  decodeFetchRequest(bytes: Uint8Array) {
    const decoder = new Decoder(bytes)
    const request = {
      replicaId: decoder.readInt32(),
      maxWaitMs: decoder.readInt32(),
      minBytes: decoder.readInt32(),
      maxBytes: decoder.readInt32(),
      isolationLevel: decoder.readInt8(),
      sessionId: decoder.readInt32(),
      sessionEpoch: decoder.readInt32(),
      topics: decoder.readUVarIntArray((topic) => {
        const name = topic.readUVarIntString()
        const partitions = topic.readUVarIntArray((partition) => {
          const decoded = {
            partition: partition.readInt32(),
            currentLeaderEpoch: partition.readInt32(),
            fetchOffset: partition.readInt64(),
            lastFetchedEpoch: partition.readInt32(),
            logStartOffset: partition.readInt64(),
            partitionMaxBytes: partition.readInt32(),
          }
          partition.readTaggedFields()
          return decoded
        })
        topic.readTaggedFields()
        return { topic: name, partitions }
      }),
      forgottenTopicsData: decoder.readUVarIntArray(() => null),
      rackId: decoder.readUVarIntString(),
    }
    decoder.readTaggedFields()
    return request
  },
}

/** kafkajs's own files. */
const own = {
  fetchRequest: require('kafkajs/src/protocol/requests/fetch/v11/request') as (request: object) => KafkaJsRequest,
  fetchResponse: require('kafkajs/src/protocol/requests/fetch/v11/response') as KafkaJsResponse,
  produceResponse: require('kafkajs/src/protocol/requests/produce/v7/response') as KafkaJsResponse,
}

interface KafkaJsRequest {
  encode(): Promise<KafkaJsEncoder>
}

interface KafkaJsResponse {
  decode(bytes: Uint8Array): Promise<unknown>
}

async function compare(name: string, ours: () => unknown, theirs: () => unknown): Promise<void> {
  const rounds: [ours: number, theirs: number][] = []
  for (let round = 0; round < roundCount; round++)
    rounds.push([await microsecondsOf(ours), await microsecondsOf(theirs)])
  const oursUs = median(rounds.map(([us]) => us))
  const theirsUs = median(rounds.map(([, us]) => us))
  const columns = [oursUs.toFixed(1), theirsUs.toFixed(1), `${(theirsUs / oursUs).toFixed(1)} x`]
  console.log(name.padEnd(34) + columns.map((column) => column.padStart(14)).join(''))
}

/** Processor time and not the clock's, so that other work on the machine counts less. Garbage collection is in it. */
async function microsecondsOf(run: () => unknown): Promise<number> {
  const started = process.cpuUsage()
  let count = 0
  let elapsedUs = 0
  while (elapsedUs < roundMs * 1000) {
    for (let batch = 0; batch < 20; batch++, count++) {
      const result = run()
      if (result instanceof Promise) await result
    }
    const { user, system } = process.cpuUsage(started)
    elapsedUs = user + system
  }
  return elapsedUs / count
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

function encode<Out, In>(codec: Codec<Out, In>, value: In): Uint8Array[] {
  const writer = new ByteWriter()
  codec.write(writer, value)
  return writer.finish()
}

/** Makes sure that the code written here for kafkajs does the same work: same bytes out, and all of them read. */
function sameBytes<Out, In>(codec: Codec<Out, In>, value: In, encoded: Buffer): Uint8Array {
  const bytes = codec.encode(value)
  assert.ok(encoded.equals(bytes), `${codec.name}: both write the same bytes`)
  return bytes
}

console.log(
  `${topicCount} topics of ${partitionCount} partitions; record sets of ${recordsBytes} bytes, none in rows "own"`,
)
console.log(`medians of ${roundCount} alternating rounds of ${roundMs} ms, in microseconds of processor time a message`)
console.log(`${''.padEnd(34)}${['@pico', 'kafkajs', 'ratio'].map((column) => column.padStart(14)).join('')}`)

const produceRequestBytes = sameBytes(produce.request(9), produceRequest, kafkajs.encodeProduce(produceRequest))
await compare(
  'Produce request encode',
  () => encode(produce.request(9), produceRequest),
  () => kafkajs.encodeProduce(produceRequest),
)
await compare(
  'Produce request decode',
  () => produce.request(9).decode(produceRequestBytes),
  () => kafkajs.decodeProduce(produceRequestBytes),
)
const produceResponseBytes = sameBytes(
  produce.response(9),
  produceResponse,
  kafkajs.encodeProduceResponse(produceResponse),
)
const oldProduceResponseBytes = Buffer.from(produce.response(7).encode(produceResponse))
await compare(
  'Produce response encode',
  () => encode(produce.response(9), produceResponse),
  () => kafkajs.encodeProduceResponse(produceResponse),
)
await compare(
  'Produce response decode (own)',
  () => produce.response(9).decode(produceResponseBytes),
  () => own.produceResponse.decode(oldProduceResponseBytes),
)
const ownFetchRequest = await own.fetchRequest(fetchRequestOfKafkaJs).encode()
assert.ok(ownFetchRequest.buffer.equals(fetch.request(11).encode(fetchRequest)), 'both write the same Fetch request')
const fetchRequestBytes = Buffer.from(fetch.request(12).encode(fetchRequest))
await compare(
  'Fetch request encode (own)',
  () => encode(fetch.request(12), fetchRequest),
  () => own.fetchRequest(fetchRequestOfKafkaJs).encode(),
)
await compare(
  'Fetch request decode',
  () => fetch.request(12).decode(fetchRequestBytes),
  () => kafkajs.decodeFetchRequest(fetchRequestBytes),
)
const fetchResponseBytes = sameBytes(fetch.response(12), fetchResponse, kafkajs.encodeFetch(fetchResponse))
await compare(
  'Fetch response encode',
  () => encode(fetch.response(12), fetchResponse),
  () => kafkajs.encodeFetch(fetchResponse),
)
await compare(
  'Fetch response decode',
  () => fetch.response(12).decode(fetchResponseBytes),
  () => kafkajs.decodeFetch(fetchResponseBytes),
)
const withoutRecordsBytes = fetch.response(12).encode(fetchResponseWithoutRecords)
const oldWithoutRecordsBytes = Buffer.from(fetch.response(11).encode(fetchResponseWithoutRecords))
await compare(
  'Fetch response decode (own)',
  () => fetch.response(12).decode(withoutRecordsBytes),
  () => own.fetchResponse.decode(oldWithoutRecordsBytes),
)
