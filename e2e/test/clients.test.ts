import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Broker, brokersUnderTest } from '../src/broker.ts'
import { codecs, type KafkaClient, type ProduceSettings } from '../src/clients/client.ts'
import { confluentPython } from '../src/clients/confluent-python.ts'
import { javaClient } from '../src/clients/java.ts'
import { kafkaJs } from '../src/clients/kafkajs.ts'
import { kcat } from '../src/clients/kcat.ts'
import { describeRecord, type ReadRecord, type TestRecord, testRecords } from '../src/clients/record.ts'
import { servesGroups } from '../src/served-apis.ts'
import { missing } from '../src/toolchain.ts'

const clients = await present([kcat, kafkaJs, javaClient, confluentPython])

const ways: readonly ProduceSettings[] = [
  ...codecs.map((codec) => ({ codec, acks: 'all', idempotence: true }) as const),
  { codec: 'none', acks: 'all', idempotence: false },
  { codec: 'gzip', acks: 1, idempotence: false },
  { codec: 'none', acks: 0, idempotence: false },
]

const topics = clients.flatMap((writer) =>
  ways.map((how) => ({ writer, how, topic: topicName(writer, how), records: testRecords(writer.limits) })),
)

describe.each(brokersUnderTest(['pico']))('every record comes back as it was sent: $name', ({ start }) => {
  let broker: Broker
  beforeAll(async () => {
    broker = await start()
  }, 120_000)
  afterAll(() => broker?.close())

  describe.each(clients)('$name writes', (writer) => {
    it.each(topics.filter((each) => each.writer === writer))('$topic', async ({ topic, how, records }) => {
      const offsets = await writer.write(broker.bootstrap, topic, records, how)
      if (offsets !== undefined) expect(offsets).toEqual(records.map((_, index) => index))
    })
  })

  describe.each(clients)('$name reads', (reader) => {
    it.for(clients)('what $name wrote', async (writer, { skip }) => {
      if (reader.readsByGroup && !(await servesGroups(broker.port))) {
        skip(`${reader.name} reads by a consumer group, and this broker serves none`)
      }
      const written = topics.filter((each) => each.writer === writer)
      const wanted = new Map(written.map(({ topic, records }) => [topic, records.length]))
      const read = await reader.read(broker.bootstrap, wanted)
      for (const { topic, records } of written) {
        expectSame(topic, read.get(topic) ?? [], records.map(reader.shows ?? ((record) => record)))
      }
    })
  })
})

function expectSame(topic: string, read: readonly ReadRecord[], written: readonly TestRecord[]): void {
  const offsets = read.map((record) => record.offset)
  expect(offsets, `${topic}: offsets are dense`).toEqual(written.map((_, index) => index))
  expect(read.map(describeRecord), `${topic}: the same bytes`).toEqual(written.map(describeRecord))
  const nowMs = Date.now()
  for (const { timestampMs } of read) expect(Math.abs(nowMs - timestampMs)).toBeLessThan(600_000)
}

function topicName(writer: KafkaClient, how: ProduceSettings): string {
  const client = writer.name.replaceAll(/[^A-Za-z0-9.]+/g, '-')
  return `${client}.${how.codec}.acks-${how.acks}${how.idempotence ? '.idempotent' : ''}`
}

async function present(all: readonly KafkaClient[]): Promise<KafkaClient[]> {
  const found: KafkaClient[] = []
  for (const client of all) if (!(await missing(client.tool))) found.push(client)
  return found
}
