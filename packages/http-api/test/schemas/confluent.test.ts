import { describe, expect, it } from 'vitest'
import { openedSchemaSystem, type SchemaSystem } from './schema-system.ts'

const v1 = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
const v2 =
  '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string","default":""}]}'
/** Cannot read what v1 wrote. */
const bad = '{"type":"record","name":"Order","fields":[{"name":"other","type":"string"}]}'

/** Asks the listener of Confluent's protocol: `[status, body]`. */
async function asker(): Promise<
  SchemaSystem & { api: (method: string, path: string, body?: unknown) => Promise<readonly [number, unknown]> }
> {
  const system = await openedSchemaSystem()
  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await system.ask(method, `${system.confluentUrl}${path}`, body)
    expect(answer.headers.get('content-type')).toBe('application/vnd.schemaregistry.v1+json')
    return [answer.status, answer.json] as const
  }
  return { ...system, api }
}

const error = (status: number, code: number, message: unknown = expect.any(String)) => [
  status,
  { error_code: code, message },
]

describe('registering and reading', () => {
  it('goes as Confluent has it', async () => {
    const { api } = await asker()
    expect(await api('POST', '/subjects/orders-value/versions', { schema: v1 })).toEqual([200, { id: 1, version: 1 }])
    expect(await api('POST', '/subjects/orders-value/versions', { schema: v2, schemaType: 'AVRO' })).toEqual([
      200,
      { id: 2, version: 2 },
    ])
    const spaced = JSON.stringify(JSON.parse(v1), null, 2)
    expect(await api('POST', '/subjects/orders-value/versions?normalize=true', { schema: spaced })).toEqual([
      200,
      { id: 1, version: 1 },
    ])
    expect(await api('POST', '/subjects/other/versions', { schema: v1 })).toEqual([200, { id: 1, version: 1 }])
    expect(await api('GET', '/subjects')).toEqual([200, ['orders-value', 'other']])
    expect(await api('GET', '/subjects?subjectPrefix=or')).toEqual([200, ['orders-value']])
    expect(await api('GET', '/subjects/orders-value/versions')).toEqual([200, [1, 2]])
    const second = { subject: 'orders-value', id: 2, version: 2, schema: v2 }
    for (const version of ['2', 'latest', '-1']) {
      expect(await api('GET', `/subjects/orders-value/versions/${version}`)).toEqual([200, second])
    }
    expect(await api('GET', '/subjects/orders-value/versions/1/schema')).toEqual([200, JSON.parse(v1)])
    expect(await api('GET', '/schemas/ids/1')).toEqual([200, { schema: v1 }])
    expect(await api('GET', '/schemas/ids/1/schema')).toEqual([200, JSON.parse(v1)])
    expect(await api('GET', '/schemas/ids/1/subjects')).toEqual([200, ['orders-value', 'other']])
    expect(await api('GET', '/schemas/ids/1/versions')).toEqual([
      200,
      [
        { subject: 'orders-value', version: 1 },
        { subject: 'other', version: 1 },
      ],
    ])
    expect(await api('POST', '/subjects/orders-value', { schema: spaced })).toEqual([
      200,
      { subject: 'orders-value', id: 1, version: 1, schema: v1 },
    ])
    expect(await api('GET', '/schemas/types')).toEqual([200, ['AVRO', 'JSON', 'PROTOBUF']])
    expect(await api('GET', '/')).toEqual([200, {}])
    expect(await api('GET', '/contexts')).toEqual([200, ['.']])
  })

  it('says the kind where it is not Avro, and what is referred to', async () => {
    const { api } = await asker()
    const base = '{"$id":"https://example.org/base.json","type":"string"}'
    await api('POST', '/subjects/base/versions', { schema: base, schemaType: 'JSON' })
    const schema = '{"type":"object","properties":{"a":{"$ref":"https://example.org/base.json"}}}'
    const references = [{ name: 'https://example.org/base.json', subject: 'base', version: 1 }]
    const newest = [{ name: 'https://example.org/base.json', subject: 'base', version: -1 }]
    const body = { schema, schemaType: 'JSON', references: newest }
    expect(await api('POST', '/subjects/using/versions', body)).toEqual([200, { id: 2, version: 1 }])
    expect(await api('GET', '/schemas/ids/2')).toEqual([200, { schema, schemaType: 'JSON', references }])
    expect(await api('GET', '/subjects/base/versions/1/referencedby')).toEqual([200, [2]])
    expect(await api('DELETE', '/subjects/base')).toEqual(error(422, 42206))
  })

  it.each([
    ['GET', '/subjects/none/versions', undefined, 404, 40401],
    ['GET', '/subjects/none/versions/1', undefined, 404, 40401],
    ['GET', '/subjects/none/versions/latest', undefined, 404, 40401],
    ['GET', '/subjects/known/versions/2', undefined, 404, 40402],
    ['GET', '/subjects/known/versions/0', undefined, 422, 42202],
    ['GET', '/subjects/known/versions/first', undefined, 422, 42202],
    ['GET', '/schemas/ids/99', undefined, 404, 40403],
    ['GET', '/schemas/ids/x', undefined, 404, 404],
    ['POST', '/subjects/none', { schema: v1 }, 404, 40401],
    ['POST', '/subjects/known', { schema: v2 }, 404, 40403],
    ['POST', '/subjects/known/versions', { schema: bad }, 409, 409],
    ['POST', '/subjects/known/versions', { schema: '{"type":"recor"}' }, 422, 42201],
    ['POST', '/subjects/known/versions', { schema: '' }, 422, 42201],
    ['POST', '/subjects/known/versions', {}, 422, 42201],
    ['POST', '/subjects/known/versions', { schema: v1, schemaType: 'XML' }, 422, 42201],
    [
      'POST',
      '/subjects/known/versions',
      { schema: v1, references: [{ name: 'a', subject: 'b', version: 1 }] },
      422,
      42201,
    ],
    ['POST', '/subjects/known/versions', { schema: v1, id: 7 }, 422, 42205],
    ['POST', '/subjects/a%20b/versions', { schema: v1 }, 422, 42208],
    ['POST', '/subjects/known/versions', { schema: `"${'x'.repeat(1024 * 1024)}"` }, 422, 42209],
    ['POST', '/subjects/known/versions', { schema: 1 }, 422, 422],
    ['GET', '/nothing/here', undefined, 404, 404],
    ['PATCH', '/subjects', undefined, 405, 405],
    ['POST', '/subjects', {}, 405, 405],
    ['GET', '/subjects/%ff', undefined, 400, 400],
  ])('%s %s answers what went wrong', async (method, path, body, status, code) => {
    const { api, ask, confluentUrl } = await asker()
    await api('POST', '/subjects/known/versions', { schema: v1 })
    const answer = await ask(method, `${confluentUrl}${path}`, body)
    if (method === 'PATCH') expect(answer.status).toBe(status)
    else expect([answer.status, answer.json]).toEqual(error(status, code))
  })

  it('takes JSON alone, so that no web page of another origin can send it', async () => {
    const { ask, confluentUrl } = await asker()
    const url = `${confluentUrl}/subjects/a/versions`
    const refused = await ask('POST', url, JSON.stringify({ schema: v1 }), { 'content-type': 'text/plain' })
    expect([refused.status, refused.json]).toEqual(error(415, 415))
    const broken = await ask('POST', url, '{', { 'content-type': 'application/json' })
    expect([broken.status, broken.json]).toEqual(error(400, 400))
  })

  it('says in 409 what stands against it', async () => {
    const { api } = await asker()
    await api('POST', '/subjects/known/versions', { schema: v1 })
    const message = expect.stringMatching(/incompatible with an earlier schema for subject "known".*version 1: /)
    expect(await api('POST', '/subjects/known/versions', { schema: bad })).toEqual(error(409, 409, message))
  })

  it('accepts what newer clients send beside a schema, and refuses what it would not carry out', async () => {
    const { api } = await asker()
    const nothing = { metadata: null, ruleSet: null, references: null, id: null, version: null, schemaType: null }
    expect(await api('POST', '/subjects/a/versions', { schema: v1, ...nothing })).toMatchObject([200, { id: 1 }])
    const empty = { metadata: { tags: {}, properties: {} }, ruleSet: { domainRules: [], migrationRules: null }, id: -1 }
    expect(await api('POST', '/subjects/a/versions', { schema: v1, ...empty })).toMatchObject([200, { id: 1 }])
    const ruleSet = { domainRules: [{ name: 'r', kind: 'CONDITION', type: 'CEL' }] }
    expect(await api('POST', '/subjects/a/versions', { schema: v1, ruleSet })).toEqual(
      error(422, 42210, expect.stringContaining('domainRules')),
    )
    const metadata = { properties: { owner: 'me' } }
    expect(await api('POST', '/subjects/a/versions', { schema: v1, metadata })).toEqual(error(422, 42210))
  })
})

describe('compatibility', () => {
  it('is checked against a version, or against all that the level asks for', async () => {
    const { api } = await asker()
    const check = (path: string, schema: string) => api('POST', `/compatibility/subjects/${path}`, { schema })
    expect(await check('a/versions/latest', v1)).toEqual([200, { is_compatible: true }])
    expect(await check('a/versions/1', v1)).toEqual(error(404, 40401))
    await api('POST', '/subjects/a/versions', { schema: v1 })
    expect(await check('a/versions/latest', v2)).toEqual([200, { is_compatible: true }])
    expect(await check('a/versions/latest', bad)).toEqual([200, { is_compatible: false }])
    expect(await check('a/versions', bad)).toEqual([200, { is_compatible: false }])
    expect(await check('a/versions/1?verbose=true', v2)).toEqual([200, { is_compatible: true, messages: [] }])
    expect(await check('a/versions/1?verbose=true', bad)).toEqual([
      200,
      { is_compatible: false, messages: [expect.stringContaining('version 1: ')] },
    ])
    expect(await check('a/versions/7', v1)).toEqual(error(404, 40402))
    expect(await check('a/versions/1', '{"type":"recor"}')).toEqual(error(422, 42201))
  })

  it('has a level for all and one for each subject', async () => {
    const { api } = await asker()
    expect(await api('GET', '/config')).toEqual([200, { compatibilityLevel: 'BACKWARD' }])
    expect(await api('GET', '/config/a')).toEqual(error(404, 40408))
    expect(await api('GET', '/config/a?defaultToGlobal=true')).toEqual([200, { compatibilityLevel: 'BACKWARD' }])
    expect(await api('PUT', '/config', { compatibility: 'FULL_TRANSITIVE' })).toEqual([
      200,
      { compatibility: 'FULL_TRANSITIVE' },
    ])
    expect(await api('PUT', '/config/a', { compatibility: 'none' })).toEqual([200, { compatibility: 'NONE' }])
    expect(await api('GET', '/config/a')).toEqual([200, { compatibilityLevel: 'NONE' }])
    await api('POST', '/subjects/a/versions', { schema: v1 })
    expect((await api('POST', '/subjects/a/versions', { schema: bad }))[0]).toBe(200)
    expect(await api('DELETE', '/config/a')).toEqual([200, { compatibilityLevel: 'NONE' }])
    expect(await api('DELETE', '/config/a')).toEqual(error(404, 40401))
    expect(await api('GET', '/config/a?defaultToGlobal=true')).toEqual([200, { compatibilityLevel: 'FULL_TRANSITIVE' }])
    expect(await api('DELETE', '/config')).toEqual([200, { compatibilityLevel: 'BACKWARD' }])
    expect(await api('PUT', '/config', { compatibility: 'SOME' })).toEqual(error(422, 42203))
    expect(await api('PUT', '/config', {})).toEqual(error(422, 42203))
    expect(await api('PUT', '/config', { compatibility: 'FULL', alias: 'b' })).toEqual(error(422, 42203))
  })

  it('is in one mode', async () => {
    const { api } = await asker()
    expect(await api('GET', '/mode')).toEqual([200, { mode: 'READWRITE' }])
    expect(await api('GET', '/mode/a')).toEqual(error(404, 40409))
    expect(await api('GET', '/mode/a?defaultToGlobal=true')).toEqual([200, { mode: 'READWRITE' }])
    expect((await api('PUT', '/mode', { mode: 'IMPORT' }))[0]).toBe(405)
  })
})

describe('deleting', () => {
  it('is soft first, and final then', async () => {
    const { api } = await asker()
    await api('POST', '/subjects/a/versions', { schema: v1 })
    await api('POST', '/subjects/a/versions', { schema: v2 })
    expect(await api('DELETE', '/subjects/a/versions/1?permanent=true')).toEqual(error(404, 40407))
    expect(await api('DELETE', '/subjects/a/versions/1')).toEqual([200, 1])
    expect(await api('DELETE', '/subjects/a/versions/1')).toEqual(error(404, 40406))
    expect(await api('GET', '/subjects/a/versions')).toEqual([200, [2]])
    expect(await api('GET', '/subjects/a/versions?deleted=true')).toEqual([200, [1, 2]])
    expect(await api('GET', '/subjects/a/versions?deletedOnly=true')).toEqual([200, [1]])
    expect(await api('GET', '/subjects/a/versions/1')).toEqual(error(404, 40402))
    expect(await api('GET', '/subjects/a/versions/1?deleted=true')).toMatchObject([200, { id: 1, deleted: true }])
    expect(await api('GET', '/schemas/ids/1')).toEqual([200, { schema: v1 }])
    expect(await api('POST', '/subjects/a', { schema: v1 })).toEqual(error(404, 40403))
    expect(await api('POST', '/subjects/a?deleted=true', { schema: v1 })).toMatchObject([200, { version: 1 }])
    expect(await api('DELETE', '/subjects/a?permanent=true')).toEqual(error(404, 40405))
    expect(await api('DELETE', '/subjects/a')).toEqual([200, [2]])
    expect(await api('DELETE', '/subjects/a')).toEqual(error(404, 40404))
    expect(await api('GET', '/subjects')).toEqual([200, []])
    expect(await api('GET', '/subjects?deleted=true')).toEqual([200, ['a']])
    expect(await api('GET', '/subjects?deletedOnly=true')).toEqual([200, ['a']])
    expect(await api('DELETE', '/subjects/a?permanent=true')).toEqual([200, [1, 2]])
    expect(await api('DELETE', '/subjects/a')).toEqual(error(404, 40401))
    expect(await api('DELETE', '/subjects/b/versions/1')).toEqual(error(404, 40401))
    expect(await api('GET', '/schemas/ids/1')).toEqual(error(404, 40403))
  })

  it('is refused while a topic is bound to it', async () => {
    const { api, ask, url } = await asker()
    await api('POST', '/subjects/a/versions', { schema: v1 })
    await ask('PUT', `${url}/sales`, undefined, { 'pico-schema': 'a' })
    const bound = expect.stringContaining('bound to topics: sales')
    expect(await api('DELETE', '/subjects/a')).toEqual(error(422, 42206, bound))
    expect(await api('DELETE', '/subjects/a/versions/latest')).toEqual(error(422, 42206, bound))
  })
})

it('the registry is 503 with 50001 while the database is away', async () => {
  const { metadata, ask, confluentUrl } = await asker()
  await metadata.close()
  const answer = await ask('GET', `${confluentUrl}/subjects`)
  expect([answer.status, answer.json]).toEqual(error(503, 50001))
  expect(answer.headers.get('retry-after')).toBe('1')
})
