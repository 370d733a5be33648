import { request as httpRequest } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestServer, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openTestServer({ longPollTimeoutMs: 5, sseMaxDurationMs: 20 })
  await server.request('PUT', '/fuzz/json', { 'Content-Type': 'application/json' }, '[1]')
  await server.request('PUT', '/fuzz/text', { 'Content-Type': 'text/plain' }, 'a')
  await server.request('PUT', '/fuzz/closed', { 'Content-Type': 'text/plain', 'Stream-Closed': 'true' }, 'a')
})
afterAll(async () => {
  await server.close()
})

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** `fetch` would tidy paths up. */
function send({ method, path, headers, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sized = { ...headers, 'Content-Length': String(body.length) }
    const request = httpRequest({ port: server.port, host: '127.0.0.1', method, path, headers: sized }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      )
    })
    request.on('error', reject)
    request.end(body)
  })
}

const numbers = [
  '0',
  '1',
  '-1',
  '01',
  '1e3',
  '1.5',
  '9007199254740991',
  '9007199254740992',
  '9'.repeat(40),
  'x',
  '',
  ' ',
]
const tokens = [
  ...['-1', 'now', '0', '', 'NOW', '-2', '%00', '%0d%0a', '..', 'a,b', '0000000000000000_0000000000000001'],
  ...['0000000000000000_0000000000000000', '0000000000000001_0000000000000000', '9999999999999999_9999999999999999'],
  ...['9007199254740991_9007199254740991', '0000000000000001_0000000000000000%0A'],
]
const paths = [
  ...['/fuzz/json', '/fuzz/text', '/fuzz/closed', '/fuzz/none', '/', '//', '/a//b', '/../etc', '/a/./b', '/%2e%2e/a'],
  ...[
    '/a%00b',
    '/%ff',
    '/%',
    '/%zz',
    '/a%0d%0ab',
    `/${'a'.repeat(2000)}`,
    '/_sys/x',
    '/__ds/x',
    '/__ds',
    '/fuzz/%6ason',
  ],
]
const headerValues: Readonly<Record<string, readonly string[]>> = {
  'Content-Type': [
    'application/json',
    'text/plain',
    'APPLICATION/JSON; a=b',
    'x',
    '',
    'a/b/c',
    'text/plain; charset="\xff"',
  ],
  'Stream-TTL': numbers,
  'Stream-Expires-At': ['2099-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '99999-01-01T00:00:00Z', 'x', ''],
  'Stream-Closed': ['true', 'TRUE', 'false', ''],
  'Stream-Seq': ['', 'a', '\xff', '0'.repeat(5000)],
  'Producer-Id': ['p', '', '\xe9', '__proto__', 'x'.repeat(5000)],
  'Producer-Epoch': numbers,
  'Producer-Seq': numbers,
  'Stream-Forked-From': [
    '/fuzz/json',
    '/fuzz/text',
    '/fuzz/none',
    'fuzz',
    '',
    '/../x',
    '/_sys/x',
    'http://x/fuzz/json',
  ],
  'Stream-Fork-Offset': tokens.map((token) => token.replaceAll('%', '')),
  'Stream-Fork-Sub-Offset': numbers,
  'If-None-Match': ['*', '"', 'W/', '"a"', ','.repeat(1000)],
}
const bodies = [
  '',
  '1',
  '[]',
  '[1,2]',
  '{"a":',
  '[[[[',
  '"\ud800"',
  'null',
  '\ufeff[]',
  '{"__proto__":1}',
  'x'.repeat(70_000),
]

const headersArbitrary = fc
  .record(
    Object.fromEntries(Object.entries(headerValues).map(([name, values]) => [name, fc.constantFrom(...values)])),
    { requiredKeys: [] },
  )
  .map((headers) => ({ ...headers }) as Record<string, string>)
const queryArbitrary = fc.oneof(
  fc.constant(''),
  fc
    .tuple(
      fc.constantFrom(...tokens),
      fc.constantFrom('', '&live=long-poll', '&live=sse', '&live=', '&offset=-1'),
      fc.constantFrom(...numbers),
    )
    .map(([offset, more, cursor]) => `?offset=${offset}${more}&cursor=${encodeURIComponent(cursor)}`),
)
const requestArbitrary: fc.Arbitrary<Sent> = fc.record({
  method: fc.constantFrom('PUT', 'POST', 'POST', 'GET', 'HEAD', 'DELETE', 'OPTIONS', 'PATCH'),
  path: fc.tuple(fc.constantFrom(...paths), queryArbitrary).map(([path, query]) => `${path}${query}`),
  headers: headersArbitrary,
  body: fc.oneof(
    fc.constantFrom(...bodies).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 200 }),
  ),
})

describe('requests of any kind', () => {
  it('are answered, never with a 5xx, and leave no trace when refused', { timeout: 60_000 }, async () => {
    const tailOf = async (name: string) => {
      const described = await server.streams.paths.describe(name)
      return typeof described === 'string' || 'kind' in described
        ? String(described)
        : `${described.incarnation} ${described.nextOffset} ${described.closed} ${JSON.stringify(described.expiry)}`
    }
    const tails = async () => Promise.all(['/fuzz/json', '/fuzz/text', '/fuzz/closed', '/fuzz/none'].map(tailOf))
    await fc.assert(
      fc.asyncProperty(requestArbitrary, async (sent) => {
        const before = await tails()
        const { status, headers, body } = await send(sent)
        expect(status).toBeGreaterThanOrEqual(200)
        expect(status).toBeLessThan(500)
        expect(headers['x-content-type-options']).toBe('nosniff')
        if (status >= 400) {
          expect(await tails(), `${sent.method} ${sent.path} ${status} ${body}`).toEqual(before)
          if (sent.method !== 'HEAD')
            expect(JSON.parse(body)).toEqual({ error: expect.any(String), message: expect.any(String) })
        }
      }),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 250) },
    )
    expect(server.complaints).toEqual([])
  })
})
