import { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { produce } from '../produce.ts'
import { EventReader } from './event-reader.ts'
import { errorOf, PicoSystem, picoHeadersOf } from './pico-system.ts'

const timing = { longPollTimeoutMs: 400, sseMaxDurationMs: 1500, sseKeepAliveMs: 200 }
let pico: PicoSystem
beforeAll(async () => {
  pico = await PicoSystem.open(timing)
})
afterEach(async () => {
  await expect.poll(() => pico.liveReaders).toBe(0)
})
afterAll(async () => {
  expect(pico.errors).toEqual([])
  await pico.close()
})

/** What the sockets of the server at this port hold, all together. */
function unsentBytes(port: number): number {
  const handles = (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles()
  const sockets = handles.filter((handle): handle is Socket => handle instanceof Socket && handle.localPort === port)
  expect(sockets.length).toBeGreaterThanOrEqual(2)
  return sockets.reduce((total, socket) => total + socket.writableLength, 0)
}

let made = 0
async function streamOf(...bodies: string[]): Promise<string> {
  const path = `/live/${++made}`
  await pico.create(path)
  for (const body of bodies) await pico.append(path, body)
  return path
}
const parked = (readers: number) => expect.poll(() => pico.liveReaders).toBe(readers)

describe('a long poll', () => {
  test('answers at once with what is there', async () => {
    const path = await streamOf('a')
    const answer = await pico.get(`${path}?live=long-poll`)
    expect([answer.status, JSON.parse(answer.body.toString())]).toMatchObject([200, [{ seq: 0, body: 'a' }]])
    expect(picoHeadersOf(answer)).toMatchObject({ 'pico-next-seq': '1', 'pico-up-to-date': 'true' })
    expect(answer.headers).toMatchObject({ 'pico-cursor': expect.stringMatching(/^\d+$/), 'cache-control': 'no-store' })
  })

  test('answers 204 at the tail when its time is up', async () => {
    const path = await streamOf('a')
    const began = Date.now()
    const answer = await pico.get(`${path}?seq=1&live=long-poll`)
    expect(Date.now() - began).toBeGreaterThan(350)
    expect([answer.status, answer.body.length]).toEqual([204, 0])
    const { 'pico-cursor': cursor = '', ...others } = picoHeadersOf(answer)
    expect(others).toEqual({ 'pico-next-seq': '1', 'pico-up-to-date': 'true' })
    const next = await pico.get(`${path}?seq=1&live=long-poll&cursor=${cursor}`)
    expect(Number(next.headers['pico-cursor'])).toBeGreaterThan(Number(cursor))
  })

  test.each(['json', 'binary', 'raw'])('in %s is woken by an append', async (format) => {
    const path = await streamOf()
    const waiting = pico.get(`${path}?seq=now&live=long-poll&format=${format}`)
    await parked(1)
    await pico.append(path, 'ping')
    const answer = await waiting
    expect([answer.status, answer.headers['pico-next-seq']]).toEqual([200, '1'])
    expect(answer.body.includes('ping')).toBe(true)
  })

  test('is woken by what Kafka writes', async () => {
    await pico.streams.createTopic({ name: 'live.kafka', partitions: 1, config: {}, validateOnly: false })
    const waiting = pico.get('/live.kafka?live=long-poll')
    await parked(1)
    await produce(await pico.stream('/live.kafka'), [{ value: 'ping', timestamp: Date.now() }], { codec: 'gzip' })
    expect((await waiting).body.toString()).toContain('"body":"ping"')
  })

  test('at the end of a sealed stream is 204 at once, also when it is sealed meanwhile', async () => {
    const path = await streamOf('a')
    const waiting = pico.get(`${path}?seq=1&live=long-poll`)
    await parked(1)
    await pico.append(path, '', { 'Pico-Closed': 'true' })
    const sealed = await waiting
    expect([sealed.status, sealed.headers['pico-closed']]).toEqual([204, 'true'])
    const again = await pico.get(`${path}?seq=1&live=long-poll`)
    expect([again.status, again.headers['pico-closed']]).toEqual([204, 'true'])
  })

  test('on a stream that is deleted is 404', async () => {
    const path = await streamOf('a')
    const waiting = pico.get(`${path}?seq=1&live=long-poll`)
    await parked(1)
    await pico.send('DELETE', path)
    const answer = await waiting
    expect([answer.status, errorOf(answer).error]).toEqual([404, 'not_found'])
  })

  test('of a client that goes away leaves nothing behind', async () => {
    const path = await streamOf()
    const gone = new AbortController()
    const waiting = fetch(`${pico.url}${path}?live=long-poll`, { signal: gone.signal })
    await parked(1)
    gone.abort()
    await expect(waiting).rejects.toThrow()
    await parked(0)
  })
})

describe('events', () => {
  test('bring what is there, then a control event, then what comes', async () => {
    const path = await streamOf('a', 'b')
    const reader = await EventReader.open(`${pico.url}${path}?live=sse`)
    expect(reader.response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    await expect
      .poll(() => reader.events)
      .toMatchObject([
        {
          kind: 'data',
          id: '2',
          records: [
            { seq: 0, body: 'a' },
            { seq: 1, body: 'b' },
          ],
        },
        { kind: 'control', id: '2', control: { next_seq: 2, up_to_date: true } },
      ])
    await pico.append(path, 'c\nd')
    await expect
      .poll(() => reader.events.slice(2))
      .toMatchObject([
        { kind: 'data', id: '3', records: [{ seq: 2, body: 'c\nd' }] },
        { kind: 'control', id: '3', control: { next_seq: 3, up_to_date: true } },
      ])
    reader.close()
  })

  test('of an empty stream begin with a control event, and go on after it', async () => {
    const path = await streamOf()
    const reader = await EventReader.open(`${pico.url}${path}?seq=now&live=sse`)
    await expect.poll(() => reader.controls).toEqual([{ next_seq: 0, up_to_date: true }])
    reader.close()
  })

  test('go on after Last-Event-ID', async () => {
    const path = await streamOf('ping', 'pong')
    const reader = await EventReader.open(`${pico.url}${path}?live=sse`, { 'Last-Event-ID': '1' })
    await expect.poll(() => reader.records.map(({ body }) => body)).toEqual(['pong'])
    reader.close()
  })

  test('end with the stream, after its last record', async () => {
    const path = await streamOf('a')
    const reader = await EventReader.open(`${pico.url}${path}?live=sse`)
    await expect.poll(() => reader.controls.length).toBe(1)
    await pico.append(path, 'last', { 'Pico-Closed': 'true' })
    await expect.poll(() => reader.hasEnded).toBe(true)
    expect(reader.records.map(({ body }) => body)).toEqual(['a', 'last'])
    expect(reader.controls.at(-1)).toEqual({ next_seq: 2, up_to_date: true, closed: true })
    const late = await EventReader.open(`${pico.url}${path}?seq=2&live=sse`)
    await expect.poll(() => late.hasEnded).toBe(true)
    expect(late.controls).toEqual([{ next_seq: 2, up_to_date: true, closed: true }])
  })

  test('are kept alive by comments, and end after their time', async () => {
    const path = await streamOf('a')
    const reader = await EventReader.open(`${pico.url}${path}?live=sse`)
    await expect.poll(() => reader.hasEnded, { timeout: 3000 }).toBe(true)
    expect(reader.comments).toBeGreaterThanOrEqual(3)
    expect(reader.response.complete).toBe(true)
  })

  test('end when the stream is deleted', async () => {
    const path = await streamOf('a')
    const reader = await EventReader.open(`${pico.url}${path}?live=sse`)
    await expect.poll(() => reader.controls.length).toBe(1)
    await pico.send('DELETE', path)
    await expect.poll(() => reader.hasEnded).toBe(true)
  })
})

describe('for as long as it takes,', () => {
  let pico: PicoSystem
  beforeAll(async () => {
    pico = await PicoSystem.open()
  })
  afterAll(async () => {
    await pico.close()
  })

  test('events bring hundreds of records of racing writers in order, none twice, to every reader', async () => {
    const path = '/racing'
    await pico.create(path)
    const readers = await Promise.all(
      Array.from({ length: 10 }, () => EventReader.open(`${pico.url}${path}?seq=0&live=sse`)),
    )
    await Promise.all(
      Array.from({ length: 10 }, async (_, writer) => {
        for (let n = 0; n < 40; n++) await pico.append(path, `${writer}-${n}`)
      }),
    )
    for (const reader of readers) {
      await expect.poll(() => reader.records.length, { timeout: 15_000 }).toBe(400)
      expect(reader.records.map(({ seq }) => seq)).toEqual(Array.from({ length: 400 }, (_, n) => n))
      reader.close()
    }
  }, 40_000)

  test('a reader that stops reading costs its buffers and nobody else’s time', async () => {
    const path = '/lazy'
    await pico.create(path)
    const lazy = await EventReader.open(`${pico.url}${path}?seq=0&live=sse`)
    lazy.response.pause()
    const keen = await EventReader.open(`${pico.url}${path}?seq=0&live=sse`)
    const body = 'x'.repeat(250_000)
    const total = 80
    for (let n = 0; n < total; n++) await pico.append(path, body)
    await expect.poll(() => keen.records.length, { timeout: 15_000 }).toBe(total)
    // Of the 20 MB only one event, and what a socket takes before it says that it is full.
    expect(unsentBytes(pico.port)).toBeLessThan(2_000_000)
    lazy.response.resume()
    await expect.poll(() => lazy.records.length, { timeout: 15_000 }).toBe(total)
    expect(lazy.records.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, n) => n))
    keen.close()
    lazy.close()
  }, 40_000)
})

test('a stream that is sealed while its last record is on its way ends with an event that says so', async () => {
  const other = await PicoSystem.open()
  await other.create('/s')
  const reader = await EventReader.open(`${other.url}/s?live=sse`)
  await expect.poll(() => reader.controls.length).toBe(1)
  reader.response.pause()
  await other.append('/s', 'x'.repeat(14_000_000))
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(unsentBytes(other.port)).toBeGreaterThan(0)
  await other.append('/s', '', { 'Pico-Closed': 'true' })
  reader.response.resume()
  await expect.poll(() => reader.hasEnded, { timeout: 15_000 }).toBe(true)
  expect(reader.records.map(({ body }) => body?.length)).toEqual([14_000_000])
  expect(reader.controls.at(-1)).toEqual({ next_seq: 1, up_to_date: true, closed: true })
  await other.close()
}, 40_000)

test('a reader that waits uses a stream whose end comes when nobody does', async () => {
  const { paths } = pico.streams
  const expiry = { kind: 'idle', ttlSeconds: 1 } as const
  const made = { contentType: 'text/plain', config: {}, expiry, closed: false, records: [], matches: () => false }
  for (const name of ['/idle/fed', '/idle/left']) await paths.create({ name, ...made })
  const reader = await EventReader.open(`${pico.url}/idle/fed?live=sse`)
  await expect.poll(() => reader.hasEnded, { timeout: 5000 }).toBe(true)
  expect((await pico.append('/idle/fed', 'still here')).status).toBe(200)
  expect((await pico.append('/idle/left', 'gone')).status).toBe(404)
})

test('a client that takes nothing of a large answer is cut off', async () => {
  const other = await PicoSystem.open({ stallTimeoutMs: 300 })
  await other.create('/s')
  for (let n = 0; n < 20; n++) await other.append('/s', 'x'.repeat(1_000_000))
  const { connect } = await import('node:net')
  for (const query of ['bytes=60000000', 'bytes=1', 'live=sse']) {
    const socket = connect(other.port, '127.0.0.1').on('error', () => {})
    socket.write(`GET /s?${query}&format=json HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(8))
    socket.pause()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(other.listener.connections).toBeGreaterThan(1)
    await expect.poll(() => other.listener.connections, { timeout: 10_000 }).toBeLessThanOrEqual(1)
    socket.destroy()
  }
  expect(other.errors).toEqual([])
  await other.close()
}, 60_000)

test('a server that goes down ends what waits, and finishes what it has', async () => {
  const other = await PicoSystem.open({ longPollTimeoutMs: 60_000, sseMaxDurationMs: 60_000 })
  await other.create('/s')
  const poll = other.get('/s?live=long-poll')
  const reader = await EventReader.open(`${other.url}/s?live=sse`)
  await expect.poll(() => other.liveReaders).toBe(2)
  other.store.inject({ operation: 'write', fault: { kind: 'hang' } })
  const append = other.append('/s', 'late')
  await expect.poll(() => other.unflushedBytes).toBeGreaterThan(0)
  const began = Date.now()
  const closing = other.listener.close(5000)
  const ended = await poll
  expect([ended.status, ended.headers['connection']]).toEqual([204, 'close'])
  await expect.poll(() => reader.hasEnded).toBe(true)
  other.store.heal()
  expect((await append).status).toBe(200)
  await closing
  expect(Date.now() - began).toBeLessThan(2000)
  await other.close()
})

test('a server that goes down waits no longer than it was told', async () => {
  const other = await PicoSystem.open()
  await other.create('/s')
  other.store.inject({ operation: 'write', fault: { kind: 'hang' } })
  const append = other.append('/s', 'never').catch((error: Error) => error)
  await expect.poll(() => other.unflushedBytes).toBeGreaterThan(0)
  const began = Date.now()
  await other.listener.close(200)
  expect(Date.now() - began).toBeLessThan(1500)
  expect(await append).toBeInstanceOf(Error)
  await other.close()
})
