import { afterEach, describe, expect, test } from 'vitest'
import { type ClientSettings, PicoClient } from '../src/index.ts'
import { type ScriptedAnswer, ScriptedServer } from './scripted-server.ts'

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close()
})

async function scripted(answer: (index: number, url: string) => ScriptedAnswer): Promise<ScriptedServer> {
  const server = await ScriptedServer.open(({ url }, index) => answer(index, url))
  opened.push(server)
  return server
}

function clientOf(server: ScriptedServer, settings: Partial<ClientSettings> = {}): PicoClient {
  const client = new PicoClient({ endpoint: server.url, retry: { firstDelayMs: 1, giveUpAfterMs: 3000 }, ...settings })
  opened.push(client)
  return client
}

const appended = { status: 200, headers: { 'Pico-Start-Seq': '7', 'Pico-Next-Seq': '8', 'Pico-Timestamp': '1' } }
const described = {
  status: 200,
  headers: { 'Content-Type': 'text/plain', 'Pico-Start-Seq': '0', 'Pico-Next-Seq': '8' },
}
const busy = (headers: Record<string, string> = {}) => ({
  status: 503,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: '{"error":"unavailable","message":"no room"}',
})

describe('a plain append', () => {
  test('goes again after a 503 that says when to come back', async () => {
    const server = await scripted((index) => (index === 0 ? busy({ 'Retry-After': '0' }) : appended))
    expect(await clientOf(server).stream('s').append('a')).toEqual({ startSeq: 7, nextSeq: 8, timestampMs: 1 })
    expect(server.seen).toHaveLength(2)
  })

  test.each<[string, ScriptedAnswer, object]>([
    ['a 503 that says nothing', busy(), { code: 'unavailable', status: 503, written: 'maybe' }],
    ['a 500', { status: 500 }, { code: 'internal', status: 500, written: 'maybe' }],
    ['a 502 of a proxy', { status: 502, body: '<html>' }, { code: 'unavailable', status: 502, written: 'maybe' }],
    ['a connection that breaks', 'reset', { code: 'connection_lost', status: null, written: 'maybe' }],
    ['a refusal', { status: 422 }, { code: 'invalid_record', status: 422, written: 'no' }],
  ])('does not go again after %s', async (_, answer, error) => {
    const server = await scripted(() => answer)
    await expect(clientOf(server).stream('s').append('a')).rejects.toMatchObject(error)
    expect(server.seen).toHaveLength(1)
  })

  test('does not go again when no answer comes in time', async () => {
    const server = await scripted(() => 'never')
    const client = clientOf(server, { answerTimeoutMs: 100 })
    await expect(client.stream('s').append('a')).rejects.toMatchObject({ code: 'timed_out', written: 'maybe' })
    expect(server.seen).toHaveLength(1)
  })
})

describe('what may be repeated', () => {
  test.each<[string, ScriptedAnswer]>([
    ['a 503', busy()],
    ['a 500', { status: 500 }],
    ['a 429', { status: 429, headers: { 'Retry-After': '0' } }],
    ['a connection that breaks', 'reset'],
  ])('goes again after %s', async (_, answer) => {
    const server = await scripted((index) => (index < 3 ? answer : described))
    expect(await clientOf(server).stream('s').head()).toMatchObject({ nextSeq: 8 })
    expect(server.seen).toHaveLength(4)
  })

  test('waits as long as Retry-After says', async () => {
    const server = await scripted((index) => (index === 0 ? busy({ 'Retry-After': '1' }) : described))
    const begunMs = performance.now()
    await clientOf(server).stream('s').head()
    expect(performance.now() - begunMs).toBeGreaterThan(990)
  })

  test('is given up when nothing has worked for too long, with the last failure', async () => {
    const server = await scripted(() => busy())
    const client = clientOf(server, { retry: { firstDelayMs: 1, longestDelayMs: 20, giveUpAfterMs: 200 } })
    await expect(client.stream('s').head()).rejects.toMatchObject({ code: 'unavailable', status: 503 })
    expect(server.seen.length).toBeGreaterThan(1)
  })

  test('ends at once by its signal, also while it waits to go again', async () => {
    const server = await scripted(() => busy({ 'Retry-After': '60' }))
    const client = clientOf(server, { retry: { giveUpAfterMs: 120_000 } })
    const abort = new AbortController()
    const asked = client.stream('s').head({ signal: abort.signal })
    setTimeout(() => abort.abort(new Error('enough')), 50)
    await expect(asked).rejects.toThrow('enough')
  })

  test('a delete that is not found the second time was done by the first', async () => {
    const server = await scripted((index) => (index === 0 ? 'reset' : { status: 404 }))
    await clientOf(server).stream('s').delete()
    const missing = await scripted(() => ({ status: 404 }))
    await expect(clientOf(missing).stream('s').delete()).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('redirects', () => {
  test('lead to the owner, who is remembered for this stream, token and body included', async () => {
    const owner = await scripted(() => appended)
    const server = await scripted((_, url) => ({ status: 307, headers: { Location: `${owner.url}${url}` } }))
    const client = clientOf(server, { token: 'secret' })
    await client.stream('s').append('a')
    await client.stream('s').append('b')
    await client.stream('t').append('c')
    expect(server.seen.map(({ url }) => url)).toEqual(['/s', '/t'])
    expect(owner.seen.map(({ url }) => url)).toEqual(['/s', '/s', '/t'])
    expect(owner.seen.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer secret'))
    expect(owner.seen[0]?.body.toString()).toContain('a')
  })

  test('are asked for again when the owner is gone', async () => {
    const owner = await scripted(() => described)
    const heir = await scripted(() => described)
    let target = owner.url
    const server = await scripted((_, url) => ({ status: 307, headers: { Location: `${target}${url}` } }))
    const client = clientOf(server)
    await client.stream('s').head()
    target = heir.url
    opened.splice(opened.indexOf(owner), 1)
    await owner.close()
    await client.stream('s').head()
    expect(heir.seen).toHaveLength(1)
    expect(server.seen).toHaveLength(2)
  })

  test('that lead in a circle end', async () => {
    const server = await scripted((_, url) => ({ status: 307, headers: { Location: url } }))
    const client = clientOf(server, { retry: { giveUpAfterMs: 0 } })
    await expect(client.stream('s').head()).rejects.toMatchObject({ code: 'redirect_loop' })
    expect(server.seen).toHaveLength(6)
  })

  test('that lead nowhere are an error', async () => {
    for (const headers of [{}, { Location: 'ftp://x/' }, { Location: 'http://' }]) {
      const server = await scripted(() => ({ status: 307, headers }))
      await expect(clientOf(server).stream('s').head()).rejects.toMatchObject({
        code: 'redirect_loop',
        retriable: false,
      })
    }
  })
})

describe('an answer that is none of PicoMQ', () => {
  test.each<[string, ScriptedAnswer]>([
    ['without its headers', { status: 200, body: 'hello' }],
    ['with records that are none', { status: 200, headers: { 'Pico-Next-Seq': '1' }, body: 'hello' }],
    ['with a number that is none', { status: 200, headers: { 'Pico-Next-Seq': '1e3' } }],
  ])('%s is an error', async (_, answer) => {
    const server = await scripted(() => answer)
    await expect(clientOf(server).stream('s').read()).rejects.toMatchObject({ code: 'bad_response' })
  })
})

test('a path in the endpoint comes before the names of streams', async () => {
  const server = await scripted(() => described)
  await clientOf(server, { endpoint: `${server.url}/v1/stream/` })
    .stream('a b')
    .head()
  expect(server.seen[0]?.url).toBe('/v1/stream/a%20b')
})

test('an endpoint that is no URL is refused', () => {
  for (const endpoint of ['localhost:4437', 'ftp://x', '']) {
    expect(() => new PicoClient({ endpoint })).toThrow(/is not an http: or https: URL/)
  }
})
