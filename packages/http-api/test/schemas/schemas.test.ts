import { errorBodySchema, schemaHeaders } from '@pico/http-contract'
import { describe, expect, it } from 'vitest'
import { type Answer, openedSchemaSystem, type SchemaSystem } from './schema-system.ts'

const order = '{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}'
const wider =
  '{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"],"additionalProperties":false}'
const other = '{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}'
const jsonSchema = { 'content-type': 'application/schema+json' }

/** Asks the listener of the Pico protocol. */
const asker =
  ({ ask, url }: SchemaSystem) =>
  (method: string, path: string, body?: string, headers: Record<string, string> = jsonSchema) =>
    ask(method, `${url}${path}`, body, headers)

function problemOf(answer: Answer) {
  return [answer.status, errorBodySchema.strict().parse(answer.json)] as const
}

describe('PUT /_schemas/{name}', () => {
  it('registers its body, and answers which version that is', async () => {
    const ask = asker(await openedSchemaSystem())
    const created = await ask('PUT', '/_schemas/orders', order)
    expect([created.status, created.headers.get('location')]).toEqual([201, '/_schemas/orders/1'])
    expect(created.json).toEqual({
      name: 'orders',
      version: 1,
      schema_id: 1,
      kind: 'json',
      references: [],
      created_at: '1970-01-01T00:00:01.234Z',
      deleted: false,
      compatibility: 'backward',
    })
    const again = await ask('PUT', '/_schemas/orders', JSON.stringify(JSON.parse(order), null, 2))
    expect([again.status, again.json]).toEqual([200, created.json])
    const next = await ask('PUT', '/_schemas/orders?compatibility=full', wider)
    expect(problemOf(next)[1].error).toBe('incompatible')
    expect((await ask('PUT', '/_schemas/orders?compatibility=none', other)).json).toMatchObject({
      version: 2,
      schema_id: 2,
      compatibility: 'none',
    })
  })

  it.each([
    ['application/schema+json', 'json', order],
    ['application/json; charset=utf-8', 'json', order],
    ['application/vnd.apache.avro+json', 'avro', '{"type":"record","name":"O","fields":[]}'],
    ['application/avro', 'avro', '"string"'],
    ['text/x-protobuf', 'protobuf', 'syntax = "proto3"; message A { int32 a = 1; }'],
    ['application/protobuf', 'protobuf', 'syntax = "proto3"; message A { int32 a = 1; }'],
  ])('takes a body of %s for %s', async (contentType, kind, text) => {
    const ask = asker(await openedSchemaSystem())
    const put = await ask('PUT', '/_schemas/x', text, { 'content-type': contentType })
    expect([put.status, put.json.kind]).toEqual([201, kind])
    const got = await ask('GET', '/_schemas/x')
    expect([got.text, got.headers.get(schemaHeaders.kind)]).toEqual([text, kind])
  })

  it('takes what the query says rather than the Content-Type, as curl sends one nobody chose', async () => {
    const ask = asker(await openedSchemaSystem())
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await ask('PUT', '/_schemas/x?kind=avro', '"int"', form)).status).toBe(201)
    const [status, { error, message }] = problemOf(await ask('PUT', '/_schemas/y', '"int"', form))
    expect([status, error]).toEqual([415, 'unsupported_media_type'])
    expect(message).toContain('?kind=json|avro|protobuf')
  })

  it('refuses what must not follow with 409 and every reason', async () => {
    const ask = asker(await openedSchemaSystem())
    await ask('PUT', '/_schemas/orders', order)
    const [status, { error, message, reasons }] = problemOf(await ask('PUT', '/_schemas/orders', other))
    expect([status, error]).toEqual([409, 'incompatible'])
    expect(message).toMatch(/^it must not follow what orders has \(backward\): \/properties\/id/)
    expect(reasons).toEqual([
      { version: 1, path: expect.stringMatching(/^\/properties\/id/), reason: expect.any(String) },
    ])
  })

  it.each([
    ['no schema', 'x', '', '{"type":"strin"}', 422, 'invalid_schema'],
    ['no JSON', 'x', '', '{', 422, 'invalid_schema'],
    ['nothing', 'x', '', '', 400, 'bad_request'],
    ['too much', 'x', '', `"${'x'.repeat(1024 * 1024)}"`, 413, 'too_large'],
    ['a name that is none', 'x%20y', '', order, 400, 'bad_request'],
    ['a path that is none', 'x%ff', '', order, 400, 'bad_request'],
    ['a kind that is none', 'x', '?kind=xml', order, 400, 'bad_request'],
    ['two kinds', 'x', '?kind=json&kind=avro', order, 400, 'bad_request'],
    ['a policy that is none', 'x', '?compatibility=strict', order, 400, 'bad_request'],
    ['a reference that is none', 'x', '?reference=a', order, 400, 'bad_request'],
    ['a reference to nothing', 'x', '?reference=a:1', order, 422, 'invalid_schema'],
  ])('answers %s as it should', async (_what, name, query, body, status, error) => {
    const ask = asker(await openedSchemaSystem())
    expect(problemOf(await ask('PUT', `/_schemas/${name}${query}`, body))).toEqual([
      status,
      expect.objectContaining({ error }),
    ])
  })

  it('refuses bytes that are no UTF-8', async () => {
    const { url } = await openedSchemaSystem()
    const body = Buffer.from([0x22, 0xff, 0x22])
    const answer = await fetch(`${url}/_schemas/x`, { method: 'PUT', headers: jsonSchema, body })
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: 'bad_request', message: 'the schema is not UTF-8' },
    ])
  })

  it('registers with what it refers to, and gives that back', async () => {
    const ask = asker(await openedSchemaSystem())
    const proto = { 'content-type': 'text/x-protobuf' }
    await ask('PUT', '/_schemas/money', 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }', proto)
    const price = 'syntax = "proto3"; package shop; import "shop/money.proto"; message Price { Money money = 1; }'
    const put = await ask('PUT', '/_schemas/price?reference=shop/money.proto=money:1', price, proto)
    expect(put.status).toBe(201)
    const references = [{ import_name: 'shop/money.proto', name: 'money', version: 1 }]
    expect(put.json.references).toEqual(references)
    const got = await ask('GET', '/_schemas/price')
    expect(got.headers.get(schemaHeaders.references)).toBe('shop/money.proto=money:1')
    const [status, { error, message }] = problemOf(await ask('DELETE', '/_schemas/money'))
    expect([status, error, message]).toEqual([409, 'in_use', 'money is imported by price:1'])
  })
})

describe('GET', () => {
  it('gives the text of the newest version, or of that one, with what it is in headers', async () => {
    const ask = asker(await openedSchemaSystem())
    await ask('PUT', '/_schemas/orders', order)
    await ask('PUT', '/_schemas/orders', wider)
    for (const [path, text, version] of [
      ['orders', wider, 2],
      ['orders/latest', wider, 2],
      ['orders/1', order, 1],
    ] as const) {
      const got = await ask('GET', `/_schemas/${path}`)
      expect([got.status, got.text]).toEqual([200, text])
      expect(got.headers.get('content-type')).toBe('application/schema+json; charset=utf-8')
      expect(got.headers.get('pico-schema')).toBe(`orders:${version}`)
      expect(got.headers.get('pico-schema-id')).toBe(String(version))
      const head = await ask('HEAD', `/_schemas/${path}`)
      expect([head.status, head.text, head.headers.get('pico-schema')]).toEqual([200, '', `orders:${version}`])
    }
    const described = await ask('GET', '/_schemas/orders/1?format=json')
    expect(described.json).toMatchObject({ name: 'orders', version: 1, compatibility: 'backward', schema: order })
    for (const path of ['none', 'orders/3', 'orders/0', 'orders/x', 'orders/1/2', 'none/versions']) {
      expect(problemOf(await ask('GET', `/_schemas/${path}`))).toEqual([
        404,
        expect.objectContaining({ error: 'not_found' }),
      ])
    }
  })

  it('lists names and versions, a page at a time', async () => {
    const ask = asker(await openedSchemaSystem())
    for (const name of ['b', 'a', 'c']) await ask('PUT', `/_schemas/${name}`, order)
    await ask('PUT', '/_schemas/a?compatibility=backward-transitive', wider)
    expect((await ask('GET', '/_schemas?limit=2')).json).toEqual({
      schemas: [
        { name: 'a', version: 2, schema_id: 2, kind: 'json', compatibility: 'backward-transitive', deleted: false },
        { name: 'b', version: 1, schema_id: 1, kind: 'json', deleted: false },
      ],
      has_more: true,
    })
    const rest = (await ask('GET', '/_schemas?limit=2&start_after=b')).json
    expect([rest.schemas.map(({ name }: { name: string }) => name), rest.has_more]).toEqual([['c'], false])
    expect((await ask('GET', '/_schemas?prefix=c')).json.schemas).toHaveLength(1)
    const first = (await ask('GET', '/_schemas/a/versions?limit=1')).json
    expect(first).toMatchObject({ versions: [{ version: 1 }], has_more: true })
    expect((await ask('GET', '/_schemas/a/versions?start_after=1')).json).toMatchObject({
      versions: [{ version: 2 }],
      has_more: false,
    })
    expect((await ask('GET', '/_schemas?limit=0')).status).toBe(400)
  })
})

describe('POST /_schemas/{name}/check', () => {
  it('says whether it may follow, and why not, and registers nothing', async () => {
    const ask = asker(await openedSchemaSystem())
    await ask('PUT', '/_schemas/orders', order)
    expect((await ask('POST', '/_schemas/orders/check', wider)).json).toEqual({
      compatible: true,
      compatibility: 'backward',
      reasons: [],
    })
    expect((await ask('POST', '/_schemas/orders/check', other)).json).toMatchObject({
      compatible: false,
      reasons: [{ version: 1, path: expect.stringMatching(/^\/properties\/id/) }],
    })
    expect((await ask('POST', '/_schemas/orders/check?version=1', wider)).json.compatible).toBe(true)
    expect((await ask('POST', '/_schemas/orders/check?version=2', wider)).status).toBe(404)
    expect((await ask('POST', '/_schemas/new/check', other)).json.compatible).toBe(true)
    expect(problemOf(await ask('POST', '/_schemas/orders/check', '{"type":1}'))[1].error).toBe('invalid_schema')
    expect((await ask('GET', '/_schemas/orders/versions')).json.versions).toHaveLength(1)
  })
})

describe('DELETE', () => {
  it('takes a version, or all, from who does not ask for what is deleted', async () => {
    const ask = asker(await openedSchemaSystem())
    await ask('PUT', '/_schemas/orders', order)
    await ask('PUT', '/_schemas/orders', wider)
    expect((await ask('DELETE', '/_schemas/orders/2')).status).toBe(204)
    expect((await ask('GET', '/_schemas/orders')).headers.get('pico-schema')).toBe('orders:1')
    expect((await ask('GET', '/_schemas/orders/2')).status).toBe(404)
    expect((await ask('GET', '/_schemas/orders/2?deleted=true')).text).toBe(wider)
    expect((await ask('DELETE', '/_schemas/orders/2')).status).toBe(404)
    expect((await ask('DELETE', '/_schemas/orders')).status).toBe(204)
    expect((await ask('GET', '/_schemas')).json.schemas).toEqual([])
    expect((await ask('GET', '/_schemas?deleted=true')).json.schemas).toMatchObject([{ name: 'orders', deleted: true }])
    expect((await ask('DELETE', '/_schemas/orders?permanent=true')).status).toBe(204)
    expect((await ask('GET', '/_schemas/orders/1?deleted=true')).status).toBe(404)
    expect((await ask('PUT', '/_schemas/orders', order)).json).toMatchObject({ version: 3, schema_id: 1 })
  })

  it('is refused with 409 while topics are bound to it, which it names', async () => {
    const { metadata, ...system } = await openedSchemaSystem()
    const ask = asker({ metadata, ...system })
    await ask('PUT', '/_schemas/orders', order)
    const bind = { 'content-type': 'application/json', 'pico-schema': 'orders' }
    for (const name of ['eu', 'us']) expect((await ask('PUT', `/sales/${name}`, undefined, bind)).status).toBe(201)
    for (const path of ['orders', 'orders/1', 'orders?permanent=true']) {
      expect(problemOf(await ask('DELETE', `/_schemas/${path}`))).toEqual([
        409,
        {
          error: 'in_use',
          message: expect.stringContaining('is bound to sales.eu, sales.us'),
          topics: ['sales.eu', 'sales.us'],
        },
      ])
    }
    expect((await ask('GET', '/_schemas/orders')).status).toBe(200)
  })
})

describe('/_schemas', () => {
  it.each([
    ['POST', '/_schemas', 'GET, HEAD, OPTIONS'],
    ['POST', '/_schemas/a', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['PUT', '/_schemas/a/1', 'GET, HEAD, DELETE, OPTIONS'],
    ['GET', '/_schemas/a/check', 'POST, OPTIONS'],
    ['DELETE', '/_schemas/a/versions', 'GET, HEAD, OPTIONS'],
  ])('has no %s %s, and says what there is', async (method, path, allowed) => {
    const answer = await asker(await openedSchemaSystem())(method, path)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed])
  })

  it('is 503 with Retry-After while the database is away', async () => {
    const { metadata, ...system } = await openedSchemaSystem()
    await metadata.close()
    const answer = await asker({ metadata, ...system })('GET', '/_schemas/orders')
    expect([answer.status, answer.headers.get('retry-after'), answer.json.error]).toEqual([503, '1', 'unavailable'])
  })
})
