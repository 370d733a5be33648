import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTestServer, type TestServer } from './server.ts'

let server: TestServer
beforeEach(async () => {
  server = await openTestServer()
  const config = { 'pico.schema': 'orders', 'pico.schema.validate': 'true' }
  for (const [name, contentType] of [
    ['/json', 'application/json'],
    ['/text', 'text/plain'],
  ] as const) {
    const made = await server.streams.paths.create({
      ...{ name, contentType, config, expiry: { kind: 'never' }, closed: false, records: [], matches: () => true },
    })
    expect(made.kind).toBe('created')
  }
})
afterEach(async () => {
  await server.close()
})

const append = (path: string, body: string, headers: Record<string, string> = {}) =>
  server.request(
    'POST',
    path,
    { 'Content-Type': path === '/json' ? 'application/json' : 'text/plain', ...headers },
    body,
  )

it('an append is held to the schema of its stream, and a refused one leaves nothing', async () => {
  expect((await append('/text', 'orders a')).status).toBe(204)
  const bad = await append('/text', 'x')
  expect([bad.status, await bad.json()]).toEqual([
    422,
    {
      error: 'invalid_record',
      message: 'not as schema orders:1 wants it: record 0, at /0: does not begin with orders',
      problems: [{ index: 0, path: '/0', reason: 'does not begin with orders' }],
    },
  ])
  expect(await (await server.request('GET', '/text')).text()).toBe('orders a')
  expect(server.complaints).toEqual([])
})

it('each message of a JSON array is a record, and a bad one refuses all', async () => {
  const bad = await append('/json', '[1, 2]')
  expect([bad.status, ((await bad.json()) as { problems: unknown[] }).problems.length]).toEqual([422, 2])
  expect(await (await server.request('GET', '/json')).text()).toBe('[]')
})

it('a refused append uses no number of its producer', async () => {
  const producer = (seq: number) => ({ 'Producer-Id': 'p', 'Producer-Epoch': '0', 'Producer-Seq': String(seq) })
  expect((await append('/text', 'x', producer(0))).status).toBe(422)
  expect((await append('/text', 'orders a', producer(0))).status).toBe(200)
  expect((await append('/text', 'x', producer(0))).status).toBe(204)
  expect((await append('/text', 'orders b', producer(1))).status).toBe(200)
})

it('appends that are under way at once keep their order, and a closing comes after them', async () => {
  await append('/text', 'orders 0 ')
  const release = server.schemas.hold()
  const order: string[] = []
  const sent = async (body: string) => {
    order.push(body)
    return append('/text', body)
  }
  const all = [sent('orders 1 ')]
  await expect.poll(() => server.schemas.asked).toBe(2)
  all.push(sent('orders 2 '))
  await expect.poll(() => server.schemas.asked).toBe(3)
  const closing = server.request('POST', '/text', { 'Stream-Closed': 'true' })
  release()
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual([204, 204])
  expect((await closing).status).toBe(204)
  expect(await (await server.request('GET', '/text')).text()).toBe('orders 0 orders 1 orders 2 ')
})

it('is 503 with Retry-After while nobody can say what is good', async () => {
  server.schemas.isAway = true
  const away = await append('/text', 'orders a')
  expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1'])
})
