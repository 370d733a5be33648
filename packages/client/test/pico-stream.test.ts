import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PicoClient, PicoError, type StreamRecord } from '../src/index.ts'
import { collected } from './collected.ts'
import { ServedStreams } from './served-streams.ts'

describe.each([{ http2: false }, { http2: true }])('a stream by the Pico protocol, http2 $http2', ({ http2 }) => {
  let served: ServedStreams
  let client: PicoClient

  beforeAll(async () => {
    served = await ServedStreams.open()
    client = new PicoClient({ endpoint: served.url, http2 })
  })

  afterAll(async () => {
    await client.close()
    await served.close()
    expect(served.problems).toEqual([])
  })

  test('is created once, and again is the same', async () => {
    const stream = client.stream('made/once')
    expect(await stream.create({ contentType: 'text/plain', ttlSeconds: 3600 })).toEqual({ created: true })
    expect(await stream.create({ contentType: 'text/plain' })).toEqual({ created: false })
    expect(await stream.head()).toEqual({
      name: '/made/once',
      contentType: 'text/plain',
      startSeq: 0,
      nextSeq: 0,
      closed: false,
      ttlSeconds: 3600,
      expiresAt: null,
      schema: null,
    })
    const unknown = { contentType: 'text/plain', schema: 'orders:7' }
    await expect(client.stream('made/bound').create(unknown)).rejects.toMatchObject({
      code: 'unknown_schema',
      status: 422,
      message: expect.stringContaining('orders:7'),
    })
    await expect(stream.create({ contentType: 'application/json' })).rejects.toMatchObject({
      code: 'conflict',
      status: 409,
    })
  })

  test('that is missing is told by every call', async () => {
    const stream = client.stream('missing')
    const missing = { name: 'PicoError', code: 'not_found', status: 404 }
    await expect(stream.head()).rejects.toMatchObject(missing)
    await expect(stream.append('x')).rejects.toMatchObject(missing)
    await expect(stream.read()).rejects.toMatchObject(missing)
    await expect(stream.tail().next()).rejects.toMatchObject(missing)
    await expect(stream.tail({ live: 'sse', from: 0 }).next()).rejects.toMatchObject(missing)
    await expect(stream.trim(1)).rejects.toMatchObject(missing)
    await expect(stream.close()).rejects.toMatchObject(missing)
    await expect(stream.delete()).rejects.toMatchObject(missing)
    const producer = stream.producer()
    const { acknowledged } = await producer.append('x')
    await expect(acknowledged).rejects.toMatchObject(missing)
    await expect(producer.close()).rejects.toMatchObject(missing)
  })

  test('gives back what was appended: text, bytes, keys, repeated and binary headers, tombstones, timestamps', async () => {
    const stream = client.stream('shapes')
    const timestampMs = Date.now() + 60_000
    await stream.create()
    expect(await stream.append('first')).toMatchObject({ startSeq: 0, nextSeq: 1 })
    expect(await stream.append(new Uint8Array([0, 255]))).toMatchObject({ startSeq: 1, nextSeq: 2 })
    expect(
      await stream.appendAll([
        '',
        { body: null, key: 'gone' },
        {
          body: 'ä',
          key: new Uint8Array([254]),
          headers: [
            ['h', '1'],
            ['h', new Uint8Array([255])],
            ['n', null],
          ],
          timestampMs,
        },
      ]),
    ).toMatchObject({ startSeq: 2, nextSeq: 5 })
    for (const live of [null, 'sse'] as const) {
      const records: StreamRecord[] = []
      for await (const record of live === null ? stream.records() : stream.tail({ from: 0, live })) {
        records.push(record)
        if (records.length === 5) break
      }
      expect(records.map(({ seq, text, key }) => [seq, text, key])).toEqual([
        [0, 'first', null],
        [1, '\0\ufffd', null],
        [2, '', null],
        [3, null, 'gone'],
        [4, 'ä', '\ufffd'],
      ])
      expect([...(records[1]?.bytes ?? [])]).toEqual([0, 255])
      expect([...(records[4]?.keyBytes ?? [])]).toEqual([254])
      expect(records[4]?.timestampMs).toBe(timestampMs)
      expect(records[4]?.header('h')).toBe('1')
      expect(records[4]?.headers.map(([name, value]) => [name, value && [...value]])).toEqual([
        ['h', [49]],
        ['h', [255]],
        ['n', null],
      ])
    }
  })

  test('is read by pages from any number, bounded by count', async () => {
    const stream = client.stream('pages')
    await stream.create()
    await stream.appendAll(Array.from({ length: 100 }, (_, n) => `${n}`))
    const page = await stream.read({ from: 40, count: 3 })
    expect(page).toMatchObject({ next: 43, upToDate: false, closed: false, empty: false })
    expect(page.records.map(({ text }) => text)).toEqual(['40', '41', '42'])
    expect(await stream.read({ from: 'now' })).toMatchObject({ records: [], next: 100, upToDate: true, empty: true })
    const all: (string | null)[] = []
    for await (const record of stream.records({ count: 7 })) all.push(record.text)
    expect(all).toEqual(Array.from({ length: 100 }, (_, n) => `${n}`))
  })

  test('appends only at the tail that was meant, and says where that is', async () => {
    const stream = client.stream('match')
    await stream.create()
    await stream.append('a', { matchSeq: 0 })
    await expect(stream.append('b', { matchSeq: 0 })).rejects.toMatchObject({
      code: 'match_failed',
      status: 412,
      nextSeq: 1,
    })
  })

  test('that is trimmed begins later: for who asks for the earliest, and not for who asks for a number', async () => {
    const stream = client.stream('trimmed')
    await stream.create()
    await stream.appendAll(['a', 'b', 'c'])
    expect(await stream.trim(2)).toEqual({ startSeq: 2 })
    expect((await stream.read()).records.map(({ text }) => text)).toEqual(['c'])
    const events = stream.tail({ from: 'earliest', live: 'sse' })
    expect((await events.next()).value?.text).toBe('c')
    await events.return()
    await expect(stream.read({ from: 1 })).rejects.toMatchObject({ code: 'out_of_range', status: 410, startSeq: 2 })
    await expect(stream.tail({ from: 1 }).next()).rejects.toMatchObject({ code: 'out_of_range' })
  })

  test('that is closed takes no more, and ends those who follow it', async () => {
    const stream = client.stream('closed')
    await stream.create()
    const followers = (['long-poll', 'sse'] as const).map(async (live) => {
      const seen: (string | null)[] = []
      for await (const { text } of stream.tail({ from: 0, live })) seen.push(text)
      return seen
    })
    await stream.append('a')
    await stream.append('b', { close: true })
    expect(await Promise.all(followers)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
    expect(await stream.close()).toEqual({ nextSeq: 2 })
    await expect(stream.append('c')).rejects.toMatchObject({ code: 'closed', status: 409, nextSeq: 2 })
  })

  test('that is deleted is gone, and its name is free', async () => {
    const stream = client.stream('deleted')
    await stream.create({ contentType: 'text/plain' })
    await stream.append('a')
    await stream.delete()
    await expect(stream.head()).rejects.toMatchObject({ code: 'not_found' })
    expect(await stream.create({ contentType: 'application/json' })).toEqual({ created: true })
    expect(await stream.head()).toMatchObject({ nextSeq: 0 })
  })

  test('that was made anew does not go on for who followed the old one', async () => {
    const stream = client.stream('anew')
    await stream.create()
    await stream.appendAll(['a', 'b', 'c'])
    const tail = stream.tail({ from: 0 })
    for (const text of ['a', 'b', 'c']) expect((await tail.next()).value?.text).toBe(text)
    const ended = expect(tail.next()).rejects.toMatchObject({
      code: expect.stringMatching(/^(out_of_range|not_found)$/),
    })
    await stream.delete()
    await stream.create()
    await stream.append('d')
    await ended
  })

  test('that ends before the place where somebody waits is not the one that he followed', async () => {
    const stream = client.stream('shorter')
    await stream.create()
    await stream.append('a')
    expect(await stream.read({ from: 7 })).toMatchObject({ records: [], next: 1 })
    for (const live of ['long-poll', 'sse'] as const)
      await expect(stream.tail({ from: 7, live }).next()).rejects.toMatchObject({ code: 'out_of_range', nextSeq: 1 })
  })

  test('is followed from now on, by long polls that come back empty too', async () => {
    const stream = client.stream('followed')
    await stream.create()
    await stream.append('before')
    for (const live of ['long-poll', 'sse'] as const) {
      const { nextSeq } = await stream.head()
      const tail = stream.tail({ live, from: nextSeq })
      const first = tail.next()
      await new Promise((resolve) => setTimeout(resolve, 700)) // two long polls
      await stream.append('after')
      expect((await first).value).toMatchObject({ seq: nextSeq, text: 'after' })
      await tail.return()
    }
  })

  test('is left at once by who aborts', async () => {
    const stream = client.stream('aborted')
    await stream.create()
    for (const live of ['long-poll', 'sse'] as const) {
      const abort = new AbortController()
      const tail = stream.tail({ live, signal: abort.signal })
      const next = tail.next()
      setTimeout(() => abort.abort(new Error('enough')), 50)
      await expect(next).rejects.toThrow('enough')
    }
    await expect(stream.head({ signal: AbortSignal.abort(new Error('never')) })).rejects.toThrow('never')
    await expect(stream.append('x', { signal: AbortSignal.abort(new Error('never')) })).rejects.toThrow('never')
    expect(await stream.head()).toMatchObject({ nextSeq: 0 })
  })

  test('has a name like any other: spaces, percent signs, umlauts, dots', async () => {
    for (const name of ['/a b', '/50%', '/ä/ö', '/a.b', '/x?y#z', '/ü'.repeat(80)]) {
      const stream = client.stream(name)
      await stream.create()
      expect(await stream.append(name)).toMatchObject({ startSeq: 0 })
      expect(await stream.head()).toMatchObject({ name, nextSeq: 1 })
    }
    for (const name of ['', '/', 'a//b', '../x', 'a/.', '\ud800', 'a\nb'])
      expect(() => client.stream(name), JSON.stringify(name)).toThrow(PicoError)
  })

  test('is listed with others by name, page by page', async () => {
    const names = Array.from({ length: 25 }, (_, n) => `/listed/${String(n).padStart(2, '0')}`)
    await Promise.all(names.map((name) => client.stream(name).create()))
    const listed: string[] = []
    for await (const { name } of client.list({ prefix: '/listed/', pageSize: 10 })) listed.push(name)
    expect(listed).toEqual(names)
    const [after] = await collected(client.list({ prefix: '/listed/', startAfter: '/listed/23' }))
    expect(after).toMatchObject({ name: '/listed/24', start_seq: 0, next_seq: 0, closed: false })
  })
})

test('a closed client rejects', async () => {
  const client = new PicoClient({ endpoint: 'http://127.0.0.1:1' })
  await client.close()
  await expect(client.stream('x').head()).rejects.toMatchObject({ code: 'client_closed' })
})

test('a server that is not there is told at once to who does not want to wait', async () => {
  await using client = new PicoClient({ endpoint: 'http://127.0.0.1:1', retry: { giveUpAfterMs: 0 } })
  await expect(client.stream('x').append('a')).rejects.toMatchObject({
    code: 'unreachable',
    written: 'no',
    status: null,
  })
})
