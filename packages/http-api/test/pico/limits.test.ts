import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorOf, PicoSystem } from './pico-system.ts'

const settings = { bodyBytesMax: 100_000, headersMax: 50, requestTimeoutMs: 600, corsOrigins: ['https://app.example'] }
let pico: PicoSystem
beforeAll(async () => {
  pico = await PicoSystem.open(settings)
  await pico.create('/s')
})
afterAll(async () => {
  expect(pico.errors).toEqual([])
  await pico.close()
})

const head = (line: string, ...headers: string[]) => `${[line, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`
const close = 'Connection: close'

/** Status line, headers and body of the first answer in what came over a connection. */
function parse(received: string) {
  const [top = '', ...rest] = received.split('\r\n\r\n')
  const [line = '', ...fields] = top.split('\r\n')
  const headers = Object.fromEntries(fields.map((field) => field.split(/: (.*)/).slice(0, 2) as [string, string]))
  return { status: Number(line.split(' ')[1]), headers: headers as Record<string, string>, body: rest.join('\r\n\r\n') }
}

function expectError(received: string, status: number, error: string): void {
  const answer = parse(received)
  expect([answer.status, JSON.parse(answer.body).error]).toEqual([status, error])
  expect(answer.headers).toMatchObject({ 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' })
}

describe('what is no request', () => {
  test.each([
    ['garbage', 'x\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['an unknown method', head('BREW /s HTTP/1.1')],
    ['a header without a name', head('GET /s HTTP/1.1', ': x')],
    ['a header with a NUL', head('GET /s HTTP/1.1', 'X: a\0b')],
    ['a folded header', head('GET /s HTTP/1.1', 'X: a\r\n b')],
    ['two lengths', head('POST /s HTTP/1.1', 'Content-Length: 1', 'Content-Length: 2')],
    ['a length that is no number', head('POST /s HTTP/1.1', 'Content-Length: 1e3')],
    ['a negative length', head('POST /s HTTP/1.1', 'Content-Length: -1')],
    ['a length and chunks', head('POST /s HTTP/1.1', 'Content-Length: 1', 'Transfer-Encoding: chunked')],
    ['a chunk with a negative size', `${head('POST /s HTTP/1.1', 'Transfer-Encoding: chunked')}-1\r\n`],
    ['a chunk of no size', `${head('POST /s HTTP/1.1', 'Transfer-Encoding: chunked')}x\r\n`],
  ])('%s is 400, and the connection closed', async (_what, bytes) => {
    expectError(await pico.raw(bytes), 400, 'bad_request')
  })

  test.each([
    ['no host', `GET /s HTTP/1.1\r\n${close}\r\n\r\n`],
    ['two hosts', head('GET /s HTTP/1.1', 'host: y', close)],
    ['a host that is more than one', `GET /s HTTP/1.1\r\nHost: a/b?c@d\r\n${close}\r\n\r\n`],
    ['a body in another coding', head('POST /s HTTP/1.1', 'Transfer-Encoding: gzip, chunked', close)],
    ['a body in chunks of HTTP/1.0', 'POST /s HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
    ['HTTP/2.0 by name alone', head('POST /s HTTP/2.0', 'Content-Length: 0', close)],
    ['HTTP/0.9', 'GET /s\r\n\r\n'],
  ])('%s is 400', async (_what, bytes) => {
    expectError(await pico.raw(bytes), 400, 'bad_request')
    expect(await pico.records('/s')).toEqual([])
  })

  test('bytes beyond ASCII in the path are 400', async () => {
    expectError(await pico.raw(Buffer.from(head('GET /s\xe9 HTTP/1.1', close), 'latin1')), 400, 'bad_request')
  })

  test('an expectation that cannot be met is 417', async () => {
    const answer = parse(await pico.raw(head('POST /s HTTP/1.1', 'Expect: wonders', 'Content-Length: 1')))
    expect([answer.status, JSON.parse(answer.body).error]).toEqual([417, 'bad_request'])
  })

  test.each(['PATCH', 'TRACE', 'PROPFIND'])('%s is 405', async (method) => {
    expectError(await pico.raw(head(`${method} /s HTTP/1.1`, close)), 405, 'method_not_allowed')
  })

  test('CONNECT opens nothing', async () => {
    expect(await pico.raw(head('CONNECT x:1 HTTP/1.1'))).toBe('')
  })
})

describe('headers', () => {
  test('too many are 431', async () => {
    const headers = Array.from({ length: 60 }, (_, n) => `X-${n}: y`)
    expectError(await pico.raw(head('GET /s HTTP/1.1', ...headers, close)), 431, 'headers_too_large')
  })

  test('a hundred thousand are 431', async () => {
    const headers = Array.from({ length: 100_000 }, (_, n) => `X-${n}: y`)
    expectError(await pico.raw(head('GET /s HTTP/1.1', ...headers, close)), 431, 'headers_too_large')
  })

  test('one too large is 431', async () => {
    expectError(await pico.raw(head('GET /s HTTP/1.1', `X: ${'y'.repeat(100_000)}`)), 431, 'headers_too_large')
  })

  test('that would break out of an answer do not get into one', async () => {
    await pico.create('/injected', { 'Content-Type': 'text/plain; a="\\r\\nSet-Cookie: x"' })
    const { headers } = await pico.send('HEAD', '/injected')
    expect(headers['set-cookie']).toBeUndefined()
  })
})

describe('bodies', () => {
  test('over the limit are answered while they arrive, and no further connection suffers', async () => {
    const request = head('POST /s HTTP/1.1', 'Transfer-Encoding: chunked')
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`
    const received = await pico.raw(request + chunk.repeat(8))
    expectError(received, 413, 'too_large')
    expect(parse(received).headers['Connection']).toBe('close')
    expect(await pico.records('/s')).toEqual([])
  })

  test('that stop half way write nothing', async () => {
    const half = pico.raw(`${head('POST /s HTTP/1.1', 'Content-Length: 10')}12345`, (received) => received !== '')
    expectError(await half, 408, 'request_timeout')
    expect(await pico.records('/s')).toEqual([])
  })

  test('of a client that goes away half way write nothing', async () => {
    const { connect } = await import('node:net')
    for (const framing of ['Content-Length: 10', 'Transfer-Encoding: chunked']) {
      const body = framing.startsWith('C') ? '12345' : '5\r\n12345\r\n'
      const socket = connect(pico.port, '127.0.0.1')
      await new Promise<void>((resolve) => socket.write(`${head('POST /s HTTP/1.1', framing)}${body}`, () => resolve()))
      await new Promise((resolve) => setTimeout(resolve, 30))
      socket.destroy()
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await pico.records('/s')).toEqual([])
  })

  test('in chunks are taken', async () => {
    await pico.create('/chunked')
    const body = '3\r\nabc\r\n3;x=y\r\ndef\r\n0\r\nTrailer: x\r\n\r\n'
    const answer = parse(
      await pico.raw(`${head('POST /chunked HTTP/1.1', 'Transfer-Encoding: chunked', close)}${body}`),
    )
    expect(answer.status).toBe(200)
    expect(await pico.records('/chunked')).toMatchObject([{ body: 'abcdef' }])
  })

  test('are asked for where the client wants to be asked', async () => {
    const asked = pico.raw(head('POST /chunked HTTP/1.1', 'Expect: 100-continue', 'Content-Length: 1'), (text) =>
      text.includes('100 Continue'),
    )
    expect(await asked).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  })
})

test('requests that come at once over one connection are appended and answered in their order', async () => {
  await pico.create('/pipelined')
  const requests = Array.from(
    { length: 50 },
    (_, n) => `${head('POST /pipelined HTTP/1.1', 'Content-Length: 2')}${String(n).padStart(2, '0')}`,
  )
  const received = await pico.raw(requests.join('') + head('GET /s HTTP/1.1', close))
  const starts = [...received.matchAll(/Pico-Start-Seq: (\d+)/g)].map((match) => Number(match[1]))
  expect(starts).toEqual(Array.from({ length: 50 }, (_, n) => n))
  const bodies = (await pico.records('/pipelined')).map(({ body }) => body)
  expect(bodies).toEqual(Array.from({ length: 50 }, (_, n) => String(n).padStart(2, '0')))
})

test('what is no request is not answered in the place of requests that came before it', async () => {
  await pico.create('/before')
  const appends = Array.from({ length: 3 }, (_, n) => `${head('POST /before HTTP/1.1', 'Content-Length: 1')}${n}`)
  const received = await pico.raw(`${appends.join('')}garbage\r\n\r\n${appends[0]}`)
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])
  expect(statuses).toEqual(['200', '200', '200', '400'])
  expect((await pico.records('/before')).map(({ body }) => body)).toEqual(['0', '1', '2'])

  const halfway = `${appends[0]}${head('POST /before HTTP/1.1', 'Transfer-Encoding: chunked')}1\r\nx\r\nz`
  const answered = await pico.raw(halfway)
  expect([...answered.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual(['200', '400'])
  expect(await pico.records('/before')).toHaveLength(4)
})

test('HTTP/1.0 and requests for a whole URL are served', async () => {
  expect(parse(await pico.raw('GET /s HTTP/1.0\r\n\r\n')).status).toBe(200)
  expect(parse(await pico.raw(head(`GET http://x/s?seq=0 HTTP/1.1`, close))).status).toBe(200)
})

test('a request that comes byte by byte is served', async () => {
  const { connect } = await import('node:net')
  const socket = connect(pico.port, '127.0.0.1').setNoDelay(true).setEncoding('latin1')
  let received = ''
  socket.on('data', (text) => {
    received += text
  })
  for (const byte of head('PUT /slow HTTP/1.1', close, 'Content-Length: 0')) {
    socket.write(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await expect.poll(() => parse(received).status).toBe(201)
  socket.destroy()
})

describe('browsers', () => {
  test('are told what they may send', async () => {
    const answer = await pico.send('OPTIONS', '/s', {
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' },
    })
    expect(answer.status).toBe(204)
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': 'https://app.example', vary: 'Origin' })
    expect(answer.headers['access-control-allow-methods']).toContain('PUT')
    expect(answer.headers['access-control-allow-headers']).toContain('Pico-Producer-Id')
    expect(answer.headers['access-control-allow-headers']).toContain('If-None-Match')
  })

  test('of other origins may not read answers', async () => {
    const own = await pico.get('/s', { Origin: 'https://app.example' })
    expect(own.headers['access-control-allow-origin']).toBe('https://app.example')
    expect(own.headers['access-control-expose-headers']).toContain('Pico-Next-Seq')
    const other = await pico.get('/s', { Origin: 'https://evil.example' })
    expect(other.headers['access-control-allow-origin']).toBeUndefined()
    expect(other.headers).toMatchObject({ vary: 'Origin', 'cross-origin-resource-policy': 'cross-origin' })
  })

  test('get no permission at all where no origin was named', async () => {
    const strict = await PicoSystem.open()
    const answer = await strict.send('OPTIONS', '/s', { headers: { Origin: 'https://app.example' } })
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([204, undefined])
    expect(answer.headers['cross-origin-resource-policy']).toBe('same-origin')
    await strict.close()
  })

  test('find the same headers on errors', async () => {
    const answer = await pico.get('/nowhere', { Origin: 'https://app.example' })
    expect([answer.status, errorOf(answer).error]).toEqual([404, 'not_found'])
    expect(answer.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': 'https://app.example',
      'cache-control': 'no-store',
    })
  })
})
