import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestServer, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openTestServer({ longPollTimeoutMs: 20_000, sseMaxDurationMs: 1000, eventBytes: 1 })
})
afterAll(async () => {
  await server.close()
  expect(server.complaints).toEqual([])
})

const text = { 'Content-Type': 'text/plain' }

describe('readers who go away', () => {
  it.each(['long-poll', 'sse'])('are let go at once over HTTP/1.1: %s', async (live) => {
    const path = `/leaving/${live}`
    await server.request('PUT', path, text)
    const leaving = new AbortController()
    const reading = fetch(`${server.url}${path}?offset=-1&live=${live}`, { signal: leaving.signal })
    const settled = reading.then(
      () => {},
      () => {},
    )
    await expect.poll(() => server.liveReaders).toBe(1)
    leaving.abort()
    await settled
    await expect.poll(() => server.liveReaders, { timeout: 500 }).toBe(0)
  })

  it.each(['long-poll', 'sse'])('are let go at once over HTTP/2: %s', async (live) => {
    const path = `/leaving2/${live}`
    await server.request('PUT', path, text, 'abc')
    const session = connectHttp2(server.url)
    const stream = session.request({ ':path': `${path}?offset=now&live=${live}` })
    stream.on('error', () => {})
    await expect.poll(() => server.liveReaders).toBe(1)
    stream.close()
    await expect.poll(() => server.liveReaders, { timeout: 500 }).toBe(0)
    session.close()
  })

  it('without leaving are cut off: who does not take events holds up nobody for ever', async () => {
    await server.request('PUT', '/stuck', text)
    for (let index = 0; index < 40; index++) {
      await server.request('POST', '/stuck', text, 'x'.repeat(1_000_000))
    }
    const others = server.connections
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET /stuck?offset=-1&live=sse HTTP/1.1\r\nHost: x\r\n\r\n')
    socket.pause()
    await expect.poll(() => server.liveReaders).toBe(1)
    expect(server.connections).toBe(others + 1)
    await expect.poll(() => server.connections, { timeout: 6000 }).toBe(others)
    expect(server.liveReaders).toBe(0)
    socket.destroy()
  })
})

it('events come over HTTP/2 as over HTTP/1.1', async () => {
  await server.request('PUT', '/h2', { ...text, 'Stream-Closed': 'true' }, 'hello')
  const session = connectHttp2(server.url)
  const stream = session.request({ ':path': '/h2?offset=-1&live=sse' })
  let received = ''
  for await (const chunk of stream) received += String(chunk)
  session.close()
  expect(received).toBe(
    'event: data\ndata:hello\n\nevent: control\ndata:{"streamNextOffset":"0000000000000001_0000000000000000","streamClosed":true,"upToDate":true}\n\n',
  )
})
