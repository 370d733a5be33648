import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestServer, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openTestServer()
})
afterAll(async () => {
  await server.close()
  expect(server.complaints).toEqual([])
})

const text = { 'Content-Type': 'text/plain' }
const put = (path: string, headers: Record<string, string> = text, body?: string) =>
  server.request('PUT', path, headers, body)
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  server.request('POST', path, { ...text, ...headers }, body)

describe('catch-up reads', () => {
  it('may be cached, with a tag that tells when the stream is closed', async () => {
    await put('/etag', text, 'ab')
    const open = await server.request('GET', '/etag')
    expect(open.headers.get('cache-control')).toBe('public, max-age=60, stale-while-revalidate=300')
    const tag = open.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[0-9a-f-]{36}:0{16}_0{16}:0{15}1_0{16}"$/)
    const again = await server.request('GET', '/etag?offset=-1', { 'If-None-Match': tag })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect(again.headers.get('etag')).toBe(tag)

    await server.request('POST', '/etag', { 'Stream-Closed': 'true' })
    const closed = await server.request('GET', '/etag', { 'If-None-Match': tag })
    expect([closed.status, await closed.text()]).toEqual([200, 'ab'])
    expect(closed.headers.get('etag')).toBe(`${tag.slice(0, -1)}:c"`)
    expect(closed.headers.get('stream-closed')).toBe('true')
  })

  it('have another tag in another life of the name', async () => {
    await put('/lives', text, 'ab')
    const tag = (await server.request('GET', '/lives')).headers.get('etag') ?? ''
    await server.request('DELETE', '/lives')
    await put('/lives', text, 'xy')
    const now = await server.request('GET', '/lives', { 'If-None-Match': tag })
    expect([now.status, await now.text()]).toEqual([200, 'xy'])
  })

  it('are not stored when they ask for now, nor are their errors', async () => {
    await put('/now', text, 'ab')
    const now = await server.request('GET', '/now?offset=now')
    expect([now.status, await now.text()]).toEqual([200, ''])
    expect(now.headers.get('cache-control')).toBe('no-store')
    expect(now.headers.get('etag')).toBeNull()
    expect((await server.request('GET', '/none')).headers.get('cache-control')).toBe('no-store')
    expect((await server.request('HEAD', '/now')).headers.get('cache-control')).toBe('no-store')
  })

  it('are refused at offsets that this stream never gave out', async () => {
    await put('/offsets', text, 'abc')
    for (const offset of [
      '0000000000000002_0000000000000000',
      '0000000000000001_0000000000000001',
      '0000000000000000_0000000000000003',
      '9999999999999999_9999999999999999',
      '%20',
      'next',
    ]) {
      const response = await server.request('GET', `/offsets?offset=${offset}`)
      expect([offset, response.status]).toEqual([offset, 400])
      expect(await response.json()).toMatchObject({ error: 'bad_request' })
    }
    const inside = await server.request('GET', '/offsets?offset=0000000000000000_0000000000000002')
    expect(await inside.text()).toBe('c')
  })

  it('below what is kept are 410, and the start is what is left', async () => {
    await put('/trimmed', text, 'a')
    await post('/trimmed', 'b')
    await post('/trimmed', 'c')
    await (await server.stream('/trimmed')).trim(2)
    const gone = await server.request('GET', '/trimmed?offset=0000000000000001_0000000000000000')
    expect(gone.status).toBe(410)
    expect(await gone.json()).toMatchObject({ error: 'out_of_range' })
    const start = await server.request('GET', '/trimmed?offset=-1')
    expect(await start.text()).toBe('c')
    expect(start.headers.get('etag')).toContain(':0000000000000002_0000000000000000:')
  })

  it('come in chunks that end on records and add up', async () => {
    await put('/chunks')
    const bodies = Array.from({ length: 6 }, (_, index) => String(index).repeat(500_000))
    for (const body of bodies) expect((await post('/chunks', body)).status).toBe(204)
    let all = ''
    let requests = 0
    for (let offset = '-1', upToDate: string | null = null; upToDate === null; requests++) {
      const response = await server.request('GET', `/chunks?offset=${offset}`)
      all += await response.text()
      offset = response.headers.get('stream-next-offset') ?? ''
      upToDate = response.headers.get('stream-up-to-date')
    }
    expect(all).toBe(bodies.join(''))
    expect(requests).toBeGreaterThan(1)
  })

  it('do not know other ways of being live', async () => {
    await put('/live')
    expect((await server.request('GET', '/live?offset=-1&live=websocket')).status).toBe(400)
  })
})

describe('long polls', () => {
  it('end by themselves with the tail, not to be stored', async () => {
    await put('/poll', text, 'ab')
    const tail = '0000000000000001_0000000000000000'
    const response = await server.request('GET', `/poll?offset=${tail}&live=long-poll`)
    expect(response.status).toBe(204)
    expect(response.headers.get('stream-next-offset')).toBe(tail)
    expect(response.headers.get('stream-up-to-date')).toBe('true')
    expect(response.headers.get('stream-cursor')).toMatch(/^\d+$/)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('content-type')).toBeNull()
  })

  it('get what comes, and may store it', async () => {
    await put('/poll/data')
    const waiting = server.request('GET', '/poll/data?offset=now&live=long-poll')
    await sleep(50)
    await post('/poll/data', 'hello')
    const response = await waiting
    expect([response.status, await response.text()]).toEqual([200, 'hello'])
    expect(response.headers.get('cache-control')).toContain('max-age=60')
    expect(response.headers.get('etag')).toMatch(/^"/)
  })

  it('get the last data before they are told of the end', async () => {
    await put('/poll/end')
    const waiting = server.request('GET', '/poll/end?offset=-1&live=long-poll')
    await sleep(50)
    await post('/poll/end', 'last', { 'Stream-Closed': 'true' })
    const response = await waiting
    expect([response.status, await response.text()]).toEqual([200, 'last'])
    expect(response.headers.get('stream-closed')).toBe('true')
    expect(response.headers.get('stream-cursor')).toBeNull()
  })

  it('hear of a closing without data', async () => {
    await put('/poll/closed', text, 'ab')
    const waiting = server.request('GET', '/poll/closed?offset=now&live=long-poll')
    await sleep(50)
    await server.request('POST', '/poll/closed', { 'Stream-Closed': 'true' })
    const response = await waiting
    expect(response.status).toBe(204)
    expect(response.headers.get('stream-closed')).toBe('true')
  })

  it('are 404 when their stream is deleted meanwhile, also if there is another one by then', async () => {
    await put('/poll/deleted')
    const waiting = server.request('GET', '/poll/deleted?offset=-1&live=long-poll')
    await sleep(50)
    await server.request('DELETE', '/poll/deleted')
    await put('/poll/deleted')
    expect((await waiting).status).toBe(404)
  })

  it('are 410 when their stream is deleted but lives on in a fork', async () => {
    await put('/poll/forked', text, 'ab')
    await put('/poll/fork', { 'Stream-Forked-From': '/poll/forked' })
    const waiting = server.request('GET', '/poll/forked?offset=now&live=long-poll')
    await sleep(50)
    await server.request('DELETE', '/poll/forked')
    expect((await waiting).status).toBe(410)
  })

  it('keep a stream alive that ends when nobody uses it', async () => {
    const patient = await openTestServer({ longPollTimeoutMs: 2500 })
    await patient.request('PUT', '/alive', { ...text, 'Stream-TTL': '1' })
    await patient.request('PUT', '/idle', { ...text, 'Stream-TTL': '1' })
    const response = await patient.request('GET', '/alive?offset=-1&live=long-poll')
    expect(response.status).toBe(204)
    expect((await patient.request('HEAD', '/alive')).status).toBe(200)
    expect((await patient.request('HEAD', '/idle')).status).toBe(404)
    await patient.close()
    expect(patient.complaints).toEqual([])
  })

  it('end at once when the server goes down', async () => {
    const closing = await openTestServer({ longPollTimeoutMs: 30_000 })
    await closing.request('PUT', '/down')
    const waiting = closing.request('GET', '/down?offset=-1&live=long-poll')
    await sleep(100)
    const began = performance.now()
    await closing.close()
    expect((await waiting).status).toBe(204)
    expect(performance.now() - began).toBeLessThan(5000)
  })
})
