import { mediaTypes } from '@pico/http-contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/index.ts'
import { type Answer, PicoSystem, type Sending } from '../pico/pico-system.ts'
import { Described } from './described.ts'

let system: PicoSystem
let described: Described
beforeEach(async () => {
  system = await PicoSystem.open()
  const urls = { adminUrl: 'http://127.0.0.1:9090', picoUrl: system.url }
  described = new Described(openApiDocument({ version: '1.2.3', ...urls }))
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

/** Headers that every answer may have, or that belong to its body: not part of what a route promises. */
const common =
  /^(content-type|content-length|date|connection|keep-alive|cache-control|vary|transfer-encoding|x-content-type-options|x-accel-buffering|cross-origin-resource-policy)$/

/** Sends it, and holds the answer against the document: its status, its headers, its body. */
async function checked(method: string, target: string, sending: Sending = {}): Promise<Answer> {
  const answer = await system.send(method, target, sending)
  const path = target.split('?', 1)[0] === '/' ? '/' : '/{stream}'
  const what = `${method} ${target} ${answer.status}`
  const { headers = {}, content } = described.response(method.toLowerCase(), path, answer.status)
  const known = Object.keys(headers).map((name) => name.toLowerCase())
  const unknown = Object.keys(answer.headers).filter((name) => !common.test(name) && !known.includes(name))
  expect([what, unknown]).toEqual([what, []])
  expect([what, answer.body.length > 0 && content === undefined]).toEqual([what, false])
  const isJson = answer.headers['content-type'] === 'application/json'
  if (answer.body.length > 0 && isJson && content?.['application/json'] !== undefined) {
    const validate = described.answer(method.toLowerCase(), path, answer.status)
    validate(JSON.parse(answer.body.toString()))
    expect([what, validate.errors]).toEqual([what, null])
  }
  return answer
}

async function expectStatus(status: number, ...sent: Parameters<typeof checked>): Promise<Answer> {
  const answer = await checked(...sent)
  expect([sent[0], sent[1], answer.status]).toEqual([sent[0], sent[1], status])
  return answer
}

describe('the OpenAPI document describes what the Pico listener answers', () => {
  it('to who creates, describes, lists and deletes', async () => {
    const json = { 'content-type': 'text/plain' }
    await expectStatus(201, 'PUT', '/orders', { headers: { ...json, 'pico-ttl': '60' } })
    await expectStatus(200, 'PUT', '/orders', { headers: json })
    await expectStatus(409, 'PUT', '/orders', { headers: { 'content-type': 'text/html' } })
    await expectStatus(400, 'PUT', '/orders', { headers: { 'pico-ttl': 'soon' } })
    await expectStatus(403, 'PUT', '/_sys/x')
    await expectStatus(201, 'PUT', '/ends', {
      headers: { 'pico-expires-at': '2100-01-01T00:00:00Z', 'pico-closed': 'true' },
    })
    await expectStatus(200, 'HEAD', '/ends')
    await expectStatus(404, 'HEAD', '/nothing')
    await expectStatus(400, 'HEAD', '/a//b')
    const { body } = await expectStatus(200, 'GET', '/?prefix=/&limit=1')
    expect(JSON.parse(body.toString())).toMatchObject({ has_more: true, streams: [{ name: '/ends' }] })
    await expectStatus(400, 'GET', '/?limit=0')
    await expectStatus(204, 'DELETE', '/ends')
    await expectStatus(404, 'DELETE', '/ends')
    await expectStatus(403, 'DELETE', '/_sys/x')
  })

  it('to who appends', async () => {
    await expectStatus(201, 'PUT', '/orders')
    await expectStatus(200, 'POST', '/orders', { body: 'one' })
    const producer = (epoch: number, seq: number) => ({
      'pico-producer-id': 'p',
      'pico-producer-epoch': String(epoch),
      'pico-producer-seq': String(seq),
    })
    await expectStatus(200, 'POST', '/orders', { headers: producer(1, 0), body: 'two' })
    await expectStatus(200, 'POST', '/orders', { headers: producer(1, 0), body: 'two' })
    await expectStatus(409, 'POST', '/orders', { headers: producer(1, 9), body: 'gap' })
    await expectStatus(403, 'POST', '/orders', { headers: producer(0, 0), body: 'stale' })
    await expectStatus(412, 'POST', '/orders', { headers: { 'pico-match-seq': '9' }, body: 'x' })
    await expectStatus(400, 'POST', '/orders', { headers: { 'pico-match-seq': 'x' }, body: 'x' })
    await expectStatus(404, 'POST', '/nothing', { body: 'x' })
    await expectStatus(413, 'POST', '/orders', { body: Buffer.alloc(17 << 20) })
    await expectStatus(200, 'POST', '/orders', { headers: { 'pico-trim-seq': '1' } })
    await expectStatus(410, 'GET', '/orders?seq=0')
    await expectStatus(200, 'POST', '/orders', { headers: { 'pico-closed': 'true' }, body: 'last' })
    await expectStatus(409, 'POST', '/orders', { body: 'too late' })
  })

  it('to who reads, in every format and live', async () => {
    await expectStatus(201, 'PUT', '/orders', { headers: { 'content-type': 'text/plain' } })
    const records = [
      { body: 'one', key: 'k', headers: { a: 'b' } },
      { body: null },
      { body_b64: '/w==', key_b64: '/w==' },
    ]
    const headers = { 'content-type': mediaTypes.batchJson }
    await expectStatus(200, 'POST', '/orders', { headers, body: JSON.stringify({ records }) })
    const pairs = {
      body: 'x',
      headers: [
        ['a', 'b'],
        ['a', { b64: '/w==' }],
        ['n', null],
      ],
    }
    await expectStatus(200, 'POST', '/orders', { headers, body: JSON.stringify({ records: [pairs] }) })
    const { headers: read } = await expectStatus(200, 'GET', '/orders?seq=0')
    await expectStatus(304, 'GET', '/orders?seq=0', { headers: { 'if-none-match': read['etag'] ?? '' } })
    for (const format of ['json', 'binary', 'raw']) await expectStatus(200, 'GET', `/orders?format=${format}`)
    await expectStatus(200, 'GET', '/orders?seq=0&live=long-poll')
    await expectStatus(204, 'GET', '/orders?seq=now&live=long-poll')
    await expectStatus(400, 'GET', '/orders?format=xml')
    await expectStatus(404, 'GET', '/nothing')
    await expectStatus(200, 'POST', '/orders', { headers: { 'pico-closed': 'true' } })
    const events = await expectStatus(200, 'GET', '/orders?live=sse')
    expect(events.headers['content-type']).toBe('text/event-stream')
  })

  it('to who comes while the store fails', async () => {
    await expectStatus(201, 'PUT', '/orders')
    system.store.inject({ operation: 'write', fault: { kind: 'fail-before', code: 'EIO' } })
    await expectStatus(503, 'POST', '/orders', { body: 'x' })
    system.store.heal()
  })
})

describe('a batch of records', () => {
  const good = [
    { records: [{ body: 'x' }] },
    {
      records: [
        { body: null, key: 'k', timestamp: 1 },
        { body_b64: 'AA==', headers: { a: 'b' } },
      ],
    },
    { records: [{ body: 'x', headers: [['a', { b64: 'AA==' }]] }] },
  ]
  const bad = [
    {},
    { records: [] },
    { records: [{ body: 1 }] },
    { records: [{ body: 'x', colour: 'red' }] },
    { records: [{ body: 'x', timestamp: -1 }] },
    { records: [{ body: 'x' }], more: true },
  ]

  it('is one for the document where it is one for the server', async () => {
    await system.create('/orders')
    const validate = described.request('post', '/{stream}', mediaTypes.batchJson)
    for (const [batches, status] of [
      [good, 200],
      [bad, 400],
    ] as const) {
      for (const batch of batches) {
        const headers = { 'content-type': mediaTypes.batchJson }
        const answer = await checked('POST', '/orders', { headers, body: JSON.stringify(batch) })
        expect([batch, answer.status, validate(batch)]).toEqual([batch, status, status === 200])
      }
    }
  })
})

it('every method that the Pico listener serves is in the document, and no other', async () => {
  const answer = await system.send('OPTIONS', '/orders')
  const served = (answer.headers['allow'] ?? '').split(', ').filter((method) => method !== 'OPTIONS')
  expect(Object.keys(described.document.paths['/{stream}'] ?? {}).sort()).toEqual(
    served.map((method) => method.toLowerCase()).sort(),
  )
  const root = await system.send('POST', '/', { body: '' })
  expect(root.headers['allow']).toBe('GET, HEAD, OPTIONS')
  expect(Object.keys(described.document.paths['/'] ?? {})).toEqual(['get'])
})
