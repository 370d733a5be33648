import { type AdminRoute, adminRoutes, errorBodySchema } from '@pico/http-contract'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/index.ts'
import { AdminSystem } from '../admin/admin-system.ts'
import { Described } from './described.ts'

let system: AdminSystem
let described: Described
beforeEach(async () => {
  system = await AdminSystem.listen()
  await system.start()
  described = new Described((await system.get('/admin/openapi.json')).body)
})
afterEach(() => system.close())

describe('the OpenAPI document', () => {
  it('has every route that the admin listener serves', () => {
    expect(described.document.openapi).toBe('3.1.0')
    const { paths } = described.document
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((of) => `${of} ${path}`),
    )
    const served = Object.values<AdminRoute>(adminRoutes).map(({ method = 'get', path }) => `${method} ${path}`)
    expect(operations.sort()).toEqual(served.sort())
  })

  it('is valid OpenAPI 3.1, with the Pico protocol and without', async () => {
    const adminUrl = 'http://127.0.0.1:9090'
    for (const picoUrl of [null, 'http://127.0.0.1:4437']) {
      const document = openApiDocument({ version: '1.2.3', adminUrl, picoUrl })
      const validator = new Validator()
      const result = await validator.validate(JSON.parse(JSON.stringify(document)))
      expect(result).toEqual({ valid: true })
      expect(validator.version).toBe('3.1')
    }
  })

  it('describes live answers, errors among them', async () => {
    await system.createTopic('orders', 2)
    await system.append('orders', 2)
    await system.createStream('/notes/a', { ttlSeconds: 3600 })
    const answers: [route: string, path: string, status: number][] = [
      ['/health', '/health', 200],
      ['/ready', '/ready', 200],
      ['/admin/cluster', '/admin/cluster', 200],
      ['/admin/nodes', '/admin/nodes', 200],
      ['/admin/streams', '/admin/streams', 200],
      ['/admin/streams', '/admin/streams?limit=0', 400],
      ['/admin/streams/{name}', '/admin/streams/orders', 200],
      ['/admin/streams/{name}', '/admin/streams/notes/a', 200],
      ['/admin/streams/{name}', '/admin/streams/missing', 404],
      ['/admin/groups', '/admin/groups', 404],
      ['/admin/groups/{id}', '/admin/groups/missing', 404],
      ['/admin/openapi.json', '/admin/openapi.json', 200],
    ]
    for (const [route, path, status] of answers) {
      const answer = await system.get(path)
      expect([path, answer.status]).toEqual([path, status])
      const validate = described.answer('get', route, status)
      validate(answer.body)
      expect([path, validate.errors]).toEqual([path, null])
    }
    system.readiness.become('draining')
    const unready = described.answer('get', '/ready', 503)
    expect(unready((await system.get('/ready')).body)).toBe(true)
  })

  it('describes what changes something, asked and answered', async () => {
    const { nodes, streams } = system.metadata
    const two = await nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, Date.now())
    const three = await nodes.register({ nodeId: 3, addresses: {}, slots: 1 }, Date.now())
    await nodes.fence(three)
    await system.createStream('/theirs')
    await system.createStream('/free')
    const [theirs] = await streams.byName(['/theirs'])
    await streams.open(two, [theirs?.streamId ?? 0])
    const asked: [route: string, path: string, body: unknown, isAsDescribed: boolean, status: number][] = [
      ['/admin/transfer', '/admin/transfer', { stream: '/theirs', toNode: 1 }, true, 202],
      ['/admin/transfer', '/admin/transfer', { stream: '/free', toNode: 2 }, true, 202],
      ['/admin/transfer', '/admin/transfer', { stream: 'free', toNode: 2 }, true, 200],
      ['/admin/transfer', '/admin/transfer', { stream: 'nothing', toNode: 2 }, true, 404],
      ['/admin/transfer', '/admin/transfer', { stream: '/free', toNode: 9 }, true, 404],
      ['/admin/transfer', '/admin/transfer', { stream: '/free', toNode: 3 }, true, 409],
      ['/admin/transfer', '/admin/transfer', { stream: '/free', toNode: -1 }, false, 400],
      ['/admin/transfer', '/admin/transfer', { stream: '/free' }, false, 400],
      ['/admin/transfer', '/admin/transfer', { stream: '/free', toNode: 2, more: 1 }, false, 400],
      ['/admin/nodes/{id}', '/admin/nodes/2', { slots: 0 }, true, 200],
      ['/admin/nodes/{id}', '/admin/nodes/9', { slots: 0 }, true, 404],
      ['/admin/nodes/{id}', '/admin/nodes/2', { slots: 2 ** 31 }, false, 400],
    ]
    for (const [route, path, body, isAsDescribed, status] of asked) {
      expect([body, described.request('post', route, 'application/json')(body)]).toEqual([body, isAsDescribed])
      const answer = await system.post(path, body)
      expect([path, body, answer.status]).toEqual([path, body, status])
      const validate = described.answer('post', route, status)
      validate(answer.body)
      expect([path, body, validate.errors]).toEqual([path, body, null])
    }
    const shown: [route: string, path: string, status: number][] = [
      ['/admin/transfers/{id}', '/admin/transfers/1', 200],
      ['/admin/transfers/{id}', '/admin/transfers/2', 200],
      ['/admin/transfers/{id}', '/admin/transfers/9', 404],
      ['/admin/transfers/{id}', '/admin/transfers/x', 400],
      ['/admin/cluster', '/admin/cluster', 200],
      ['/admin/nodes', '/admin/nodes', 200],
      ['/admin/streams', '/admin/streams', 200],
      ['/admin/streams/{name}', '/admin/streams/theirs', 200],
    ]
    for (const [route, path, status] of shown) {
      const answer = await system.get(path)
      expect([path, answer.status]).toEqual([path, status])
      const validate = described.answer('get', route, status)
      validate(answer.body)
      expect([path, validate.errors]).toEqual([path, null])
    }
    for (const [path, type] of [
      ['/admin/transfer', 'text/plain'],
      ['/admin/nodes/2', 'application/x-www-form-urlencoded'],
    ] as const) {
      const answer = await system.ask(path, { method: 'POST', headers: { 'content-type': type }, body: '{}' })
      const route = path.replace('/2', '/{id}')
      expect([answer.status, described.answer('post', route, 415)(answer.body)]).toEqual([415, true])
    }
  })

  it('would notice an answer that has another form', () => {
    const validate = described.answer('get', '/admin/streams', 200)
    expect(validate({ streams: [{ name: '/x' }], hasMore: false, next: null })).toBe(false)
    const error = described.answer('get', '/admin/streams', 400)
    expect(error({ error: 'no_such_code', message: '' })).toBe(false)
    expect(error(errorBodySchema.parse({ error: 'bad_request', message: 'x' }))).toBe(true)
  })
})
