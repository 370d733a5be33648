import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codecs } from '../src/clients/client.ts'
import type { Doors } from '../src/cross/cross-stream.ts'
import { type HttpAnswer, httpCall } from '../src/cross/http-call.ts'
import { type PicoShape, picoBody, readAllOverPico } from '../src/cross/pico-door.ts'
import { Seeded } from '../src/cross/seeded.ts'
import { serveDoors } from '../src/cross/serve-doors.ts'
import type { PicoServer } from '../src/pico.ts'
import { createTopic } from '../src/raw-topics.ts'
import { type BatchWriter, batchWriters, type RecordOutcome } from '../src/schemas/batch-writers.ts'
import {
  type CaseRecord,
  casesOf,
  isTaken,
  type TopicUnderTest,
  topicsUnderTest,
  type WriteCase,
} from '../src/schemas/cases.ts'
import { kindsUnderTest } from '../src/schemas/kinds.ts'
import { putSchema } from '../src/schemas/put-schema.ts'
import { missing } from '../src/toolchain.ts'

const writers: BatchWriter[] = []
for (const writer of batchWriters) if (!(await missing(writer.tool))) writers.push(writer)

let server: PicoServer
let doors: Doors
const schemaIds = new Map<string, number>()
beforeAll(async () => {
  const served = await serveDoors()
  server = served.server
  doors = served.doors
  for (const { kind, text } of kindsUnderTest)
    schemaIds.set(kind, await putSchema(doors.picoUrl, `orders.${kind}`, kind, text))
}, 60_000)
afterAll(() => server?.close())

interface WrittenTopic extends TopicUnderTest {
  readonly topic: string
  readonly cases: readonly WriteCase[]
}

/** Topics of every kind, bound in every way, for one writer alone. */
async function boundTopics(writer: string): Promise<WrittenTopic[]> {
  const topics = kindsUnderTest.flatMap(topicsUnderTest).map((each) => {
    const { kind, encoding, isCompacted } = each
    const topic = `${writer}.${kind.kind}.${encoding}${isCompacted ? '.compacted' : ''}`.replaceAll(
      /[^A-Za-z0-9.]+/g,
      '-',
    )
    return { ...each, topic, cases: casesOf(each, schemaIds.get(kind.kind) ?? -1) }
  })
  for (const { topic, kind, encoding, isCompacted } of topics) {
    await createTopic(doors.kafkaPort, topic, {
      'pico.schema': `orders.${kind.kind}`,
      'pico.schema.validate': 'true',
      'pico.schema.encoding': encoding,
      ...(isCompacted && { 'cleanup.policy': 'compact' }),
    })
  }
  return topics
}

/** Every record that was taken, at the offset that follows from those before, with the bytes that were produced. */
async function expectStored(
  topic: string,
  taken: readonly { key: Buffer | null; value: Buffer | null }[],
): Promise<void> {
  const stored = await readAllOverPico(doors.picoUrl, `/${topic}`, new Seeded(1))
  const shown = (records: readonly { key: Buffer | null; value: Buffer | null }[]) =>
    records.map(({ key, value }) => `${key?.toString('base64')} ${value?.toString('base64') ?? null}`)
  expect(shown(stored), topic).toEqual(shown(taken))
}

describe.each(writers)('$name', (writer) => {
  it.each(codecs)(
    'with codec %s: what is taken is what was sent, and a refused batch leaves nothing',
    async (codec) => {
      const topics = await boundTopics(`${writer.name}.${codec}`)
      const batches = topics.flatMap(({ topic, cases }) => cases.map(({ records }) => ({ topic, records })))
      const outcomes = await writer.write(server.bootstrap, codec, batches)
      expect(outcomes.length).toBe(batches.length)
      let at = 0
      for (const { topic, cases } of topics) {
        const taken: CaseRecord[] = []
        for (const each of cases) {
          const what = `${topic}: ${each.name}`
          const outcome = outcomes[at++] ?? []
          if (isTaken(each)) {
            expect(outcome, what).toEqual(each.records.map((_, index) => ({ offset: taken.length + index })))
            taken.push(...each.records)
          } else expectRefused(outcome, each, writer, what)
        }
        await expectStored(topic, taken)
      }
    },
    120_000,
  )
})

function expectRefused(
  outcome: readonly RecordOutcome[],
  { records }: WriteCase,
  { errors, tellsReasons }: BatchWriter,
  what: string,
): void {
  const expected = records.map(({ isGood }) => (isGood ? errors.neighbour : errors.blamed))
  expect(
    outcome.map(({ error }) => error),
    `${what}: ${JSON.stringify(outcome)}`,
  ).toEqual(expected)
  if (!tellsReasons) return
  for (const [index, { message }] of outcome.entries()) {
    // What the Java client says of a record that is not to blame; of the others it says what the broker does.
    const isNeighbour = message?.includes('part of a batch') ?? false
    expect(isNeighbour, `${what}, record ${index}: ${message}`).toBe(records[index]?.isGood === true)
  }
}

/** A way to write over HTTP. */
interface Shape {
  readonly name: string
  /** What it has no words for: keys, records without a value, more than one record, a record of no bytes. */
  readonly lacks: readonly ('keys' | 'tombstones' | 'batches' | 'empty')[]
  send(topic: string, records: readonly CaseRecord[]): Promise<HttpAnswer>
}

const picoShape = (name: PicoShape, lacks: Shape['lacks'] = []): Shape => ({
  name: `Pico, ${name}`,
  lacks,
  send(topic, records) {
    const all = records.map((record) => ({ ...record, headers: [], timestampMs: null }))
    const { type, body } = picoBody(name, all)
    return httpCall(doors.picoUrl, { method: 'POST', target: `/${topic}`, headers: { 'Content-Type': type }, body })
  },
})

const shapes: readonly Shape[] = [
  picoShape('one record', ['keys', 'tombstones', 'batches', 'empty']),
  picoShape('json batch'),
  picoShape('binary batch 1', ['keys', 'tombstones']),
  picoShape('binary batch 2'),
  {
    name: 'Durable Streams',
    lacks: ['keys', 'tombstones', 'batches', 'empty'],
    send(topic, [record]) {
      const headers = { 'Content-Type': 'application/octet-stream' }
      return httpCall(doors.dsUrl, { method: 'POST', target: `/${topic}`, headers, body: record?.value ?? '' })
    },
  },
]

describe.each(shapes)('HTTP: $name', ({ name, lacks, send }) => {
  it('takes what is good, and tells which record is not, where and why', async () => {
    const isDurableStreams = name === 'Durable Streams'
    for (const { topic, cases, isCompacted } of await boundTopics(`http.${name}`)) {
      // Without keys nothing can be written there.
      if (isCompacted && lacks.includes('keys')) continue
      const taken: CaseRecord[] = []
      for (const { name, records } of requestsOf(cases, lacks)) {
        const answer = await send(topic, records)
        const what = `${topic}: ${name}: ${answer.status} ${answer.body}`
        const bad = records.findIndex(({ isGood }) => !isGood)
        if (bad < 0) {
          expect(answer.status, what).toBe(isDurableStreams ? 204 : 200)
          if (!isDurableStreams) expect(answer.headers['pico-start-seq'], what).toBe(String(taken.length))
          taken.push(...records)
          continue
        }
        expect(answer.status, what).toBe(422)
        expect(JSON.parse(answer.body.toString()), what).toMatchObject({
          error: 'invalid_record',
          problems: [{ index: bad, path: expect.any(String), reason: expect.any(String) }],
        })
      }
      expect(taken.length).toBeGreaterThan(5)
      await expectStored(topic, taken)
    }
  }, 60_000)
})

function requestsOf(cases: readonly WriteCase[], lacks: Shape['lacks']): WriteCase[] {
  const isSendable = ({ value }: CaseRecord) =>
    value === null ? !lacks.includes('tombstones') : value.length > 0 || !lacks.includes('empty')
  const shown = (record: CaseRecord) => (lacks.includes('keys') ? { ...record, key: null } : record)
  return cases.flatMap(({ name, records }) => {
    const sent = records.filter(isSendable).map(shown)
    if (lacks.includes('batches')) return sent.map((record) => ({ name, records: [record] }))
    return sent.length === 0 ? [] : [{ name, records: sent }]
  })
}
