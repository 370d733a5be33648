import { metadata } from '@pico/kafka-codec'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CrossStream, Doors } from '../src/cross/cross-stream.ts'
import { httpCall, numberIn } from '../src/cross/http-call.ts'
import { produceBatch } from '../src/cross/kafka-door.ts'
import { readEverywhere } from '../src/cross/read-everywhere.ts'
import { Seeded } from '../src/cross/seeded.ts'
import { serveDoors } from '../src/cross/serve-doors.ts'
import type { PicoServer } from '../src/pico.ts'
import { connectRaw } from '../src/raw-kafka.ts'
import { createTopic } from '../src/raw-topics.ts'

/** One stream, under the name that each protocol has for it: paths as they go over the wire. */
let server: PicoServer
let doors: Doors
beforeAll(async () => {
  ;({ server, doors } = await serveDoors())
})
afterAll(async () => {
  await server?.close()
})

const pico = (method: string, target: string, body = '') => httpCall(doors.picoUrl, { method, target, body })
const ds = (method: string, target: string, body = '') =>
  httpCall(doors.dsUrl, { method, target, body, headers: { 'Content-Type': 'application/octet-stream' } })

async function produce(topic: string, value: string): Promise<number> {
  const connection = await connectRaw(doors.kafkaPort)
  const record = { key: null, value: Buffer.from(value), headers: [], timestampMs: Date.now() }
  return produceBatch(connection, { topic, records: [record], codec: 'none' }).finally(() => connection.close())
}

/** As Kafka's clients list them. */
async function topics(): Promise<string[]> {
  const connection = await connectRaw(doors.kafkaPort)
  const answer = await connection
    .ask(metadata, 4, {
      topics: null,
      allowAutoTopicCreation: false,
      includeClusterAuthorizedOperations: false,
      includeTopicAuthorizedOperations: false,
    })
    .finally(() => connection.close())
  return answer.topics.map(({ name }) => name ?? '')
}

/** The topic that a stream is listed with. */
async function topicOf(name: string): Promise<string | null | undefined> {
  const answer = await pico('GET', `/?prefix=${encodeURIComponent(name)}&limit=1000`)
  const { streams } = JSON.parse(answer.body.toString()) as { streams: { name: string; topic?: string }[] }
  const found = streams.find((stream) => stream.name === name)
  return found === undefined ? undefined : (found.topic ?? null)
}

/** A record through every door that the stream has; then all of them have all of these. */
async function expectOneStream(path: string, topic: string | null): Promise<void> {
  const before = numberIn(await pico('HEAD', path), 'pico-next-seq')
  expect((await pico('POST', path, 'p')).status).toBe(200)
  expect((await ds('POST', path, 'd')).status).toBe(204)
  if (topic !== null) expect(await produce(topic, 'k')).toBe(before + 2)
  const stream: CrossStream = { kind: 'binary', path, topic, attempts: [] }
  const log = await readEverywhere(doors, stream, new Seeded(1))
  expect(log.slice(before).map(({ value }) => value?.toString())).toEqual(topic === null ? ['p', 'd'] : ['p', 'd', 'k'])
}

const long = (length: number) => 'x'.repeat(length)

describe('a stream that HTTP makes', () => {
  it.each([
    ['/Orders/EU', '/Orders/EU', 'Orders.EU'],
    ['/orders/eu', '/orders/eu', 'orders.eu'],
    ['/plain-name_1', '/plain-name_1', 'plain-name_1'],
    ['/%65ncoded', '/encoded', 'encoded'],
    ['/en%2Fcoded', '/en/coded', 'en.coded'],
    ['/twice%2520', '/twice%20', null],
    ['/a%20b', '/a b', null],
    ['/a:b', '/a:b', null],
    ['/a+b', '/a+b', null],
    ['/%F0%9F%98%80/%D0%B8%D0%BC%D1%8F', '/😀/имя', null],
    ['/caf%C3%A9', '/caf\u00e9', null],
    ['/cafe%CC%81', '/cafe\u0301', null], // looks the same, and is another
    [`/${long(249)}`, `/${long(249)}`, long(249)],
    [`/${long(250)}`, `/${long(250)}`, null],
    [`/${long(100)}/${long(148)}`, `/${long(100)}/${long(148)}`, `${long(100)}.${long(148)}`],
    [`/${long(100)}/${long(149)}`, `/${long(100)}/${long(149)}`, null],
    [`/${'%C3%A9'.repeat(511)}a`, `/${'é'.repeat(511)}a`, null], // 1,024 bytes
  ])(
    'as %s is %s, and topic %s',
    async (path, name, topic) => {
      expect((await pico('PUT', path)).status).toBe(201)
      expect(await topicOf(name)).toBe(topic)
      expect((await ds('PUT', path)).status).toBe(200)
      await expectOneStream(path, topic)
      const listed = await topics()
      if (topic === null) expect(listed).not.toContain(name.slice(1).replaceAll('/', '.'))
      else expect(listed).toContain(topic)
    },
    30_000,
  )

  it('has no topic where another stream has it already', async () => {
    for (const path of ['/taken/by/slashes', '/taken.by.slashes', '/taken/by.slashes']) {
      expect((await pico('PUT', path)).status).toBe(201)
      const topic = path === '/taken/by/slashes' ? 'taken.by.slashes' : null
      expect(await topicOf(path)).toBe(topic)
      await expectOneStream(path, topic)
    }
  })

  it('is one under all spellings of its path', async () => {
    expect((await pico('PUT', '/spelled/name')).status).toBe(201)
    for (const spelling of ['/spelled/%6eame', '/spelled%2Fname', '/spelled%2fn%61me']) {
      expect((await pico('PUT', spelling)).status).toBe(200)
      await expectOneStream(spelling, 'spelled.name')
    }
  })
})

describe('a topic that Kafka makes', () => {
  it.each([
    ['kafka.made', '/kafka.made'],
    ['Kafka.Made', '/Kafka.Made'],
    ['under_score-1', '/under_score-1'],
    [`k${long(248)}`, `/k${long(248)}`],
  ])('%s is %s', async (topic, path) => {
    await createTopic(doors.kafkaPort, topic)
    expect(await topicOf(path)).toBe(topic)
    await expectOneStream(path, topic)
    // A slash is another name, even though HTTP could have made it as this topic.
    const slashed = path.replaceAll('.', '/')
    if (slashed !== path) {
      expect((await pico('HEAD', slashed)).status).toBe(404)
      expect((await pico('PUT', slashed)).status).toBe(201)
      expect(await topicOf(slashed)).toBeNull()
      await expectOneStream(slashed, null)
    }
  })
})

describe('what is nobody’s name', () => {
  const listing = async () => (await pico('GET', '/?limit=1000')).body.toString()

  it.each([
    ['//', 400],
    ['/a//b', 400],
    ['/a/', 400],
    ['/.', 400],
    ['/a/..', 400],
    ['/a/%2e%2e/b', 400],
    ['/a/%2E', 400],
    ['/a%00', 400],
    ['/a%0d%0ab', 400],
    ['/%ff', 400],
    ['/%c0%af', 400],
    ['/%ed%a0%80', 400],
    ['/%zz', 400],
    ['/%', 400],
    [`/${'%C3%A9'.repeat(512)}`, 400], // 1,025 bytes
    ['/_sys', 403],
    ['/_sys/x', 403],
    ['/%5fsys/x', 403],
    ['/_streams/x/1', 403],
  ])('PUT %s is %i', async (path, status) => {
    const before = await listing()
    for (const put of [pico, ds]) {
      const answer = await put('PUT', path, 'x')
      expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([
        status,
        { error: status === 400 ? 'bad_request' : 'forbidden', message: expect.any(String) },
      ])
    }
    expect(await listing()).toBe(before)
  })

  it('PUT /_schemas/x is about a schema, and never makes a stream', async () => {
    const before = await listing()
    expect((await pico('PUT', '/_schemas/x', 'x')).status).toBe(415)
    expect((await ds('PUT', '/_schemas/x', 'x')).status).toBe(403)
    expect(await listing()).toBe(before)
  })
})
