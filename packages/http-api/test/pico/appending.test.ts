import { type AppendRecord, decodeReadBatch, encodeAppendBatch } from '@pico/http-contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorOf, PicoSystem, picoHeadersOf } from './pico-system.ts'

const json = { 'Content-Type': 'application/vnd.picomq.batch+json' }
const binary = { 'Content-Type': 'application/vnd.picomq.batch' }

let pico: PicoSystem
beforeAll(async () => {
  pico = await PicoSystem.open({ bodyBytesMax: 1 << 20 })
})
afterAll(async () => {
  expect(pico.errors).toEqual([])
  await pico.close()
})

let made = 0
async function newStream(headers: Record<string, string> = {}): Promise<string> {
  const path = `/append/${++made}`
  expect((await pico.create(path, headers)).status).toBe(201)
  return path
}

const utf8 = (text: string) => new TextEncoder().encode(text)
const bytesOf = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString('hex')

describe('an append', () => {
  test('of one record answers where it is', async () => {
    const path = await newStream()
    const before = Date.now()
    const answer = await pico.append(path, 'hello', { 'Content-Type': 'text/plain' })
    expect([answer.status, answer.body.length]).toEqual([200, 0])
    expect(answer.headers).toMatchObject({ 'pico-start-seq': '0', 'pico-next-seq': '1' })
    const timestamp = Number(answer.headers['pico-timestamp'])
    expect(timestamp).toBeGreaterThanOrEqual(before)
    expect(await pico.records(path)).toEqual([{ seq: 0, timestamp, body: 'hello' }])
  })

  test('of a JSON batch keeps keys, headers, times, nulls and bytes, in one batch', async () => {
    const path = await newStream()
    const timestamp = Date.now() + 1000
    const batch = {
      records: [
        { body: 'text', key: 'k', headers: { a: 'b' }, timestamp },
        { body_b64: 'AAECgP8=', key_b64: '//8=' },
        {
          body: null,
          headers: [
            ['twice', 'one'],
            ['twice', { b64: '/w==' }],
            ['none', null],
          ],
        },
      ],
    }
    const answer = await pico.append(path, JSON.stringify(batch), json)
    expect(picoHeadersOf(answer)).toEqual({
      'pico-start-seq': '0',
      'pico-next-seq': '3',
      'pico-timestamp': String(timestamp),
    })
    expect(await pico.records(path)).toEqual([
      { seq: 0, timestamp, key: 'k', headers: { a: 'b' }, body: 'text' },
      { seq: 1, timestamp, key_b64: '//8=', body_b64: 'AAECgP8=' },
      { seq: 2, timestamp, headers: batch.records[2]?.headers, body: null },
    ])
  })

  test.each([
    ['version 1', [{ key: null, value: utf8('one'), headers: [{ key: utf8('n'), value: utf8('v') }] }]],
    ['version 2', [{ timestamp: Date.now(), key: utf8('k'), value: null, headers: [{ key: utf8('n'), value: null }] }]],
  ])('of a binary batch (%s) reads back as it was', async (_version, records) => {
    const path = await newStream()
    const two = [...records, ...records]
    const answer = await pico.append(path, encodeAppendBatch(two), binary)
    expect(answer.headers).toMatchObject({ 'pico-start-seq': '0', 'pico-next-seq': '2' })
    const read = await pico.get(`${path}?format=binary&version=2`)
    const plain = (found: readonly AppendRecord[]) =>
      found.map(({ key, value, headers }) => [
        bytesOf(key),
        bytesOf(value),
        ...headers.map((header) => [bytesOf(header.key), bytesOf(header.value)]),
      ])
    expect(plain(decodeReadBatch(read.body).records ?? [])).toEqual(plain(two))
  })

  test('stamps no record below the one before it', async () => {
    const path = await newStream()
    const late = Date.now() + 60_000
    await pico.append(path, JSON.stringify({ records: [{ body: 'a', timestamp: late }] }), json)
    const second = await pico.append(path, 'b')
    expect(second.headers['pico-timestamp']).toBe(String(late))
  })

  test.each([
    ['an empty body', '', {}],
    ['a JSON batch that is no JSON', '{"records":', json],
    ['a JSON batch that is no UTF-8', Buffer.from('{"records":[{"body":"\xff"}]}', 'latin1'), json],
    ['a batch without records', '{}', json],
    ['a batch of no record', '{"records":[]}', json],
    ['a record without a body', '{"records":[{"key":"k"}]}', json],
    ['a record with two bodies', '{"records":[{"body":"a","body_b64":"YQ=="}]}', json],
    ['a record with two keys', '{"records":[{"body":"a","key":"a","key_b64":"YQ=="}]}', json],
    ['a body that is no text', '{"records":[{"body":1}]}', json],
    ['half a surrogate pair', '{"records":[{"body":"\\ud800"}]}', json],
    ['a field that is none', '{"records":[{"body":"a","value":"b"}]}', json],
    ['base64 that is none', '{"records":[{"body_b64":"a"}]}', json],
    ['base64 with line breaks', '{"records":[{"body_b64":"YQ==\\n"}]}', json],
    ['a time before 1970', '{"records":[{"body":"a","timestamp":-1}]}', json],
    ['a time with a fraction', '{"records":[{"body":"a","timestamp":1.5}]}', json],
    ['a time beyond 2^53', '{"records":[{"body":"a","timestamp":9007199254740993}]}', json],
    ['headers that are no text', '{"records":[{"body":"a","headers":{"a":1}}]}', json],
    ['a header pair of three', '{"records":[{"body":"a","headers":[["a","b","c"]]}]}', json],
    ['a header that JavaScript would lose', '{"records":[{"body":"a","headers":{"__proto__":"b"}}]}', json],
    ['a good record and a bad one', '{"records":[{"body":"a"},{"body":2}]}', json],
    ['a binary batch of another version', Buffer.from([3, 0, 0, 0, 0]), binary],
    ['a binary batch of no record', Buffer.from([1, 0, 0, 0, 0]), binary],
    ['a binary batch that ends early', Buffer.from([1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 97]), binary],
    ['a binary batch that goes on', Buffer.from([1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 97, 98]), binary],
    ['a count of billions', Buffer.from([1, 255, 255, 255, 255, 0, 0, 0, 0]), binary],
    ['a producer without epoch', 'x', { 'Pico-Producer-Id': 'p', 'Pico-Producer-Seq': '0' }],
    ['an epoch without producer', 'x', { 'Pico-Producer-Epoch': '0' }],
    [
      'a producer without a name',
      'x',
      { 'Pico-Producer-Id': '', 'Pico-Producer-Epoch': '0', 'Pico-Producer-Seq': '0' },
    ],
    [
      'an epoch that is no number',
      'x',
      { 'Pico-Producer-Id': 'p', 'Pico-Producer-Epoch': '1e3', 'Pico-Producer-Seq': '0' },
    ],
    [
      'a sequence beyond 2^53',
      'x',
      { 'Pico-Producer-Id': 'p', 'Pico-Producer-Epoch': '0', 'Pico-Producer-Seq': '9007199254740992' },
    ],
    ['a negative match', 'x', { 'Pico-Match-Seq': '-1' }],
    ['a match without records', '', { 'Pico-Match-Seq': '0', 'Pico-Closed': 'true' }],
    ['a trim with a body', 'x', { 'Pico-Trim-Seq': '0' }],
    ['a trim and more', '', { 'Pico-Trim-Seq': '0', 'Pico-Closed': 'true' }],
    ['a trim beyond the tail', '', { 'Pico-Trim-Seq': '1' }],
  ])('of %s is 400, and nothing is written', async (_what, body, headers: Record<string, string>) => {
    const path = await newStream()
    const refused = await pico.append(path, body, headers)
    expect([refused.status, errorOf(refused).error]).toEqual([400, 'bad_request'])
    expect(await pico.records(path)).toEqual([])
    expect((await pico.send('HEAD', path)).headers['pico-closed']).toBeUndefined()
  })

  test('to a stream that is not there is 404', async () => {
    const refused = await pico.append('/append/nowhere', 'x')
    expect([refused.status, errorOf(refused).error]).toEqual([404, 'not_found'])
  })

  test('of a body over the limit is 413 although its length was not told', async () => {
    const path = await newStream()
    const told = await pico.append(path, Buffer.alloc((1 << 20) + 1))
    expect([told.status, errorOf(told).error]).toEqual([413, 'too_large'])
    const chunked = await pico.append(path, Buffer.alloc((1 << 20) + 1), { 'Transfer-Encoding': 'chunked' })
    expect([chunked.status, errorOf(chunked).error]).toEqual([413, 'too_large'])
    expect(await pico.records(path)).toEqual([])
  })

  test('of a record larger than its topic allows is 413', async () => {
    await pico.streams.createTopic({
      name: 'small',
      partitions: 1,
      config: { 'max.message.bytes': '200' },
      validateOnly: false,
    })
    const refused = await pico.append('/small', Buffer.alloc(500))
    expect([refused.status, errorOf(refused).error]).toEqual([413, 'too_large'])
    expect(await pico.records('/small')).toEqual([])
  })
})

describe('conditional', () => {
  test('appends go where the client thinks, or nowhere', async () => {
    const path = await newStream()
    expect((await pico.append(path, 'a', { 'Pico-Match-Seq': '0' })).status).toBe(200)
    const stale = await pico.append(path, 'b', { 'Pico-Match-Seq': '0' })
    expect([stale.status, errorOf(stale)]).toMatchObject([412, { error: 'match_failed', next_seq: 1 }])
    expect(stale.headers['pico-next-seq']).toBe('1')
    expect(await pico.records(path)).toHaveLength(1)
  })

  test('appends that race for one place: one gets it', async () => {
    const path = await newStream()
    const racing = Array.from({ length: 20 }, (_, n) => pico.append(path, `${n}`, { 'Pico-Match-Seq': '0' }))
    const statuses = (await Promise.all(racing)).map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array(19).fill(412)])
  })
})

describe('a producer', () => {
  const as = (epoch: number, seq: number, id = 'p') => ({
    'Pico-Producer-Id': id,
    'Pico-Producer-Epoch': String(epoch),
    'Pico-Producer-Seq': String(seq),
  })

  test('that repeats itself is told where its records are, without a timestamp, and nothing is written', async () => {
    const path = await newStream()
    const first = await pico.append(path, 'x', as(1, 0))
    expect(first.headers).toMatchObject({ 'pico-start-seq': '0', 'pico-producer-epoch': '1', 'pico-producer-seq': '0' })
    const again = await pico.append(path, 'x', as(1, 0))
    expect(again.status).toBe(200)
    expect(picoHeadersOf(again)).toEqual({
      'pico-start-seq': '0',
      'pico-next-seq': '1',
      'pico-producer-epoch': '1',
      'pico-producer-seq': '0',
    })
    expect(await pico.records(path)).toHaveLength(1)
  })

  test('that repeats a part of an append is told where that part is', async () => {
    const path = await newStream()
    await pico.append(path, 'before')
    await pico.append(path, '{"records":[{"body":"a"},{"body":"b"},{"body":"c"}]}', { ...json, ...as(0, 0) })
    const part = await pico.append(path, 'b', as(0, 1))
    expect(picoHeadersOf(part)).toMatchObject({ 'pico-start-seq': '2', 'pico-next-seq': '3' })
    expect(await pico.records(path)).toHaveLength(4)
  })

  test('that repeats what is not remembered any more is told where the stream ends', async () => {
    const path = await newStream()
    for (let seq = 0; seq < 7; seq++) await pico.append(path, 'x', as(0, seq))
    const old = await pico.append(path, 'x', as(0, 0))
    expect(old.status).toBe(200)
    expect(picoHeadersOf(old)).toEqual({ 'pico-next-seq': '7', 'pico-producer-epoch': '0', 'pico-producer-seq': '6' })
    expect(await pico.records(path)).toHaveLength(7)
  })

  test('counts records', async () => {
    const path = await newStream()
    const batch = '{"records":[{"body":"a"},{"body":"b"},{"body":"c"}]}'
    expect((await pico.append(path, batch, { ...json, ...as(0, 0) })).status).toBe(200)
    expect((await pico.append(path, 'd', as(0, 3))).headers['pico-start-seq']).toBe('3')
    expect((await pico.append(path, batch, { ...json, ...as(0, 0) })).headers['pico-next-seq']).toBe('3')
  })

  test('that leaves something out is told what was to come', async () => {
    const path = await newStream()
    await pico.append(path, 'x', as(0, 0))
    const gap = await pico.append(path, 'y', as(0, 5))
    expect([gap.status, errorOf(gap).error]).toEqual([409, 'sequence_gap'])
    expect(picoHeadersOf(gap)).toEqual({ 'pico-expected-seq': '1', 'pico-received-seq': '5' })
    const begin = await pico.append(path, 'y', as(0, 2, 'new'))
    expect(picoHeadersOf(begin)).toEqual({ 'pico-expected-seq': '0', 'pico-received-seq': '2' })
    const epoch = await pico.append(path, 'y', as(1, 1))
    expect([epoch.status, picoHeadersOf(epoch)['pico-expected-seq']]).toEqual([409, '0'])
  })

  test('of an older epoch is fenced', async () => {
    const path = await newStream()
    await pico.append(path, 'x', as(5, 0))
    const stale = await pico.append(path, 'y', as(4, 0))
    expect([stale.status, errorOf(stale).error, stale.headers['pico-producer-epoch']]).toEqual([403, 'fenced', '5'])
  })

  test('is known after a restart', async () => {
    const path = await newStream()
    await pico.append(path, 'x', as(1, 0))
    await pico.restart({ bodyBytesMax: 1 << 20 })
    const again = await pico.append(path, 'x', as(1, 0))
    expect([again.headers['pico-start-seq'], again.headers['pico-timestamp']]).toEqual(['0', undefined])
    expect((await pico.append(path, 'y', as(1, 1))).headers['pico-start-seq']).toBe('1')
  })
})

describe('sealing', () => {
  test('goes with a last record, or without', async () => {
    const [one, other] = [await newStream(), await newStream()]
    const last = await pico.append(one, 'last', { 'Pico-Closed': 'true' })
    expect(last.headers).toMatchObject({ 'pico-start-seq': '0', 'pico-next-seq': '1', 'pico-closed': 'true' })
    const empty = await pico.append(other, '', { 'Pico-Closed': 'TRUE' })
    expect([empty.status, picoHeadersOf(empty)]).toEqual([200, { 'pico-next-seq': '0', 'pico-closed': 'true' }])
    expect((await pico.append(other, '', { 'Pico-Closed': 'true' })).status).toBe(200)
    for (const path of [one, other]) {
      const refused = await pico.append(path, 'more')
      expect([refused.status, refused.headers['pico-closed'], errorOf(refused).error]).toEqual([409, 'true', 'closed'])
    }
  })
})

describe('trimming', () => {
  test('drops what lies below', async () => {
    const path = await newStream()
    for (const body of ['a', 'b', 'c']) await pico.append(path, body)
    const trimmed = await pico.append(path, '', { 'Pico-Trim-Seq': '2' })
    expect([trimmed.status, picoHeadersOf(trimmed)]).toEqual([200, { 'pico-start-seq': '2', 'pico-next-seq': '3' }])
    expect((await pico.append(path, '', { 'Pico-Trim-Seq': '1' })).headers['pico-start-seq']).toBe('2')
    expect((await pico.send('HEAD', path)).headers['pico-start-seq']).toBe('2')
    const gone = await pico.get(`${path}?seq=1`)
    expect([gone.status, gone.headers['pico-start-seq'], errorOf(gone).error]).toEqual([410, '2', 'out_of_range'])
    expect(await pico.records(path)).toMatchObject([{ seq: 2, body: 'c' }])
  })
})

describe('when storage fails', () => {
  test('an append is 503 with a time to retry, and not there; then goes on', async () => {
    const path = await newStream()
    pico.store.inject({ operation: 'write', fault: { kind: 'fail-before', code: 'ENOSPC' } })
    const failed = await pico.append(path, 'lost')
    // No Retry-After: the records may be found again if the server dies now, so that only an idempotent producer may repeat.
    expect([failed.status, errorOf(failed).error, failed.headers['retry-after']]).toEqual([
      503,
      'unavailable',
      undefined,
    ])
    pico.store.heal()
    await expect.poll(async () => (await pico.append(path, 'kept')).status).toBe(200)
    expect((await pico.records(path)).map(({ body }) => body)).toEqual(['kept'])
  })
})
