import { decodeReadBatch } from '@pico/http-contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPage } from '../../src/pico/read-page.ts'
import { jsonRecords } from '../../src/pico/record-encoders.ts'
import { produce } from '../produce.ts'
import { errorOf, PicoSystem, picoHeadersOf } from './pico-system.ts'

let pico: PicoSystem
beforeAll(async () => {
  pico = await PicoSystem.open()
})
afterAll(async () => {
  expect(pico.errors).toEqual([])
  await pico.close()
})

let made = 0
async function streamOf(bodies: readonly string[], headers: Record<string, string> = {}): Promise<string> {
  const path = `/read/${++made}`
  await pico.create(path, headers)
  for (const body of bodies) await pico.append(path, body)
  return path
}
const seqs = (records: readonly { seq: number }[]) => records.map(({ seq }) => seq)
const batchJson = (bodies: readonly string[]) => JSON.stringify({ records: bodies.map((body) => ({ body })) })
const json = { 'Content-Type': 'application/vnd.picomq.batch+json' }

describe('a read', () => {
  test('goes from a position to the tail, and says where to go on', async () => {
    const path = await streamOf(['a', 'b', 'c'])
    const answer = await pico.get(`${path}?seq=1`)
    expect(picoHeadersOf(answer)).toEqual({ 'pico-next-seq': '3', 'pico-up-to-date': 'true' })
    expect(JSON.parse(answer.body.toString())).toMatchObject([{ seq: 1 }, { seq: 2 }])
    expect(await pico.records(`${path}?seq=3`)).toEqual([])
  })

  test('beyond the tail is empty, at the tail', async () => {
    const path = await streamOf(['a'])
    const answer = await pico.get(`${path}?seq=99`)
    expect([answer.status, answer.body.toString(), answer.headers['pico-next-seq']]).toEqual([200, '[]', '1'])
  })

  test('from now is empty, at the tail, and not to be cached', async () => {
    const path = await streamOf(['a'])
    const answer = await pico.get(`${path}?seq=now`)
    expect([answer.body.toString(), answer.headers['pico-next-seq']]).toEqual(['[]', '1'])
    expect([answer.headers['cache-control'], answer.headers['etag']]).toEqual(['no-store', undefined])
  })

  test('ends where count or bytes say, after one record at least', async () => {
    const path = await streamOf([])
    await pico.append(path, batchJson(['aaaa', 'bbbb', 'cccc', 'dddd']), json)
    await pico.append(path, 'eeee')
    const count = await pico.get(`${path}?seq=1&count=2`)
    expect([seqs(JSON.parse(count.body.toString())), picoHeadersOf(count)]).toEqual([[1, 2], { 'pico-next-seq': '3' }])
    expect(seqs(await pico.records(`${path}?bytes=8`))).toEqual([0, 1])
    expect(seqs(await pico.records(`${path}?bytes=11`))).toEqual([0, 1])
    expect(seqs(await pico.records(`${path}?bytes=1`))).toEqual([0])
    expect(seqs(await pico.records(`${path}?seq=2&bytes=16`))).toEqual([2, 3, 4])
    expect(seqs(await pico.records(`${path}?count=100&bytes=1000000`))).toEqual([0, 1, 2, 3, 4])
  })

  test('of a sealed stream says so at its end, and only there', async () => {
    const path = await streamOf(['a', 'b'])
    await pico.append(path, '', { 'Pico-Closed': 'true' })
    expect((await pico.get(`${path}?count=1`)).headers['pico-closed']).toBeUndefined()
    expect((await pico.get(`${path}?seq=1`)).headers['pico-closed']).toBe('true')
    expect((await pico.get(`${path}?seq=2`)).headers['pico-closed']).toBe('true')
  })

  test('takes the position from Last-Event-ID where the query has none', async () => {
    const path = await streamOf(['a', 'b'])
    const from = async (query: string, id: string) =>
      seqs(JSON.parse((await pico.get(`${path}${query}`, { 'Last-Event-ID': id })).body.toString()))
    expect([await from('', '1'), await from('?seq=0', '1'), await from('', '')]).toEqual([[1], [0, 1], [0, 1]])
    expect((await pico.get(path, { 'Last-Event-ID': 'x' })).status).toBe(400)
  })

  test.each([
    'seq=',
    'seq=-1',
    'seq=1.5',
    'seq=01',
    'seq=x',
    'seq=9007199254740992',
    'seq=0&seq=1',
    'count=0',
    'count=x',
    'bytes=0',
    'format=xml',
    'version=3',
    'live=forever',
    'live=sse&format=raw',
    `cursor=${'1'.repeat(33)}`,
  ])('with %s is 400', async (query) => {
    const path = await streamOf([])
    const refused = await pico.get(`${path}?${query}`)
    expect([refused.status, errorOf(refused).error]).toEqual([400, 'bad_request'])
  })

  test('does not mind what it does not know', async () => {
    const path = await streamOf(['a'])
    expect((await pico.get(`${path}?seq=0&utm_source=x&%ff=%`)).status).toBe(200)
  })
})

describe('the format', () => {
  test('raw is the bodies in a row, of the type of the stream', async () => {
    const path = await streamOf(['hello-', 'world'], { 'Content-Type': 'text/plain; charset=utf-8' })
    const answer = await pico.get(`${path}?format=raw`)
    expect([answer.body.toString(), answer.headers['content-type']]).toEqual([
      'hello-world',
      'text/plain; charset=utf-8',
    ])
  })

  test('binary has every record with its number and time', async () => {
    const path = await streamOf(['a', 'b'])
    const answer = await pico.get(`${path}?format=binary`)
    expect(answer.headers['content-type']).toBe('application/vnd.picomq.batch')
    expect(answer.body[0]).toBe(1)
    const { records = [] } = decodeReadBatch(answer.body)
    expect(records.map(({ seq, value }) => [seq, Buffer.from(value ?? []).toString()])).toEqual([
      [0, 'a'],
      [1, 'b'],
    ])
    expect(records[0]?.timestamp).toBeGreaterThan(1_700_000_000_000)
  })

  test('json escapes what has to be', async () => {
    const bodies = ['"\\\u0000\u001f\n\r\t\b\f', 'é€😀 \u2028', '\ufeffbom', '{"a":[1,"b"]}'.repeat(40), '']
    const path = await streamOf([])
    await pico.append(path, batchJson(bodies), json)
    expect((await pico.records(path)).map(({ body }) => body)).toEqual(bodies)
  })
})

describe.each(['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const)('what Kafka wrote with %s', (codec) => {
  test('reads back with keys, repeated and binary headers, and tombstones', async () => {
    const name = `kafka.${codec}`
    await pico.streams.createTopic({ name, partitions: 1, config: {}, validateOnly: false })
    const timestamp = 1_700_000_000_000
    await produce(
      await pico.stream(`/${name}`),
      [
        { timestamp, key: 'k', value: 'v', headers: [{ key: 'h', value: 'x' }] },
        { timestamp: timestamp - 5, key: Buffer.from([0xff]), value: null },
        {
          timestamp,
          value: Buffer.from([0, 0xff]),
          headers: [
            { key: 'h', value: Buffer.from([0xfe]) },
            { key: 'h', value: null },
          ],
        },
      ],
      { codec },
    )
    expect(await pico.records(`/${name}`)).toEqual([
      { seq: 0, timestamp, key: 'k', headers: { h: 'x' }, body: 'v' },
      { seq: 1, timestamp: timestamp - 5, key_b64: '/w==', body: null },
      {
        seq: 2,
        timestamp,
        headers: [
          ['h', { b64: '/g==' }],
          ['h', null],
        ],
        body_b64: 'AP8=',
      },
    ])
    expect(seqs(await pico.records(`/${name}?seq=1&count=1`))).toEqual([1])
    const { records = [] } = decodeReadBatch((await pico.get(`/${name}?format=binary&version=2`)).body)
    expect(records.map(({ key, value }) => [key && Buffer.from(key), value && Buffer.from(value)])).toEqual([
      [Buffer.from('k'), Buffer.from('v')],
      [Buffer.from([0xff]), null],
      [null, Buffer.from([0, 0xff])],
    ])
  })
})

describe('a large read', () => {
  const body = 'x'.repeat(10_000)
  const total = 500
  let path = ''
  beforeAll(async () => {
    path = await streamOf([])
    for (let i = 0; i < total; i += 50) {
      await pico.append(path, batchJson(Array.from({ length: 50 }, (_, n) => `${i + n} ${body}`)), json)
    }
  })

  test.each(['json', 'binary', 'raw'])('in %s is whole, in as many pages as its limits make', async (format) => {
    const seen: string[] = []
    let pages = 0
    for (let seq = 0; seq < total; pages++) {
      const answer = await pico.get(`${path}?seq=${seq}&format=${format}&bytes=2000000`)
      expect(answer.headers['content-length']).toBeUndefined()
      if (format === 'json')
        seen.push(...JSON.parse(answer.body.toString()).map((record: { body: string }) => record.body))
      else if (format === 'raw') seen.push(...(answer.body.toString().match(/\d+ x+/g) ?? []))
      else
        seen.push(
          ...(decodeReadBatch(answer.body).records ?? []).map(({ value }) => Buffer.from(value ?? []).toString()),
        )
      seq = Number(answer.headers['pico-next-seq'])
    }
    expect(pages).toBe(3)
    expect(seen).toEqual(Array.from({ length: total }, (_, n) => `${n} ${body}`))
  })

  test('of many records lets others have their turn', async () => {
    const tiny = await streamOf([])
    for (let i = 0; i < 20; i++) await pico.append(tiny, batchJson(Array(10_000).fill('x')), json)
    const stream = await pico.stream(tiny)
    let turns = 0
    const turn = () => {
      turns++
      beat = setImmediate(turn)
    }
    let beat = setImmediate(turn)
    const page = await readPage(stream, 0, { bytesMax: 1 << 30, countMax: 1 << 30 }, jsonRecords)
    clearImmediate(beat)
    expect([page.count, page.next]).toEqual([200_000, 200_000])
    expect(turns).toBeGreaterThanOrEqual(3)
  })

  test('gives about a mebibyte where nothing is said', async () => {
    const answer = await pico.get(path)
    expect(answer.body.length).toBeGreaterThan(900_000)
    expect(answer.body.length).toBeLessThan(1_100_000)
  })

  test('of which the client takes nothing does not stop others, and ends with the client', async () => {
    const response = await fetch(`${pico.url}${path}?bytes=60000000`)
    expect((await pico.get(`${path}?seq=499`)).status).toBe(200)
    await response.body?.cancel()
    await expect.poll(() => pico.listener.connections).toBeLessThanOrEqual(3)
  })
})

describe('caching', () => {
  test('an answer has a tag, by which the same is 304 without a body', async () => {
    const path = await streamOf(['a', 'b'])
    const answer = await pico.get(`${path}?seq=0`)
    const etag = answer.headers['etag'] ?? ''
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const same = await pico.get(`${path}?seq=0`, { 'If-None-Match': tag })
      expect([same.status, same.body.length, same.headers['etag']]).toEqual([304, 0, etag])
    }
    expect((await pico.get(`${path}?seq=0`, { 'If-None-Match': '"x"' })).status).toBe(200)
  })

  test('the tag is another one after an append, sealing, in another format, and of another life of the name', async () => {
    const path = await streamOf(['a'])
    const tag = async (query = '') => (await pico.get(`${path}?seq=0${query}`)).headers['etag']
    const tags = [
      await tag(),
      await tag('&format=raw'),
      await tag('&format=binary'),
      await tag('&format=binary&version=2'),
    ]
    await pico.append(path, 'b')
    tags.push(await tag())
    await pico.append(path, '', { 'Pico-Closed': 'true' })
    tags.push(await tag())
    await pico.send('DELETE', path)
    await pico.create(path)
    await pico.append(path, 'a')
    tags.push(await tag())
    expect(new Set(tags).size).toBe(tags.length)
  })

  test('what stays as it is may be kept; what ends at the tail is asked for again', async () => {
    const path = await streamOf(['a', 'b'])
    const control = async (query: string) => (await pico.get(`${path}${query}`)).headers['cache-control']
    expect(await control('?seq=0&count=1')).toBe('public, max-age=60')
    expect(await control('?seq=0')).toBe('no-cache')
    expect(await control('?count=1')).toBe('no-cache')
    await pico.append(path, '', { 'Pico-Closed': 'true' })
    expect(await control('?seq=0')).toBe('public, max-age=60')
  })
})

test('a read is 503 while storage cannot be read', async () => {
  const path = await streamOf(['a'])
  await pico.restart()
  pico.store.inject({ operation: 'get', fault: { kind: 'fail-before', code: 'EIO' } })
  const failed = await pico.get(path)
  pico.store.heal()
  expect([failed.status, failed.headers['retry-after']]).toEqual([503, '1'])
  expect(await pico.records(path)).toHaveLength(1)
})
