import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveDurableStreams } from '../src/durable-streams/serve-durable-streams.ts'
import { type PicoServer, walKinds } from '../src/pico.ts'

const text = { 'Content-Type': 'text/plain' }
const json = { 'Content-Type': 'application/json' }
const producer = (epoch: number, seq: number) => ({
  'Producer-Id': 'writer',
  'Producer-Epoch': String(epoch),
  'Producer-Seq': String(seq),
})

/** What a client of Durable Streams was told holds after the server was killed, and after it was stopped. */
describe.each(walKinds)('a restart, with a %s WAL,', (wal) => {
  let server: PicoServer
  beforeAll(async () => {
    server = await serveDurableStreams({ wal })
  })
  afterAll(async () => {
    await server?.close()
  })

  const request = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    fetch(`${server.httpUrl}${path}`, { method, headers, body: body ?? null })
  const statusOf = async (...call: Parameters<typeof request>) => (await request(...call)).status
  const contentOf = async (path: string) => (await request('GET', path)).text()

  it.each(['kill', 'stop'] as const)('loses nothing of an open stream: %s', async (how) => {
    const path = `/${how}/open`
    await request('PUT', path, text, 'a')
    await request('POST', path, { ...text, 'Stream-Seq': '5' }, 'b')
    await request('POST', path, { ...text, ...producer(3, 0) }, 'c')
    await request('POST', path, { ...text, ...producer(3, 1) }, 'd')
    const before = await request('GET', path)
    await server.restart(how)

    const tag = before.headers.get('etag') ?? ''
    expect(await statusOf('GET', path, { 'If-None-Match': tag })).toBe(304)
    const after = await request('GET', path)
    expect(await after.text()).toBe('abcd')
    expect(after.headers.get('stream-next-offset')).toBe(before.headers.get('stream-next-offset'))
    expect((await request('HEAD', path)).headers.get('stream-next-offset')).toBe('0000000000000004_0000000000000000')

    const repeat = await request('POST', path, { ...text, ...producer(3, 1) }, 'other')
    expect([repeat.status, repeat.headers.get('producer-seq')]).toEqual([204, '1'])
    const gap = await request('POST', path, { ...text, ...producer(3, 3) }, 'f')
    expect([gap.status, gap.headers.get('producer-expected-seq')]).toEqual([409, '2'])
    const stale = await request('POST', path, { ...text, ...producer(2, 0) }, 'x')
    expect([stale.status, stale.headers.get('producer-epoch')]).toEqual([403, '3'])
    expect(await statusOf('POST', path, { ...text, 'Stream-Seq': '5' }, 'x')).toBe(409)
    expect(await statusOf('POST', path, { ...text, 'Stream-Seq': '6' }, 'e')).toBe(204)
    expect(await statusOf('POST', path, { ...text, ...producer(3, 2) }, 'f')).toBe(200)
    expect(await contentOf(path)).toBe('abcdef')
  })

  it.each(['kill', 'stop'] as const)('leaves closed what was closed, and knows by whom: %s', async (how) => {
    await request('PUT', `/${how}/closed/append`, json, '[1]')
    await request('POST', `/${how}/closed/append`, { ...json, ...producer(0, 0), 'Stream-Closed': 'true' }, '[2,3]')
    await request('PUT', `/${how}/closed/alone`, json, '[1]')
    await request('POST', `/${how}/closed/alone`, { ...producer(0, 0), 'Stream-Closed': 'true' })
    await request('PUT', `/${how}/closed/created`, { ...json, 'Stream-Closed': 'true' }, '[1]')
    await server.restart(how)

    const contents = { append: '[1,2,3]', alone: '[1]', created: '[1]' }
    for (const [name, content] of Object.entries(contents)) {
      const path = `/${how}/closed/${name}`
      const read = await request('GET', path)
      expect([name, await read.text(), read.headers.get('stream-closed')]).toEqual([name, content, 'true'])
      expect((await request('HEAD', path)).headers.get('stream-closed')).toBe('true')
      const late = await request('POST', path, json, '[4]')
      expect([late.status, late.headers.get('stream-closed')]).toEqual([409, 'true'])
      expect(late.headers.get('stream-next-offset')).toBe(read.headers.get('stream-next-offset'))
    }
    const again = { ...producer(0, 0), 'Stream-Closed': 'true' }
    expect(await statusOf('POST', `/${how}/closed/append`, { ...json, ...again }, '[2,3]')).toBe(204)
    expect(await statusOf('POST', `/${how}/closed/alone`, again)).toBe(204)
    expect(await statusOf('POST', `/${how}/closed/alone`, { ...producer(0, 1), 'Stream-Closed': 'true' })).toBe(409)
  })

  it.each(['kill', 'stop'] as const)('keeps forks, and what is kept for them: %s', async (how) => {
    const path = (name: string) => `/${how}/forks/${name}`
    await request('PUT', path('source'), text, 'hello')
    await request('POST', path('source'), text, ' world')
    await request('PUT', path('cut'), {
      'Stream-Forked-From': path('source'),
      'Stream-Fork-Offset': '0000000000000001_0000000000000000',
      'Stream-Fork-Sub-Offset': '3',
    })
    await request('PUT', path('tail'), { 'Stream-Forked-From': path('source') })
    await request('POST', path('tail'), text, '!')
    await request('DELETE', path('source'))
    await server.restart(how)

    expect(await statusOf('GET', path('source'))).toBe(410)
    expect(await statusOf('PUT', path('source'), text)).toBe(409)
    expect(await contentOf(path('cut'))).toBe('hello wo')
    expect(await contentOf(path('tail'))).toBe('hello world!')
    expect(await statusOf('PUT', path('tail'), { 'Stream-Forked-From': path('source') })).toBe(200)
    expect(await statusOf('DELETE', path('cut'))).toBe(204)
    expect(await statusOf('DELETE', path('tail'))).toBe(204)
    await expect.poll(() => statusOf('HEAD', path('source'))).toBe(404)
  })

  it.each(['kill', 'stop'] as const)('keeps what PUT said, and forgets what DELETE took: %s', async (how) => {
    const expiresAt = '2099-01-02T03:04:05.000Z'
    await request('PUT', `/${how}/ttl`, { 'Content-Type': 'Text/Plain; charset="x"', 'Stream-TTL': '3600' })
    await request('PUT', `/${how}/at`, { ...text, 'Stream-Expires-At': expiresAt })
    await request('PUT', `/${how}/short`, { ...text, 'Stream-TTL': '1' })
    await request('PUT', `/${how}/deleted`, text, 'old')
    await request('DELETE', `/${how}/deleted`)
    await server.restart(how)

    const ttl = await request('HEAD', `/${how}/ttl`)
    expect([ttl.headers.get('content-type'), ttl.headers.get('stream-ttl')]).toEqual([
      'Text/Plain; charset="x"',
      '3600',
    ])
    expect((await request('HEAD', `/${how}/at`)).headers.get('stream-expires-at')).toBe(expiresAt)
    await expect.poll(() => statusOf('HEAD', `/${how}/short`), { timeout: 3000 }).toBe(404)
    expect(await statusOf('GET', `/${how}/deleted`)).toBe(404)
    expect(await statusOf('PUT', `/${how}/deleted`, text)).toBe(201)
    expect(await contentOf(`/${how}/deleted`)).toBe('')
  })
})
