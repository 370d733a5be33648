import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BodyBuffers } from '../../src/server/body-buffers.ts'
import { receiveBody } from '../../src/server/request-body.ts'

const bytesMax = 16 * 1024 * 1024

/** Bytes of which no two stretches are alike. */
function distinct(lengthBytes: number): Buffer {
  const bytes = Buffer.alloc(lengthBytes)
  for (let at = 0; at + 4 <= lengthBytes; at += 4) bytes.writeUInt32BE((at * 2654435761) % 2 ** 32, at)
  return bytes
}

/** What Node hands over of a body, chunk by chunk, and the body that was received. */
function received(chunks: readonly Buffer[], headers: IncomingMessage['headers']): Promise<Buffer> {
  const request = Object.assign(new PassThrough(), { headers, aborted: false }) as unknown as IncomingMessage
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  receiveBody(request, bytesMax, new BodyBuffers(), (body) => {
    if (body instanceof Error) reject(body)
    else resolve(Buffer.from(body))
  })
  for (const chunk of chunks) request.emit('data', chunk)
  request.emit('end')
  return promise
}

describe('a body in one chunk', () => {
  test('is received as it was sent, and its memory is given back', async () => {
    const chunk = Buffer.from(new Uint8Array(distinct(1024)).buffer)
    expect((await received([chunk], { 'content-length': '1024' })).equals(distinct(1024))).toBe(true)
    expect(chunk).toHaveLength(0)
  })

  test('or in none is received, and the next one too', async () => {
    for (let n = 0; n < 2; n++) expect(await received([], {})).toHaveLength(0)
    for (let n = 0; n < 2; n++) expect(await received([Buffer.alloc(0)], {})).toHaveLength(0)
  })
})

describe('a body in several chunks', () => {
  const sent = distinct(200_000)
  const cuts = [0, 65_000, 65_001, 80_000, 145_000, 200_000]
  /** Each in memory of its own. */
  const parts = () => cuts.slice(1).map((end, i) => Buffer.from(new Uint8Array(sent.subarray(cuts[i], end)).buffer))

  test('is received as it was sent, and the memory of its chunks is given back', async () => {
    const chunks = parts()
    expect((await received(chunks, { 'content-length': '200000' })).equals(sent)).toBe(true)
    expect(chunks.map(({ length }) => length)).toEqual([0, 0, 0, 0, 0])
  })

  test('is received as it was sent where its length was not announced', async () => {
    expect((await received(parts(), { 'transfer-encoding': 'chunked' })).equals(sent)).toBe(true)
  })

  test('leaves memory alone in which other chunks lie', async () => {
    const memory = distinct(200_000)
    const chunks = [memory.subarray(0, 100_000), memory.subarray(100_000)]
    expect((await received(chunks, { 'content-length': '200000' })).equals(sent)).toBe(true)
    expect(memory.equals(sent)).toBe(true)
  })

  test('is whole for each of many connections at once', async () => {
    const buffers = new BodyBuffers()
    const server = createServer((request, response) => {
      receiveBody(request, bytesMax, buffers, (body) => response.end(Buffer.isBuffer(body) ? Buffer.from(body) : ''))
    })
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const posts = Array.from({ length: 40 }, async (_, n) => {
      const body = distinct(60_000 + n * 7919)
      const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: new Uint8Array(body) })
      return Buffer.from(await answer.arrayBuffer()).equals(body)
    })
    expect(await Promise.all(posts)).toEqual(posts.map(() => true))
  })
})
