import { connect } from 'node:net'
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
const json = { 'Content-Type': 'application/json' }
const put = (path: string, headers: Record<string, string> = text, body?: string) =>
  server.request('PUT', path, headers, body)
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  server.request('POST', path, { ...text, ...headers }, body)
const contentOf = async (path: string) => (await server.request('GET', path)).text()
const producer = (epoch: number | string, seq: number | string, id = 'p') => ({
  'Producer-Id': id,
  'Producer-Epoch': String(epoch),
  'Producer-Seq': String(seq),
})

describe('closing', () => {
  it('takes true in any case, and nothing else', async () => {
    await put('/close/case')
    for (const value of ['yes', '1', 'false', 'true, true']) {
      expect((await post('/close/case', 'x', { 'Stream-Closed': value })).headers.get('stream-closed')).toBeNull()
    }
    const closed = await server.request('POST', '/close/case', { 'Stream-Closed': 'TRUE' })
    expect([closed.status, closed.headers.get('stream-closed')]).toEqual([204, 'true'])
    const late = await post('/close/case', 'x')
    expect(late.status).toBe(409)
    expect(late.headers.get('stream-next-offset')).toBe('0000000000000004_0000000000000000')
    expect(await late.json()).toMatchObject({ error: 'closed' })
  })

  it('comes before type and JSON, of which nobody asks when nothing is appended', async () => {
    await put('/close/order', { ...json, 'Stream-Closed': 'true' })
    const late = await post('/close/order', 'not json', { 'Content-Type': 'text/html' })
    expect([late.status, late.headers.get('stream-closed')]).toEqual([409, 'true'])
  })
})

describe('producers', () => {
  it('count up to 2^53 - 1, and not beyond', async () => {
    await put('/producer/numbers')
    for (const wrong of ['9007199254740992', '1abc', '1e3', '-1', '1.0', '']) {
      expect((await post('/producer/numbers', 'x', producer(0, wrong))).status).toBe(400)
      expect((await post('/producer/numbers', 'x', producer(wrong, 0))).status).toBe(400)
    }
    const largest = Number.MAX_SAFE_INTEGER
    const first = await post('/producer/numbers', 'a', producer(largest, 0))
    expect([first.status, first.headers.get('producer-epoch')]).toEqual([200, String(largest)])
    const far = await post('/producer/numbers', 'b', producer(largest, largest))
    expect([far.status, far.headers.get('producer-expected-seq')]).toEqual([409, '1'])
    expect(far.headers.get('producer-received-seq')).toBe(String(largest))
    expect(await contentOf('/producer/numbers')).toBe('a')
  })

  it('whose requests come out of order are told which is to come first, and lose nothing', async () => {
    await put('/producer/order')
    const bodies = ['a', 'b', 'c', 'd', 'e']
    const sent = [1, 0, 3, 2, 4].map(async (seq) => {
      for (;;) {
        const response = await post('/producer/order', bodies[seq] ?? '', producer(0, seq))
        if (response.status !== 409) return response.status
        expect(Number(response.headers.get('producer-expected-seq'))).toBeLessThan(seq)
        expect(response.headers.get('producer-received-seq')).toBe(String(seq))
      }
    })
    expect(await Promise.all(sent)).toEqual([200, 200, 200, 200, 200])
    expect(await contentOf('/producer/order')).toBe('abcde')
  })

  it('may send the next request before the last one is answered, on one connection', async () => {
    await put('/producer/pipelined')
    const requests = Array.from({ length: 20 }, (_, seq) => {
      const headers = ['Host: x', 'Content-Type: text/plain', 'Content-Length: 3']
      for (const [name, value] of Object.entries(producer(0, seq))) headers.push(`${name}: ${value}`)
      return `POST /producer/pipelined HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${String(seq).padStart(3, '0')}`
    })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(requests.join(''))
    let answers = ''
    for await (const chunk of socket) {
      answers += String(chunk)
      if ((answers.match(/^HTTP/gm)?.length ?? 0) === requests.length) break
    }
    expect(answers.match(/^HTTP\/1.1 \d+/gm)).toEqual(requests.map(() => 'HTTP/1.1 200'))
    const expected = requests.map((_, seq) => String(seq).padStart(3, '0')).join('')
    expect(await contentOf('/producer/pipelined')).toBe(expected)
  })

  it('do not use a number up for what is refused', async () => {
    await put('/producer/refused', json)
    const send = (body: string, headers: Record<string, string> = {}) =>
      server.request('POST', '/producer/refused', { ...json, ...producer(0, 0), ...headers }, body)
    expect((await send('{')).status).toBe(400)
    expect((await send('[]')).status).toBe(400)
    expect((await send('1', text)).status).toBe(409)
    expect((await send('[1,2]')).status).toBe(200)
    const repeat = await send('[3]')
    expect([repeat.status, repeat.headers.get('stream-next-offset')]).toEqual([
      204,
      '0000000000000002_0000000000000000',
    ])
    expect(await contentOf('/producer/refused')).toBe('[1,2]')
  })
})

describe('bodies', () => {
  it('of JSON come back as they were sent', async () => {
    const messages = [
      '12345678901234567890',
      '1.0',
      '-0',
      '1E400',
      '{"b":1,"a":2,"b":3}',
      '"\\u00e9é"',
      '[[1, 2]]',
      'null',
    ]
    await put('/json', json, `[${messages.join(' ,\n ')}]`)
    await server.request('POST', '/json', json, ' {"n": 0.1000} ')
    expect(await contentOf('/json')).toBe(`[${messages.join(',')},{"n": 0.1000}]`)
    expect((await server.request('HEAD', '/json')).headers.get('stream-next-offset')).toBe(
      '0000000000000009_0000000000000000',
    )
  })

  it('are 413 beyond the limit, announced or not, and nothing of them is kept', async () => {
    await put('/large')
    const large = 'x'.repeat(1024 * 1024 + 1)
    expect((await post('/large', large)).status).toBe(413)
    const chunked = await fetch(`${server.url}/large`, {
      method: 'POST',
      headers: text,
      body: new Blob([large]).stream(),
      duplex: 'half',
    } as RequestInit)
    expect(chunked.status).toBe(413)
    expect((await put('/large/created', text, large)).status).toBe(413)
    expect((await server.request('HEAD', '/large/created')).status).toBe(404)
    expect(await contentOf('/large')).toBe('')
    const still = await post('/large', 'x'.repeat(900_000))
    expect(still.status).toBe(204)
  })
})

describe('names', () => {
  it('under __ds are the protocol’s, and reserved ones nobody’s to write', async () => {
    for (const method of ['PUT', 'GET', 'HEAD', 'DELETE', 'POST']) {
      expect((await server.request(method, '/__ds/subscriptions/a', text)).status).toBe(404)
    }
    for (const name of ['/_sys/a', '/_schemas/a', '/_streams/t/1']) {
      expect((await put(name)).status).toBe(403)
      expect((await post(name, 'x')).status).toBe(403)
      expect((await server.request('DELETE', name)).status).toBe(403)
    }
  })

  it('are given back in Location as they were asked for', async () => {
    const response = await put('/names/caf%C3%A9/a%2Fb')
    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe(`${server.url}/names/caf%C3%A9/a%2Fb`)
  })

  it('have no other methods', async () => {
    expect((await server.request('PATCH', '/names/x', json)).status).toBe(405)
    const response = await server.request('PATCH', '/names/x', text, 'x')
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toContain('POST')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })
})
