import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controlsOf, dataOf, openTestServer, readEvents, type SseEvent, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openTestServer({ sseMaxDurationMs: 1500, sseKeepAliveMs: 200 })
})
afterAll(async () => {
  await server.close()
  expect(server.complaints).toEqual([])
})

const text = { 'Content-Type': 'text/plain' }
const put = (path: string, headers: Record<string, string> = text, body?: string | Uint8Array) =>
  server.request('PUT', path, headers, body)
const follow = (path: string, offset = '-1') => server.request('GET', `${path}?offset=${offset}&live=sse`)
const count = (wanted: number) => (events: readonly SseEvent[]) => dataOf(events).length >= wanted

describe('events', () => {
  it('end after the longest time that a connection may last, and go on from their last offset', async () => {
    await put('/sse/time', text, 'one')
    const began = performance.now()
    const events = await readEvents(await follow('/sse/time'))
    const lastedMs = performance.now() - began
    expect(lastedMs).toBeGreaterThan(1300)
    expect(lastedMs).toBeLessThan(4000)
    expect(dataOf(events)).toEqual(['one'])
    expect(controlsOf(events)).toHaveLength(1)

    await server.request('POST', '/sse/time', { ...text, 'Stream-Closed': 'true' }, 'two')
    const offset = controlsOf(events).at(-1)?.streamNextOffset
    const rest = await readEvents(await follow('/sse/time', offset))
    expect(dataOf(rest)).toEqual(['two'])
    expect(controlsOf(rest)).toEqual([
      { streamNextOffset: '0000000000000002_0000000000000000', streamClosed: true, upToDate: true },
    ])
  })

  it('are kept alive by comments, which nobody sees', async () => {
    await put('/sse/silent')
    const response = await follow('/sse/silent')
    const bytes = Buffer.from(await response.arrayBuffer()).toString()
    expect(bytes.match(/^:\n\n/gm)?.length).toBeGreaterThanOrEqual(5)
    expect(bytes.match(/^event:/gm)).toHaveLength(1)
  })

  it('come one data and one control each, with offsets that only grow', async () => {
    await put('/sse/pairs')
    const reading = follow('/sse/pairs').then((response) => readEvents(response, count(5)))
    for (let index = 0; index < 5; index++) {
      await sleep(20)
      await server.request('POST', '/sse/pairs', text, `${index}`)
    }
    const events = await reading
    expect(dataOf(events).join('')).toBe('01234')
    for (const [at, { event }] of events.entries()) {
      if (event === 'data') expect(events[at + 1]?.event).toBe('control')
    }
    const offsets = controlsOf(events).map(({ streamNextOffset }) => streamNextOffset)
    expect([...new Set(offsets)].toSorted()).toEqual(offsets)
  })

  it('hold whole characters, however writers cut them', async () => {
    const whole = 'añb€c😀d'
    await put('/sse/utf8')
    const reading = follow('/sse/utf8').then((response) => readEvents(response))
    for (const byte of Buffer.from(whole)) {
      await server.request('POST', '/sse/utf8', text, Uint8Array.of(byte))
    }
    await server.request('POST', '/sse/utf8', { 'Stream-Closed': 'true' })
    const events = await reading
    expect(dataOf(events).join('')).toBe(whole)
    expect(controlsOf(events).at(-1)).toEqual({
      streamNextOffset: '0000000000000013_0000000000000000',
      streamClosed: true,
      upToDate: true,
    })
  })

  it('say inside which record they ended, and go on there', async () => {
    await put('/sse/inside', text, Buffer.from('ab€').subarray(0, 4))
    const events = await readEvents(await follow('/sse/inside'), count(1))
    const offset = controlsOf(events)[0]?.streamNextOffset
    expect(dataOf(events)).toEqual(['ab'])
    expect(offset).toBe('0000000000000000_0000000000000002')
    await server.request('POST', '/sse/inside', text, Buffer.from('€').subarray(2))
    const plain = await server.request('GET', `/sse/inside?offset=${offset}`)
    expect(await plain.text()).toBe('€')
    const rest = await readEvents(await follow('/sse/inside', offset), count(1))
    expect(dataOf(rest)).toEqual(['€'])
  })

  it('go on where a large record ends inside a character', async () => {
    const whole = `${'x'.repeat(300_000)}€`
    const bytes = Buffer.from(whole)
    await put('/sse/large', text, bytes.subarray(0, -1))
    const reading = follow('/sse/large').then((response) => readEvents(response))
    await sleep(100)
    await server.request('POST', '/sse/large', { ...text, 'Stream-Closed': 'true' }, bytes.subarray(-1))
    expect(dataOf(await reading).join('')).toBe(whole)
  })

  it('give an unfinished character away at the end of the stream', async () => {
    await put('/sse/unfinished', { ...text, 'Stream-Closed': 'true' }, Buffer.from('a€').subarray(0, 3))
    expect(dataOf(await readEvents(await follow('/sse/unfinished')))).toEqual(['a\ufffd'])
  })

  it('end when their stream is deleted', async () => {
    await put('/sse/deleted', text, 'ab')
    const began = performance.now()
    const reading = follow('/sse/deleted').then((response) => readEvents(response))
    await sleep(100)
    await server.request('DELETE', '/sse/deleted')
    expect(dataOf(await reading)).toEqual(['ab'])
    expect(performance.now() - began).toBeLessThan(1000)
  })

  it('keep a stream alive that ends when nobody uses it', async () => {
    await put('/sse/alive', { ...text, 'Stream-TTL': '1' }, 'ab')
    await readEvents(await follow('/sse/alive'))
    expect((await server.request('HEAD', '/sse/alive')).status).toBe(200)
    await sleep(1600)
    expect((await server.request('HEAD', '/sse/alive')).status).toBe(404)
  })

  it('come in base64 of whole groups where the stream is bytes', async () => {
    await put('/sse/bytes', { 'Content-Type': 'application/octet-stream' }, Uint8Array.of(1, 2, 3, 4))
    const response = await follow('/sse/bytes')
    expect(response.headers.get('stream-sse-data-encoding')).toBe('base64')
    expect(dataOf(await readEvents(response, count(1)))).toEqual(['AQIDBA=='])
  })
})
