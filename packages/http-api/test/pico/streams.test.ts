import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorOf, PicoSystem, picoHeadersOf } from './pico-system.ts'

let pico: PicoSystem
beforeAll(async () => {
  pico = await PicoSystem.open()
})
afterAll(async () => {
  expect(pico.errors).toEqual([])
  await pico.close()
})

describe('creating', () => {
  test('a new stream is 201, the same again 200, another content type 409', async () => {
    const created = await pico.create('/native/orders', { 'Content-Type': 'text/plain' })
    expect(created.status).toBe(201)
    expect(created.headers).toMatchObject({ location: '/native/orders', 'content-type': 'text/plain' })
    expect(picoHeadersOf(created)).toEqual({ 'pico-start-seq': '0', 'pico-next-seq': '0' })
    expect((await pico.create('/native/orders', { 'Content-Type': 'Text/Plain' })).status).toBe(200)
    const other = await pico.create('/native/orders', { 'Content-Type': 'application/json' })
    expect([other.status, errorOf(other).error]).toEqual([409, 'conflict'])
  })

  test('the body becomes the first record, and is not appended to what is there', async () => {
    expect((await pico.create('/create/body', {}, 'first')).headers['pico-next-seq']).toBe('1')
    expect((await pico.create('/create/body', {}, 'second')).headers['pico-next-seq']).toBe('1')
    expect(await pico.records('/create/body')).toMatchObject([{ seq: 0, body: 'first' }])
  })

  test('a batch as the body becomes many first records of a stream of the default type', async () => {
    const headers = { 'Content-Type': 'application/vnd.picomq.batch+json' }
    const created = await pico.create('/create/batch', headers, '{"records":[{"body":"a"},{"body":"b"}]}')
    expect(created.headers).toMatchObject({ 'content-type': 'application/octet-stream', 'pico-next-seq': '2' })
    expect((await pico.create('/create/batch', headers)).status).toBe(200)
  })

  test('a stream can be made sealed, with its only records', async () => {
    const created = await pico.create('/create/closed', { 'Pico-Closed': 'true' }, 'all there is')
    expect([created.status, created.headers['pico-closed']]).toEqual([201, 'true'])
    const append = await pico.append('/create/closed', 'more')
    expect([append.status, errorOf(append)]).toMatchObject([409, { error: 'closed', next_seq: 1 }])
    expect(picoHeadersOf(append)).toEqual({ 'pico-closed': 'true', 'pico-next-seq': '1' })
  })

  test('what was asked for is told by HEAD', async () => {
    await pico.create('/options/ttl', { 'Pico-TTL': '60' })
    await pico.create('/options/expires', { 'Pico-Expires-At': '2100-01-01T02:00:00+02:00' })
    await pico.create('/options/expires-ms', { 'Pico-Expires-At': '4102444800123' })
    expect((await pico.send('HEAD', '/options/ttl')).headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'pico-start-seq': '0',
      'pico-next-seq': '0',
      'pico-ttl': '60',
    })
    expect((await pico.send('HEAD', '/options/expires')).headers['pico-expires-at']).toBe('2100-01-01T00:00:00Z')
    expect((await pico.send('HEAD', '/options/expires-ms')).headers['pico-expires-at']).toBe('2100-01-01T00:00:00.123Z')
  })

  test.each([
    ['TTL and expiry together', { 'Pico-TTL': '60', 'Pico-Expires-At': '2100-01-01T00:00:00Z' }],
    ['a TTL of nothing', { 'Pico-TTL': '0' }],
    ['a TTL that is no number', { 'Pico-TTL': '1h' }],
    ['a TTL beyond what can be kept', { 'Pico-TTL': '9007199254740991' }],
    ['an expiry in the past', { 'Pico-Expires-At': '2001-01-01T00:00:00Z' }],
    ['an expiry that is no time', { 'Pico-Expires-At': 'tomorrow' }],
    ['an expiry on no day', { 'Pico-Expires-At': '2100-02-31T25:00:00Z' }],
    ['an expiry beyond all calendars', { 'Pico-Expires-At': '8999999999999999' }],
    ['a Pico-Closed that is neither', { 'Pico-Closed': 'yes' }],
    ['a content type that is none', { 'Content-Type': 'nonsense' }],
    ['a batch that is none', { 'Content-Type': 'application/vnd.picomq.batch' }],
  ])('%s is 400, and makes nothing', async (_what, headers: Record<string, string>) => {
    const refused = await pico.create('/create/refused', headers, 'x')
    expect([refused.status, errorOf(refused).error]).toEqual([400, 'bad_request'])
    expect((await pico.send('HEAD', '/create/refused')).status).toBe(404)
  })

  test('a stream ends at its time', async () => {
    await pico.create('/create/short', { 'Pico-Expires-At': String(Date.now() + 300) })
    expect((await pico.send('HEAD', '/create/short')).status).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect((await pico.send('HEAD', '/create/short')).status).toBe(404)
    expect((await pico.get('/create/short')).status).toBe(404)
    expect((await pico.create('/create/short')).status).toBe(201)
  })
})

describe('deleting', () => {
  test('is 204, then 404, and the name is free at once', async () => {
    await pico.create('/delete/me', {}, 'old')
    expect((await pico.send('DELETE', '/delete/me')).status).toBe(204)
    expect((await pico.send('DELETE', '/delete/me')).status).toBe(404)
    expect((await pico.send('HEAD', '/delete/me')).status).toBe(404)
    expect((await pico.append('/delete/me', 'x')).status).toBe(404)
    expect((await pico.create('/delete/me')).status).toBe(201)
    expect(await pico.records('/delete/me')).toEqual([])
  })
})

describe('listing', () => {
  test('goes by prefix, in name order, page by page', async () => {
    for (const name of ['/list/b', '/list/a', '/list/c/d', '/lisp']) await pico.create(name)
    const page = async (query: string) => JSON.parse((await pico.get(`/?${query}`)).body.toString())
    const names = (listing: { streams: { name: string }[] }) => listing.streams.map(({ name }) => name)
    const all = await page('prefix=/list/')
    expect([names(all), all.has_more]).toEqual([['/list/a', '/list/b', '/list/c/d'], false])
    const first = await page('prefix=/list/&limit=2')
    expect([names(first), first.has_more]).toEqual([['/list/a', '/list/b'], true])
    expect(names(await page('prefix=/list/&start_after=/list/b'))).toEqual(['/list/c/d'])
    expect(names(await page('prefix=/nothing'))).toEqual([])
  })

  test('tells what a stream is', async () => {
    await pico.create('/tell/all', { 'Content-Type': 'text/plain', 'Pico-TTL': '7' }, 'x')
    await pico.create('/tell/more', { 'Pico-Expires-At': '2100-01-01T00:00:00Z', 'Pico-Closed': 'true' })
    const { streams } = JSON.parse((await pico.get('/?prefix=/tell')).body.toString())
    expect(streams).toEqual([
      {
        name: '/tell/all',
        topic: 'tell.all',
        content_type: 'text/plain',
        start_seq: 0,
        next_seq: 1,
        closed: false,
        ttl: 7,
      },
      {
        name: '/tell/more',
        topic: 'tell.more',
        content_type: 'application/octet-stream',
        start_seq: 0,
        next_seq: 0,
        closed: true,
        expires_at: '2100-01-01T00:00:00Z',
      },
    ])
  })

  test.each(['limit=0', 'limit=1001', 'limit=ten', 'limit=1&limit=2'])('%s is 400', async (query) => {
    const refused = await pico.get(`/?${query}`)
    expect([refused.status, errorOf(refused).error]).toEqual([400, 'bad_request'])
  })
})

describe('names', () => {
  test('are percent-decoded once', async () => {
    await pico.create('/names/a%20b%2520%C3%A9')
    expect(JSON.parse((await pico.get('/?prefix=/names/a')).body.toString()).streams).toMatchObject([
      { name: '/names/a b%20é' },
    ])
    expect((await pico.send('HEAD', '/names%2Fa%20b%2520é'.replace('é', '%c3%a9'))).status).toBe(200)
  })

  test.each([
    ['an empty segment', '/a//b'],
    ['a trailing slash', '/a/'],
    ['an empty segment in disguise', '/a/%2Fb'],
    ['a dot', '/a/./b'],
    ['two dots', '/a/../b'],
    ['two dots in disguise', '/a/%2e%2E/b'],
    ['a control character', '/a%00b'],
    ['a line break', '/a%0d%0aSet-Cookie:x'],
    ['a C1 control character', '/a%C2%85'],
    ['bytes that are no UTF-8', '/a%ff'],
    ['half of a surrogate pair', '/a%ED%A0%80'],
    ['a percent sign alone', '/a%'],
    ['1,025 bytes', `/${'a'.repeat(1024)}`],
    ['1,026 bytes in 513 characters', `/${'%C3%A9'.repeat(512)}`],
  ])('%s is 400 for every method', async (_what, path) => {
    for (const method of ['PUT', 'POST', 'GET', 'HEAD', 'DELETE']) {
      const answer = await pico.send(method, path, method === 'POST' ? { body: 'x' } : {})
      expect([method, answer.status]).toEqual([method, 400])
      if (method !== 'HEAD') expect(errorOf(answer).error).toBe('bad_request')
    }
  })

  test('of 1,024 bytes are taken, and need not be topics', async () => {
    const path = `/${'b'.repeat(1023)}`
    expect((await pico.create(path)).status).toBe(201)
    expect((await pico.append(path, 'x')).status).toBe(200)
    expect(await pico.records(path)).toHaveLength(1)
  })

  test('differ by case, and by dots and slashes, until a topic would be the same', async () => {
    for (const name of ['/Case/x', '/case/x']) expect((await pico.create(name)).status).toBe(201)
    expect(JSON.parse((await pico.get('/?prefix=/Case')).body.toString()).streams).toMatchObject([{ name: '/Case/x' }])
  })

  test.each(['/_sys/groups/g', '/_schemas/x', '/_streams/t/1', '/_sys', '/%5Fsys/x'])(
    '%s is not for clients to write',
    async (path) => {
      for (const method of ['PUT', 'POST', 'DELETE']) {
        const answer = await pico.send(method, path, method === 'DELETE' ? {} : { body: 'x' })
        expect([method, answer.status, errorOf(answer).error]).toEqual([method, 403, 'forbidden'])
      }
      expect((await pico.get(path)).status).toBe(404)
    },
  )

  test('the root is no stream', async () => {
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const answer = await pico.send(method, '/')
      expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS'])
    }
  })
})

test('a topic that Kafka made is a stream', async () => {
  await pico.streams.createTopic({ name: 'kafka.made', partitions: 1, config: {}, validateOnly: false })
  expect((await pico.append('/kafka.made', 'over HTTP')).status).toBe(200)
  expect(await pico.records('/kafka.made')).toMatchObject([{ body: 'over HTTP' }])
  expect((await pico.create('/kafka.made')).status).toBe(200)
})

test('all of it is there after a restart', async () => {
  await pico.create('/restart/me', { 'Content-Type': 'text/plain', 'Pico-TTL': '3600' }, 'kept')
  await pico.append('/restart/me', '', { 'Pico-Closed': 'true' })
  await pico.restart()
  expect((await pico.send('HEAD', '/restart/me')).headers).toMatchObject({
    'content-type': 'text/plain',
    'pico-ttl': '3600',
    'pico-next-seq': '1',
    'pico-closed': 'true',
  })
  expect(await pico.records('/restart/me')).toMatchObject([{ body: 'kept' }])
})
