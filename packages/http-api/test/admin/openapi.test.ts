import { adminRoutes, errorBodySchema } from '@pico/http-contract'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AdminSystem } from './admin-system.ts'

interface Document {
  readonly openapi: string
  readonly paths: Record<string, Record<string, { responses: Record<string, { content: Record<string, unknown> }> }>>
}

let system: AdminSystem
let document: Document
let ajv: Ajv2020
beforeEach(async () => {
  system = await AdminSystem.listen()
  await system.start()
  document = (await system.get('/admin/openapi.json')).body
  ajv = new Ajv2020({ allErrors: true, strict: false })
  ajv.addSchema({ ...document, $id: 'openapi' } as object)
})
afterEach(() => system.close())

/** The schema that the document has for that answer. */
function validatorOf(path: string, status: number, mediaType = 'application/json'): ValidateFunction {
  const keys = ['paths', path, 'get', 'responses', String(status), 'content', mediaType, 'schema']
  const pointer = keys.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).map(encodeURIComponent)
  const found = ajv.getSchema(`openapi#/${pointer.join('/')}`)
  if (found === undefined) throw new Error(`the document has no schema at ${keys.join(' ')}`)
  return found
}

describe('the OpenAPI document', () => {
  it('has every route that the admin listener serves', () => {
    expect(document.openapi).toBe('3.1.0')
    const served = Object.values(adminRoutes).map(({ path }) => path)
    expect(Object.keys(document.paths).sort()).toEqual([...served].sort())
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
      const validate = validatorOf(route, status)
      validate(answer.body)
      expect([path, validate.errors]).toEqual([path, null])
    }
    system.readiness.become('draining')
    const unready = validatorOf('/ready', 503)
    expect(unready((await system.get('/ready')).body)).toBe(true)
  })

  it('would notice an answer that has another form', () => {
    const validate = validatorOf('/admin/streams', 200)
    expect(validate({ streams: [{ name: '/x' }], hasMore: false, next: null })).toBe(false)
    const error = validatorOf('/admin/streams', 400)
    expect(error({ error: 'no_such_code', message: '' })).toBe(false)
    expect(error(errorBodySchema.parse({ error: 'bad_request', message: 'x' }))).toBe(true)
  })
})
