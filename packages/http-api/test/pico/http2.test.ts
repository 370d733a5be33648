import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PicoSystem } from './pico-system.ts'

let pico: PicoSystem
let session: ClientHttp2Session
beforeAll(async () => {
  pico = await PicoSystem.open({ bodyBytesMax: 100_000, headersMax: 50 })
  session = connect(pico.url)
})
afterAll(async () => {
  session.destroy()
  expect(pico.errors).toEqual([])
  await pico.close()
})

type Headers = Record<string, string | number | string[] | undefined>

function send(
  method: string,
  path: string,
  headers: Headers = {},
  body = '',
): Promise<{ headers: Headers; body: string }> {
  const stream = session.request({ ':method': method, ':path': path, ...headers })
  // Node has ended those of most methods without a body already.
  if (!stream.writableEnded) stream.end(body)
  return answerOf(stream)
}

function answerOf(stream: ClientHttp2Stream): Promise<{ headers: Headers; body: string }> {
  return new Promise((resolve, reject) => {
    let headers: Headers = {}
    let body = ''
    stream.setEncoding('utf8')
    stream.on('response', (received) => {
      headers = received as Headers
    })
    stream.on('data', (text) => {
      body += text
    })
    stream.on('error', reject)
    stream.on('close', () => resolve({ headers, body }))
  })
}

test('the same port speaks HTTP/2 to who begins with its preface', async () => {
  const created = await send('PUT', '/two', { 'content-type': 'text/plain' }, 'first')
  expect(created.headers).toMatchObject({ ':status': 201, 'pico-next-seq': '1', 'x-content-type-options': 'nosniff' })
  expect((await send('POST', '/two', {}, 'second')).headers).toMatchObject({ ':status': 200, 'pico-start-seq': '1' })
  const read = await send('GET', '/two?seq=1')
  expect(JSON.parse(read.body)).toMatchObject([{ seq: 1, body: 'second' }])
  expect((await send('HEAD', '/two')).headers).toMatchObject({ ':status': 200, 'content-type': 'text/plain' })
  expect((await send('OPTIONS', '/two')).headers[':status']).toBe(204)
  expect((await send('DELETE', '/two')).headers[':status']).toBe(204)
  expect(await send('GET', '/two')).toMatchObject({
    headers: { ':status': 404 },
    body: expect.stringContaining('not_found'),
  })
  expect((await pico.get('/')).status).toBe(200)
})

test('a preface that comes byte by byte is one', async () => {
  const preface = Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]), // an empty SETTINGS frame
  ])
  const { connect: connectTcp } = await import('node:net')
  const socket = connectTcp(pico.port, '127.0.0.1').setNoDelay(true)
  const first = new Promise<Buffer>((resolve, reject) => socket.once('data', resolve).once('close', reject))
  for (const byte of preface) {
    socket.write(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  // The server's own SETTINGS.
  expect((await first)[3]).toBe(4)
  socket.destroy()
})

test('many appends at once over one connection are all there', async () => {
  await send('PUT', '/many')
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => send('POST', '/many', {}, `${n}`)))
  expect(new Set(answers.map(({ headers }) => headers['pico-start-seq'])).size).toBe(200)
  expect(await pico.records('/many')).toHaveLength(200)
})

test('large answers and live ones come over the same connection', async () => {
  await send('PUT', '/large')
  for (let n = 0; n < 20; n++) await send('POST', '/large', {}, 'x'.repeat(90_000))
  const live = session.request({ ':method': 'GET', ':path': '/large?seq=now&live=sse' })
  let events = ''
  live.setEncoding('utf8')
  live.on('data', (text) => {
    events += text
  })
  const read = await send('GET', '/large?format=raw&bytes=2000000')
  expect([read.headers[':status'], read.body.length]).toEqual([200, 1_800_000])
  await expect.poll(() => events).toContain('up_to_date')
  await send('POST', '/large', {}, 'ping')
  await expect.poll(() => events).toContain('"body":"ping"')
  const poll = send('GET', '/large?seq=21&live=long-poll')
  await expect.poll(() => pico.liveReaders).toBe(2)
  await send('POST', '/large', {}, 'pong')
  expect((await poll).body).toContain('"body":"pong"')
  live.close(constants.NGHTTP2_CANCEL)
  await expect.poll(() => pico.liveReaders).toBe(0)
})

test('a body over the limit is 413, and the connection goes on', async () => {
  const answer = await send('POST', '/large', {}, 'x'.repeat(200_000))
  expect(answer.headers[':status']).toBe(413)
  expect((await send('GET', '/')).headers[':status']).toBe(200)
})

test('too many headers are refused', async () => {
  const headers = Object.fromEntries(Array.from({ length: 52 }, (_, n) => [`x-${n}`, 'y']))
  expect((await send('GET', '/', headers)).headers[':status']).toBe(431)
  const far = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x-${n}`, 'y']))
  const other = connect(pico.url)
  other.on('error', () => {})
  const refused = answerOf(other.request({ ':method': 'GET', ':path': '/', ...far }))
  expect(
    await refused.then(
      ({ headers }) => headers[':status'] ?? 'reset',
      () => 'reset',
    ),
  ).toBe('reset')
  other.destroy()
})

test('a client that cancels what it appends, or that breaks the protocol, hurts nobody', async () => {
  for (let n = 0; n < 20; n++) {
    const stream = session.request({ ':method': 'POST', ':path': '/large' })
    stream.on('error', () => {})
    stream.write('half')
    stream.close(constants.NGHTTP2_CANCEL)
  }
  await pico.raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nthis is no frame at all, is it')
  expect((await send('GET', '/large?seq=22')).body).toBe('[]')
})

test('a body that does not come in time is refused', async () => {
  const other = await PicoSystem.open({ requestTimeoutMs: 200 })
  await other.create('/s')
  const client = connect(other.url)
  const append = client.request({ ':method': 'POST', ':path': '/s' })
  append.write('half')
  const answer = await answerOf(append).catch((error: Error) => error)
  expect(answer instanceof Error ? 'reset' : answer.headers[':status']).toBe(408)
  expect((await other.get('/s')).body.toString()).toBe('[]')
  client.destroy()
  await other.close()
})

test('a server that goes down lets what is under way finish', async () => {
  const other = await PicoSystem.open()
  await other.create('/s')
  const client = connect(other.url)
  other.store.inject({ operation: 'write', fault: { kind: 'hang' } })
  const append = client.request({ ':method': 'POST', ':path': '/s' })
  append.end('x')
  const answer = answerOf(append)
  await expect.poll(() => other.unflushedBytes).toBeGreaterThan(0)
  const closing = other.listener.close(5000)
  setTimeout(() => other.store.heal(), 50)
  expect((await answer).headers[':status']).toBe(200)
  await closing
  await other.close()
})
