import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { errorOf, PicoSystem } from './pico-system.ts'

/*
 * Whatever comes in: the answer is a success, or a 4xx in the form that errors have; never a 5xx. On a 4xx nothing was written.
 */

let pico: PicoSystem
beforeAll(async () => {
  pico = await PicoSystem.open({ longPollTimeoutMs: 20, sseMaxDurationMs: 20, bodyBytesMax: 100_000 })
  await pico.create('/s', { 'Content-Type': 'text/plain' }, 'first')
})
afterEach(() => {
  expect(pico.lines).toEqual([])
})
afterAll(() => pico.close())

const runs = { numRuns: 80, interruptAfterTimeLimit: 15_000 }

/** A value as somebody would send it who knows the protocol, or does not. */
const value = fc.oneof(
  fc.constantFrom('', '0', '1', '-1', '01', 'true', 'false', 'now', '1e3', '9007199254740991', '9007199254740992', '*'),
  fc.constantFrom(
    '2100-01-01T00:00:00Z',
    '1',
    '99999999999999',
    'text/plain',
    'application/vnd.picomq.batch',
    '"x"',
    'W/"',
  ),
  fc.constantFrom(
    'application/vnd.picomq.batch+json',
    'application/json; charset=utf-8',
    'a/b;c=d',
    'gzip',
    'bytes=0-',
  ),
  fc.nat().map(String),
  // What Node's client lets through as a header: visible Latin-1.
  fc.string({
    unit: fc
      .integer({ min: 0x21, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
  }),
)

const headers = fc.dictionary(
  fc.constantFrom(
    ...['Content-Type', 'Pico-TTL', 'Pico-Expires-At', 'Pico-Closed', 'Pico-Producer-Id', 'Pico-Producer-Epoch'],
    ...['Pico-Producer-Seq', 'Pico-Match-Seq', 'Pico-Trim-Seq', 'If-None-Match', 'Last-Event-ID', 'Origin', 'Accept'],
    ...['Range', 'Content-Encoding', 'Accept-Encoding', 'X-Forwarded-For', 'Upgrade', 'Accept-Version', 'X-Request-Id'],
  ),
  value,
  { maxKeys: 6 },
)

const pathText = fc.oneof(
  fc.constantFrom(
    '/s',
    '/',
    '/new',
    '/_sys/x',
    '/s/',
    '//',
    '/..',
    '/.',
    '/%',
    '/%2e%2e/x',
    '/*',
    '/:x',
    '/s;x',
    '/__proto__',
  ),
  fc
    .string({ unit: 'binary' })
    .filter((text) => text.isWellFormed())
    .map((text) => `/${encodeURIComponent(text)}`),
  fc
    .array(fc.constantFrom('/', '.', '%', '%2F', '%00', '%ff', '%C3%A9', 'a', '..', '~', '+', '%0d%0a', ':', '@'))
    .map((parts) => `/${parts.join('')}`),
)

const query = fc
  .dictionary(
    fc.constantFrom(
      'seq',
      'count',
      'bytes',
      'format',
      'version',
      'live',
      'cursor',
      'prefix',
      'start_after',
      'limit',
      'x',
      '__proto__',
    ),
    fc.oneof(value, fc.constantFrom('json', 'binary', 'raw', '2', 'long-poll', 'sse', '%ff', '/')),
    { maxKeys: 4 },
  )
  .map((entries) =>
    Object.entries(entries)
      .map(([name, text]) => `${name}=${encodeURIComponent(text)}`)
      .join('&'),
  )

const body = fc.oneof(
  fc.constant(Buffer.alloc(0)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.json().map((text) => Buffer.from(text)),
  // Nearly a batch of either kind.
  fc
    .array(
      fc.dictionary(
        fc.constantFrom('body', 'body_b64', 'key', 'key_b64', 'headers', 'timestamp', 'x'),
        fc.jsonValue({ maxDepth: 2 }),
      ),
    )
    .map((records) => Buffer.from(JSON.stringify({ records }))),
  fc
    .tuple(fc.constantFrom(0, 1, 2), fc.nat(3), fc.array(fc.nat(4), { maxLength: 40 }))
    .map(([version, count, rest]) => Buffer.from([version, 0, 0, 0, count, ...rest])),
)

async function tail(): Promise<string> {
  const head = await pico.send('HEAD', '/s')
  return JSON.stringify([head.headers['pico-start-seq'], head.headers['pico-next-seq'], head.headers['pico-closed']])
}

async function names(): Promise<string> {
  return (await pico.get('/?limit=1000')).body.toString()
}

function expectNoAccident(method: string, answer: Awaited<ReturnType<PicoSystem['send']>>): void {
  expect(answer.status).toBeLessThan(500)
  expect(answer.headers['x-content-type-options']).toBe('nosniff')
  if (answer.status < 400) return
  if (method === 'HEAD') expect(answer.body.length).toBe(0)
  else expect(errorOf(answer).message).not.toMatch(/\bat .*\.[jt]s|node_modules/)
}

describe('no request is an accident', () => {
  test.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PATCH'])(
    '%s',
    async (method) => {
      const property = fc.asyncProperty(pathText, query, headers, async (path, queryText, given) => {
        const answer = await pico.send(method, queryText === '' ? path : `${path}?${queryText}`, {
          headers: latin1(given),
        })
        expectNoAccident(method, answer)
        if (method === 'DELETE' && answer.status === 204) await pico.create('/s')
      })
      await fc.assert(property, runs)
    },
    60_000,
  )

  test('POST, and a refused one writes nothing', async () => {
    const property = fc.asyncProperty(headers, body, async (given, bytes) => {
      const before = await tail()
      const answer = await pico.send('POST', '/s', { headers: latin1(given), body: bytes })
      expectNoAccident('POST', answer)
      if (answer.status >= 400) expect(await tail()).toBe(before)
      else if ((await pico.send('HEAD', '/s')).headers['pico-closed'] === 'true') await fresh()
    })
    await fc.assert(property, { ...runs, numRuns: 200 })
  }, 60_000)

  test('PUT, and a refused one makes nothing', async () => {
    const property = fc.asyncProperty(pathText, headers, body, async (path, given, bytes) => {
      const before = await names()
      const answer = await pico.send('PUT', path, { headers: latin1(given), body: bytes })
      expectNoAccident('PUT', answer)
      if (answer.status >= 400) expect(await names()).toBe(before)
      else if (answer.status === 201) expect((await pico.send('DELETE', path)).status).toBe(204)
    })
    await fc.assert(property, runs)
  }, 60_000)

  test('POST of a batch that is nearly one', async () => {
    const types = fc.constantFrom('application/vnd.picomq.batch', 'application/vnd.picomq.batch+json')
    const property = fc.asyncProperty(types, body, async (type, bytes) => {
      const before = await tail()
      const answer = await pico.append('/s', bytes, { 'Content-Type': type })
      expectNoAccident('POST', answer)
      if (answer.status >= 400) expect(await tail()).toBe(before)
    })
    await fc.assert(property, { ...runs, numRuns: 200 })
  }, 60_000)
})

test('whatever bytes come over a connection, it is answered or closed, and others go on', async () => {
  const line = fc.oneof(
    fc.constantFrom(
      'GET /s HTTP/1.1',
      'POST /s HTTP/1.1',
      'PRI * HTTP/2.0',
      'Host: x',
      'Content-Length: 3',
      'Transfer-Encoding: chunked',
    ),
    fc.constantFrom(
      '',
      '',
      'abc',
      '0',
      '5\r\nabc',
      'Connection: close',
      'Connection: upgrade',
      'Upgrade: h2c',
      'Expect: 100-continue',
    ),
    fc.string({ unit: 'binary', maxLength: 30 }),
  )
  const property = fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 12 }), async (lines) => {
    const { connect } = await import('node:net')
    const socket = connect(pico.port, '127.0.0.1')
    const received: Buffer[] = []
    socket.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => {})
    socket.write(Buffer.from(lines.join('\r\n'), 'latin1'))
    await new Promise((resolve) => setTimeout(resolve, 4))
    socket.destroy()
    expect(Buffer.concat(received).toString('latin1')).not.toMatch(/^HTTP\/1.1 5/m)
  })
  await fc.assert(property, { numRuns: 120, interruptAfterTimeLimit: 8000 })
  expect((await pico.get('/s')).status).toBe(200)
}, 60_000)

async function fresh(): Promise<void> {
  await pico.send('DELETE', '/s')
  await pico.create('/s', { 'Content-Type': 'text/plain' }, 'first')
}

/** `__proto__` and the like as any other header. */
function latin1(given: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(given))
}
