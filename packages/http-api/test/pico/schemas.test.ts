import { encodeAppendBatch, mediaTypes } from '@pico/http-contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { errorOf, PicoSystem, picoHeadersOf } from './pico-system.ts'

let system: PicoSystem
beforeEach(async () => {
  system = await PicoSystem.open()
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

const bound = { 'Pico-Schema': 'orders' }
const refused = (index: number) => ({
  error: 'invalid_record',
  message: `not as schema orders:1 wants it: record ${index}, at /0: does not begin with orders`,
  problems: [{ index, path: '/0', reason: 'does not begin with orders' }],
})

describe('Pico-Schema', () => {
  it('binds a stream, and is told by PUT, HEAD and the listing', async () => {
    const made = await system.create('/s', bound)
    expect([made.status, picoHeadersOf(made)]).toEqual([
      201,
      { 'pico-start-seq': '0', 'pico-next-seq': '0', 'pico-schema': 'orders:1' },
    ])
    const head = await system.send('HEAD', '/s')
    expect(head.headers['pico-schema']).toBe('orders:1')
    expect(JSON.parse((await system.get('/')).body.toString()).streams[0].schema).toBe('orders:1')
    const { overrides, schema } = (await system.stream('/s')).config
    expect(overrides).toEqual({ 'pico.schema': 'orders:1', 'pico.schema.validate': 'true' })
    expect(schema).toMatchObject({ name: 'orders', version: 1, encoding: 'plain' })
  })

  it('that is not there is 422, and one that cannot be is 400', async () => {
    const unknown = await system.create('/s', { 'Pico-Schema': 'missing:7' }, 'orders a')
    expect([unknown.status, errorOf(unknown)]).toEqual([
      422,
      { error: 'unknown_schema', message: 'invalid value "missing:7" for pico.schema: there is no such schema' },
    ])
    expect((await system.create('/s', { 'Pico-Schema': 'or/ders' })).status).toBe(400)
    expect((await system.send('HEAD', '/s')).status).toBe(404)
  })

  it('of a stream that is there already has to be its own', async () => {
    await system.create('/s', bound)
    expect((await system.create('/s', bound)).status).toBe(200)
    expect((await system.create('/s', { 'Pico-Schema': 'orders:1' })).status).toBe(200)
    expect((await system.create('/s')).status).toBe(200)
    expect((await system.create('/s', { 'Pico-Schema': 'orders:2' })).status).toBe(409)
    expect((await system.create('/s', { 'Pico-Schema': 'other' })).status).toBe(409)
    await system.create('/free')
    expect((await system.create('/free', bound)).status).toBe(409)
  })

  it('holds the first records to the schema before anything is made', async () => {
    const bad = await system.create('/s', bound, 'x')
    expect([bad.status, errorOf(bad)]).toEqual([422, refused(0)])
    expect((await system.send('HEAD', '/s')).status).toBe(404)
    system.schemas.isAway = true
    const away = await system.create('/s', bound, 'orders a')
    expect([away.status, away.headers['retry-after']]).toEqual([503, '1'])
    expect((await system.send('HEAD', '/s')).status).toBe(404)
    system.schemas.isAway = false
    expect((await system.create('/s', bound, 'orders a')).headers['pico-next-seq']).toBe('1')
  })
})

describe('an append to a stream that holds records to a schema', () => {
  beforeEach(async () => {
    await system.create('/s', bound)
  })
  const json = (...bodies: (string | null)[]) =>
    system.append('/s', JSON.stringify({ records: bodies.map((body) => ({ body })) }), {
      'Content-Type': mediaTypes.batchJson,
    })
  const binary = (...bodies: string[]) =>
    system.append(
      '/s',
      encodeAppendBatch(bodies.map((value) => ({ key: null, headers: [], value: Buffer.from(value) }))),
      {
        'Content-Type': mediaTypes.batch,
      },
    )

  it('is taken in each of its shapes', async () => {
    const answers = [
      await system.append('/s', 'orders a'),
      await json('orders b', 'orders c'),
      await binary('orders d'),
    ]
    expect(answers.map(({ status, headers }) => [status, headers['pico-start-seq']])).toEqual([
      [200, '0'],
      [200, '1'],
      [200, '3'],
    ])
    expect((await system.records('/s')).map(({ body }) => body)).toEqual([
      'orders a',
      'orders b',
      'orders c',
      'orders d',
    ])
  })

  it('is refused in each of its shapes, naming the record', async () => {
    const answers = [await system.append('/s', 'a'), await json('orders b', 'c'), await binary('orders', 'orders', 'd')]
    expect(answers.map((answer) => [answer.status, errorOf(answer)])).toEqual([
      [422, refused(0)],
      [422, refused(1)],
      [422, refused(2)],
    ])
    const tombstone = await json(null)
    expect(errorOf(tombstone).problems).toEqual([{ index: 0, path: '', reason: 'has no value' }])
    expect((await system.send('HEAD', '/s')).headers['pico-next-seq']).toBe('0')
  })

  it('uses no number of its producer when it is refused', async () => {
    const producer = (seq: number) => ({
      'Pico-Producer-Id': 'p',
      'Pico-Producer-Epoch': '0',
      'Pico-Producer-Seq': String(seq),
    })
    expect((await system.append('/s', 'x', producer(0))).status).toBe(422)
    expect((await system.append('/s', 'orders', producer(0))).headers['pico-start-seq']).toBe('0')
    expect((await system.append('/s', 'orders', producer(0))).status).toBe(200)
    expect((await system.append('/s', 'orders', producer(1))).headers['pico-start-seq']).toBe('1')
  })

  it('does not close the stream when it is refused, and closes it when it is taken', async () => {
    const closing = { 'Pico-Closed': 'true' }
    expect((await system.append('/s', 'x', closing)).status).toBe(422)
    expect((await system.append('/s', 'orders', closing)).headers['pico-closed']).toBe('true')
    expect((await system.append('/s', 'orders')).status).toBe(409)
  })

  it('is 503 while nobody can say what is good', async () => {
    system.schemas.isAway = true
    const away = await system.append('/s', 'orders')
    expect([away.status, errorOf(away).error, away.headers['retry-after']]).toEqual([503, 'unavailable', '1'])
    system.schemas.isAway = false
    expect((await system.append('/s', 'orders')).headers['pico-start-seq']).toBe('0')
  })

  it('comes after those that came before on its connection, also to seal the stream', async () => {
    await system.append('/s', 'orders 0')
    const request = (body: string, headers = '') =>
      `POST /s HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
    const release = system.schemas.hold()
    const requests = [
      request('orders 1'),
      request('x'),
      request('orders 2'),
      request('', 'Pico-Closed: true\r\n'),
      request('orders 3'),
    ]
    const answers = system.raw(requests.join(''), (text) => text.split('HTTP/1.1').length > 5 && text.endsWith('}'))
    await expect.poll(() => system.schemas.asked).toBe(5)
    release()
    expect([...(await answers).matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '200',
      '422',
      '200',
      '200',
      '409',
    ])
    expect((await system.records('/s')).map(({ body }) => body)).toEqual(['orders 0', 'orders 1', 'orders 2'])
  })
})
