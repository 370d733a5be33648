import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Doors } from '../src/cross/cross-stream.ts'
import { httpCall } from '../src/cross/http-call.ts'
import { head, sendRaw } from '../src/cross/raw-http.ts'
import { serveDoors } from '../src/cross/serve-doors.ts'
import type { PicoServer } from '../src/pico.ts'

/*
 * A client that means harm, over sockets of its own, on each HTTP listener of the built server. It is answered 4xx, in the form that errors
 * have, or cut off; nothing is written, nothing is said to be a bug, memory stays what it was, and others are served meanwhile.
 */

let server: PicoServer
let doors: Doors
const ports: Record<string, number> = {}
beforeAll(async () => {
  ;({ server, doors } = await serveDoors())
  Object.assign(ports, { pico: portOf(doors.picoUrl), ds: portOf(doors.dsUrl), admin: portOf(server.adminUrl) })
  for (const name of ['/victim', '/json']) {
    const headers = { 'Content-Type': name === '/json' ? 'application/json' : 'text/plain' }
    await httpCall(doors.picoUrl, { method: 'PUT', target: name, headers })
  }
})
afterAll(async () => {
  const { code, forced } = await server.close()
  expect({ code, forced }).toEqual({ code: 0, forced: false })
})
afterEach(async () => {
  for (const target of ['/victim', '/json']) {
    expect((await httpCall(doors.picoUrl, { method: 'GET', target })).body.toString(), target).toBe('[]')
  }
  expect(server.process.output()).not.toMatch(/"level":(50|60)|unhandled/i)
})

const portOf = (url: string) => Number(new URL(url).port)
const close = 'Connection: close'
const chunked = 'Transfer-Encoding: chunked'
const post = (...headers: string[]) => head('POST /victim HTTP/1.1', 'Content-Type: text/plain', ...headers)
const many = (count: number, line: (n: number) => string) => Array.from({ length: count }, (_, n) => line(n))

/** Not one of these is a request that we take. */
const refused: [string, string][] = [
  ['a length and chunks', `${post('Content-Length: 4', chunked)}0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n`],
  ['chunks and a length', `${post(chunked, 'Content-Length: 4')}0\r\n\r\n`],
  ['two codings', `${post(chunked, 'Transfer-Encoding: identity')}0\r\n\r\n`],
  ['a coding over chunks', `${post('Transfer-Encoding: gzip, chunked', close)}3\r\nabc\r\n0\r\n\r\n`],
  ['a coding after chunks', `${post('Transfer-Encoding: chunked, gzip', close)}3\r\nabc\r\n0\r\n\r\n`],
  ['a coding that only looks so', `${post('Transfer-Encoding: \x0bchunked', close)}3\r\nabc\r\n0\r\n\r\n`],
  ['a space before a colon', `${post('Transfer-Encoding : chunked', close)}3\r\nabc\r\n0\r\n\r\n`],
  [
    'chunks of HTTP/1.0',
    `POST /victim HTTP/1.0\r\nContent-Type: text/plain\r\n${chunked}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  ],
  ['two lengths', `${post('Content-Length: 3', 'Content-Length: 4')}abcd`],
  ['a list of lengths', `${post('Content-Length: 3, 3')}abc`],
  ['a length with a sign', `${post('Content-Length: +3')}abc`],
  ['a length beyond all numbers', `${post(`Content-Length: ${'9'.repeat(30)}`)}abc`],
  ['a length of 2^53', `${post('Content-Length: 9007199254740993')}abc`],
  ['a chunk of 2^68 bytes', `${post(chunked)}${'F'.repeat(17)}\r\nabc`],
  ['a chunk of less than nothing', `${post(chunked)}-1\r\nabc`],
  ['chunks that end in LF', `${post(chunked, close)}3\nabc\n0\n\n`],
  ['a chunk extension of 100 KB', `${post(chunked)}3;${'a'.repeat(100_000)}\r\nabc\r\n0\r\n\r\n`],
  ['a chunk extension with a line end', `${post(chunked)}3;a=\n\r\nabc\r\n0\r\n\r\n`],
  ['100,000 trailers', `${post(chunked)}3\r\nabc\r\n0\r\n${'X: y\r\n'.repeat(100_000)}\r\n`],
  ['100,000 headers', head('GET /victim HTTP/1.1', ...many(100_000, (n) => `X${n}: y`))],
  ['250 headers', head('GET /victim HTTP/1.1', ...many(250, (n) => `X${n}: y`), close)],
  ['100,000 query parameters', head(`GET /victim?${many(100_000, (n) => `a${n}=1`).join('&')} HTTP/1.1`, close)],
  ['a header with CR', head('GET /victim HTTP/1.1', 'X: a\rInjected: b')],
  ['a folded header', head('GET /victim HTTP/1.1', 'X: a', ' b')],
  ['line ends of LF', 'GET /victim HTTP/1.1\nHost: x\n\n'],
  ['no host', `GET /victim HTTP/1.1\r\n${close}\r\n\r\n`],
  ['two hosts', head('GET /victim HTTP/1.1', 'Host: y', close)],
  ['a host that is none', `GET /victim HTTP/1.1\r\nHost: a/b?c@d e\r\n${close}\r\n\r\n`],
  ['HTTP/2.0 by name', head('GET /victim HTTP/2.0', close)],
  ['HTTP/0.9', 'GET /victim\r\n\r\n'],
  ['another scheme', head('GET ftp://x/victim HTTP/1.1', close)],
  ['%00', head('GET /a%00b HTTP/1.1', close)],
  ['dots', head('PUT /%2e%2e%2fetc HTTP/1.1', 'Content-Length: 0', close)],
  ['dots after an authority', head('PUT http://x/../etc HTTP/1.1', 'Content-Length: 0', close)],
  ['overlong UTF-8', head('PUT /%c0%af HTTP/1.1', 'Content-Length: 0', close)],
  ['raw UTF-8', Buffer.from(head('PUT /ñ HTTP/1.1', 'Content-Length: 0', close)).toString('latin1')],
  ['a name with line ends', head('PUT /a%0d%0aSet-Cookie:x HTTP/1.1', 'Content-Length: 0', close)],
]

describe.each(['pico', 'ds', 'admin'])('on the %s listener,', (listener) => {
  it.each(refused)('%s: 4xx and the end', async (_what, bytes) => {
    const { text, statuses, isClosed } = await sendRaw(ports[listener] ?? 0, bytes, 5000)
    expect({ statuses, isClosed }).toEqual({ statuses: [expect.toSatisfy(isClientError)], isClosed: true })
    expect(JSON.parse(/\{.*\}$/s.exec(text)?.[0] ?? '')).toEqual({
      error: expect.any(String),
      message: expect.any(String),
    })
    expect(text).not.toMatch(/^(set-cookie|injected)/im)
  })

  it('what came before a broken request is answered first', async () => {
    const good = head('OPTIONS /x HTTP/1.1')
    expect((await sendRaw(ports[listener] ?? 0, `${good}${good}garbage\r\n\r\n${good}`)).statuses).toEqual([
      204, 204, 400,
    ])
  })

  it('CONNECT opens nothing, and an upgrade is no upgrade', async () => {
    expect((await sendRaw(ports[listener] ?? 0, head('CONNECT x:1 HTTP/1.1'))).statuses).toEqual([])
    const upgrade = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk']
    const { statuses } = await sendRaw(ports[listener] ?? 0, head('OPTIONS /x HTTP/1.1', ...upgrade), 300)
    expect(statuses).toEqual([204])
  })

  it.each(['GET', 'POST'])('10,000 streams of HTTP/2 begun and cancelled (%s) end the connection', async (method) => {
    const session = http2.connect(`http://127.0.0.1:${ports[listener]}`)
    let isOver = false
    session
      .on('error', () => undefined)
      .on('goaway', () => (isOver = true))
      .on('close', () => (isOver = true))
    await whileNeighboursAreServed(async () => {
      for (let n = 0; n < 10_000 && !isOver; n++) {
        const headers = { ':path': '/victim', ':method': method, 'content-type': 'text/plain' }
        const stream = session.request(headers, { endStream: false })
        stream.on('error', () => undefined)
        stream.write('evil')
        stream.close(http2.constants.NGHTTP2_CANCEL)
        if (n % 50 === 0) await sleep(0)
      }
      await sleep(200)
    })
    expect(isOver).toBe(true)
    session.destroy()
  })

  it.each([
    ['PING', Buffer.alloc(8), 6],
    ['SETTINGS', Buffer.alloc(0), 4],
    ['CONTINUATION', Buffer.concat(many(200, () => '').map(() => Buffer.from([0x40, 1, 0x61, 1, 0x62]))), 9],
  ])('a flood of %s ends the connection', async (_what, payload, type) => {
    const frames = type === 9 ? [frame(1, 1, Buffer.from([0x82]))] : []
    const flood = Array.from({ length: type === 9 ? 2000 : 50_000 }, () => frame(type, type === 9 ? 1 : 0, payload))
    const bytes = Buffer.concat([
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
      frame(4, 0, Buffer.alloc(0)),
      ...frames,
      ...flood,
    ])
    await whileNeighboursAreServed(async () => {
      expect((await sendRaw(ports[listener] ?? 0, bytes, 10_000)).isClosed).toBe(true)
    })
  })

  it('300 connections that say a byte and no more keep nobody out', async () => {
    const sockets = many(300, () => 'GET /x HTTP/1.1\r\nHost: x\r\nX').map((bytes) => {
      const socket = connect(ports[listener] ?? 0, '127.0.0.1').on('error', () => undefined)
      socket.write(bytes)
      return socket
    })
    await whileNeighboursAreServed(() => sleep(500))
    for (const socket of sockets) socket.destroy()
  })
})

describe('a body of 16 MiB', () => {
  const mebibytes = 1024 * 1024
  const json = 'application/json'
  const batchJson = 'application/vnd.picomq.batch+json'
  it.each([
    ['numbers', 'ds', '/json', json, () => `[${'0,'.repeat(8 * mebibytes - 2)}0]`],
    ['broken brackets', 'ds', '/json', json, () => '['.repeat(16 * mebibytes)],
    [
      'one number after the other',
      'pico',
      '/victim',
      batchJson,
      () => `{"records":[${'0,'.repeat(8 * mebibytes - 20)}0]}`,
    ],
    ['brackets', 'pico', '/victim', batchJson, () => `{"records":${'['.repeat(8e6)}${']'.repeat(8e6)}}`],
    ['empty records', 'pico', '/victim', batchJson, () => `{"records":[${'{"body":""},'.repeat(1e6)}{"body":""}]}`],
    ['empty binary records', 'pico', '/victim', 'application/vnd.picomq.batch', () => binaryZeros(2_000_000)],
  ] as const)('of %s is 4xx, and takes no more memory than it is long', async (_what, door, target, type, make) => {
    const body = make()
    const before = residentMebibytes()
    let most = before
    const watching = setInterval(() => {
      most = Math.max(most, residentMebibytes())
    }, 10)
    try {
      const url = door === 'ds' ? doors.dsUrl : doors.picoUrl
      const answer = await httpCall(url, { method: 'POST', target, headers: { 'Content-Type': type }, body })
      expect(answer.status).toSatisfy(isClientError)
      expect(answer.body.length).toBeLessThan(1000)
    } finally {
      clearInterval(watching)
    }
    // The body, grown as it comes, and text made of it.
    expect(most - before).toBeLessThan(160)
  })

  it('that never comes, 40 times, costs what has come, and is forgotten', async () => {
    const before = residentMebibytes()
    const sockets = many(40, () => post(`Content-Length: ${16 * mebibytes}`)).map((bytes) => {
      const socket = connect(ports['pico'] ?? 0, '127.0.0.1').on('error', () => undefined)
      socket.write(`${bytes}${'x'.repeat(100_000)}`)
      return socket
    })
    await whileNeighboursAreServed(() => sleep(1000))
    for (const socket of sockets) socket.destroy()
    expect(residentMebibytes() - before).toBeLessThan(160)
  })
})

function isClientError(status: number): boolean {
  return status >= 400 && status < 500
}

/** Neighbours get what they ask for, each within a time that a busy machine can keep. */
async function whileNeighboursAreServed(work: () => Promise<void>): Promise<void> {
  let isOver = false
  const neighbour = (async () => {
    do {
      const from = performance.now()
      expect((await httpCall(doors.picoUrl, { method: 'HEAD', target: '/victim' })).status).toBe(200)
      expect(performance.now() - from).toBeLessThan(10_000)
      await sleep(5)
    } while (!isOver)
  })()
  await Promise.all([neighbour, work().finally(() => (isOver = true))])
}

function residentMebibytes(): number {
  const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

/** Of HTTP/2 (RFC 9113, 4.1), without flags. */
function frame(type: number, streamId: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header.writeUInt8(type, 3)
  header.writeUInt32BE(streamId, 5)
  return Buffer.concat([header, payload])
}

function binaryZeros(count: number): Buffer {
  const body = Buffer.alloc(5 + 8 * count)
  body[0] = 1
  body.writeUInt32BE(count, 1)
  return body
}
