import { MetadataUnavailableError } from '@pico/metadata'
import { describe, expect, it } from 'vitest'
import { SchemaUnavailableError } from '../src/errors.ts'
import { draft, object, openedRegistry, registryOver, topic } from './registry-under-test.ts'

const v1 = draft(object({ 'id!': 'integer' }))
/** Reads what v1 wrote. */
const v2 = draft(object({ 'id!': 'integer', note: 'string' }))
/** Does not. */
const narrower = draft(object({ 'id!': 'integer', 'note!': 'string' }))

const binding = (name: string, version: number) =>
  ({ name, version, encoding: 'plain', tombstonesPass: false }) as const
const json = (value: unknown) => Buffer.from(JSON.stringify(value))

describe('registering', () => {
  it('gives versions and ids in turn, and the same ones to what means the same', async () => {
    const { registry } = await openedRegistry()
    expect(await registry.put('orders', v1)).toMatchObject({
      outcome: 'registered',
      isNew: true,
      schema: { name: 'orders', version: 1, schemaId: 1, text: v1.text, createdAtMs: 1234, isDeleted: false },
    })
    expect(await registry.put('orders', v2)).toMatchObject({ isNew: true, schema: { version: 2, schemaId: 2 } })
    const spaced = draft(JSON.stringify(JSON.parse(v1.text), null, 4))
    expect(await registry.put('orders', spaced)).toMatchObject({ isNew: false, schema: { version: 1, text: v1.text } })
    expect(await registry.put('others', v1)).toMatchObject({ isNew: true, schema: { version: 1, schemaId: 1 } })
    expect(await registry.lookUp('orders', spaced, false)).toMatchObject({ version: 1 })
    expect(await registry.lookUp('orders', narrower, false)).toBe(null)
  })

  it('refuses what is no schema, with the place', async () => {
    const { registry } = await openedRegistry()
    const bad = draft({ type: 'object', properties: { a: { type: 'strin' } } })
    const put = await registry.put('orders', bad)
    expect(put).toMatchObject({ outcome: 'invalid', problems: [{ path: expect.stringContaining('/properties/a') }] })
    expect(await registry.check('orders', bad)).toEqual(put)
    expect(await registry.put('orders', draft('{'))).toMatchObject({ outcome: 'invalid' })
    expect(await registry.put('orders', draft('"\0"'))).toMatchObject({ outcome: 'invalid' })
    expect(await registry.put('orders', draft('"\ud800"'))).toMatchObject({ outcome: 'invalid' })
    expect(await registry.list({ prefix: '', after: null, limit: 9, deleted: true })).toEqual([])
  })

  it.each(['', 'a/b', 'a:1', 'ö', '..', 'x'.repeat(250)])('refuses the name %j', async (name) => {
    const { registry, starts } = await openedRegistry()
    expect(await registry.put(name, v1)).toMatchObject({ outcome: 'bad-name' })
    expect(starts()).toBe(0)
  })

  it('refuses what is too large, before anybody compiles it', async () => {
    const { registry, starts } = await openedRegistry()
    const put = await registry.put('orders', draft({ description: 'x'.repeat(1024 * 1024) }))
    expect(put).toMatchObject({ outcome: 'too-large', reason: expect.stringContaining('1048576') })
    expect(starts()).toBe(0)
  })

  it('lets nodes that register the same at once have one version', async () => {
    const { metadata, registry } = await openedRegistry()
    const { registry: other } = registryOver(metadata)
    const put = await Promise.all([registry, other, registry, other].map((each) => each.put('orders', v1)))
    expect(put.map((each) => each.outcome === 'registered' && each.schema.version)).toEqual([1, 1, 1, 1])
    expect(put.filter((each) => each.outcome === 'registered' && each.isNew)).toHaveLength(1)
  })

  it('checks again what somebody else was faster than', async () => {
    const { metadata, registry } = await openedRegistry()
    const { registry: other } = registryOver(metadata)
    await registry.put('orders', v1)
    // Each may follow the first version, and they may not follow one another.
    const ways = [draft(object({ 'id!': 'integer', a: 'string' })), draft(object({ 'id!': 'integer', a: 'integer' }))]
    const put = await Promise.all(ways.map((way, index) => (index === 0 ? registry : other).put('orders', way)))
    expect(put.map(({ outcome }) => outcome).sort()).toEqual(['incompatible', 'registered'])
  })
})

describe('policies', () => {
  it('are backward unless told otherwise: a version has to read what the newest wrote', async () => {
    const { registry } = await openedRegistry()
    await registry.put('orders', v1)
    const refused = {
      outcome: 'incompatible',
      policy: 'backward',
      problems: [{ version: 1, path: expect.any(String), reason: expect.any(String) }],
    }
    expect(await registry.put('orders', narrower)).toMatchObject(refused)
    expect(await registry.check('orders', narrower)).toMatchObject(refused)
    expect(await registry.check('orders', v2)).toEqual({ outcome: 'compatible', policy: 'backward' })
    expect((await registry.versions('orders', { after: 0, limit: 9, deleted: true })).length).toBe(1)
  })

  it('allow what they allow', async () => {
    const { registry } = await openedRegistry()
    const outcomes = async (policy: 'none' | 'forward' | 'full', next: typeof v1, previous: typeof v1) => {
      const name = `s-${policy}-${Math.random()}`
      await registry.put(name, previous)
      await registry.setPolicy(name, policy)
      return (await registry.put(name, next)).outcome
    }
    expect(await outcomes('none', narrower, v1)).toBe('registered')
    expect(await outcomes('forward', v2, v1)).toBe('incompatible')
    expect(await outcomes('forward', v1, v2)).toBe('registered')
    expect(await outcomes('full', v1, v2)).toBe('incompatible')
    expect(await outcomes('full', v2, v1)).toBe('incompatible')
  })

  it('look at all versions where they are transitive, and at the newest where not', async () => {
    const { registry } = await openedRegistry()
    const first = draft(object({ a: 'string' }, true))
    const second = draft(object({ b: 'string' }, true))
    const third = draft(object({ a: 'integer', b: 'string' }, true))
    await registry.put('orders', first, 'none')
    await registry.put('orders', second)
    await registry.setPolicy('orders', 'backward')
    const loosely = await registry.check('orders', third)
    await registry.setPolicy('orders', 'backward-transitive')
    const strictly = await registry.check('orders', third)
    expect(strictly).toMatchObject({ outcome: 'incompatible', policy: 'backward-transitive' })
    if (strictly.outcome !== 'incompatible') return
    expect(strictly.problems.map(({ version }) => version)).toContain(1)
    // What an open schema says nothing of may have been anything, so that the newest version has something against it as well.
    expect(loosely.outcome).toBe('incompatible')
    if (loosely.outcome === 'incompatible') expect(loosely.problems.map(({ version }) => version)).not.toContain(1)
  })

  it("are a name's own, or the common one, or the default", async () => {
    const { registry } = await openedRegistry()
    expect(await registry.policies('orders')).toEqual({ own: null, common: 'backward' })
    await registry.setPolicy(null, 'none')
    await registry.put('orders', v1)
    expect(await registry.put('orders', narrower)).toMatchObject({ outcome: 'registered' })
    await registry.setPolicy('orders', 'full')
    expect(await registry.policies('orders')).toEqual({ own: 'full', common: 'none' })
  })

  it('do not ask again whether what is there may be there', async () => {
    const { registry } = await openedRegistry()
    await registry.put('orders', v1, 'none')
    await registry.put('orders', narrower)
    await registry.setPolicy('orders', 'full')
    expect(await registry.put('orders', v1)).toMatchObject({
      outcome: 'registered',
      isNew: false,
      schema: { version: 1 },
    })
    await registry.remove('orders', 1, 'soft')
    expect(await registry.put('orders', v1)).toMatchObject({ outcome: 'incompatible' })
  })

  it('let nothing but none change the kind', async () => {
    const { registry } = await openedRegistry()
    await registry.put('orders', v1)
    const avro = draft('{"type":"record","name":"O","fields":[]}', { kind: 'avro' })
    expect(await registry.put('orders', avro)).toMatchObject({
      outcome: 'incompatible',
      problems: [{ version: 1, path: '', reason: expect.stringContaining('kind json') }],
    })
    expect(await registry.put('orders', avro, 'none')).toMatchObject({ outcome: 'registered' })
  })
})

describe('checking', () => {
  it('may be against one version alone', async () => {
    const { registry } = await openedRegistry()
    expect(await registry.check('orders', v1)).toMatchObject({ outcome: 'compatible' })
    expect(await registry.check('orders', v1, 1)).toEqual({ outcome: 'missing' })
    await registry.put('orders', narrower)
    await registry.put('orders', v1, 'none')
    await registry.setPolicy('orders', 'backward')
    expect(await registry.check('orders', narrower, 1)).toMatchObject({ outcome: 'compatible' })
    expect(await registry.check('orders', narrower, 2)).toMatchObject({ outcome: 'incompatible' })
    await registry.remove('orders', 1, 'soft')
    expect(await registry.check('orders', narrower, 1)).toEqual({ outcome: 'missing' })
  })
})

describe('references', () => {
  const base = draft({ $id: 'https://example.org/base.json', type: 'string', minLength: 1 })
  const reference = { importName: 'https://example.org/base.json', name: 'base', version: 1 }
  const using = draft(
    {
      $id: 'https://example.org/using.json',
      type: 'object',
      properties: { a: { $ref: 'https://example.org/base.json' } },
    },
    { references: [reference] },
  )

  it('are resolved, also those of references', async () => {
    const { registry } = await openedRegistry()
    await registry.put('base', base)
    await registry.put('using', using)
    const whole = draft(
      { $id: 'https://example.org/whole.json', $ref: 'https://example.org/using.json' },
      { references: [{ importName: 'https://example.org/using.json', name: 'using', version: 1 }] },
    )
    const put = await registry.put('whole', whole)
    if (put.outcome !== 'registered') throw new Error(JSON.stringify(put))
    const judged = await registry.judgeValues(binding('whole', 1), [json({ a: 'x' }), json({ a: '' })])
    expect(judged).toMatchObject([{ index: 1, path: '/a' }])
    expect((await registry.referencedBy('base', 1, 9)).map(({ name }) => name)).toEqual(['using'])
  })

  it('that are not there are named', async () => {
    const { registry } = await openedRegistry()
    expect(await registry.put('using', using)).toEqual({ outcome: 'unknown-reference', reference })
    await registry.put('base', base)
    await registry.remove('base', null, 'soft')
    expect(await registry.put('using', using)).toEqual({ outcome: 'unknown-reference', reference })
  })

  it('are of the same kind, and have one name each', async () => {
    const { registry } = await openedRegistry()
    await registry.put('base', base)
    await registry.put('other', draft({ $id: 'https://example.org/base.json' }))
    const proto = draft('syntax = "proto3";', { kind: 'protobuf', references: [reference] })
    expect(await registry.put('proto', proto)).toMatchObject({ outcome: 'invalid' })
    const twice = draft(using.text, { references: [reference, { ...reference, name: 'other' }] })
    expect(await registry.put('using', twice)).toMatchObject({
      outcome: 'invalid',
      problems: [{ reason: expect.stringContaining('base:1 and other:1') }],
    })
  })

  it('are no more than four megabytes with the schema', async () => {
    const { registry } = await openedRegistry()
    const references = []
    for (let index = 0; index < 5; index++) {
      const $id = `https://example.org/${index}.json`
      await registry.put(`part${index}`, draft({ $id, description: 'x'.repeat(900 * 1024) }))
      references.push({ importName: $id, name: `part${index}`, version: 1 })
    }
    expect(await registry.put('whole', draft({}, { references }))).toMatchObject({ outcome: 'too-large' })
    expect(await registry.put('whole', draft({}, { references: references.slice(1) }))).toMatchObject({
      outcome: 'registered',
    })
  })
})

describe('a name', () => {
  it('is pinned to its newest version, and a version to itself', async () => {
    const { registry } = await openedRegistry()
    await registry.put('orders', v1)
    await registry.put('orders', v2)
    expect(await registry.pin('orders')).toBe('orders:2')
    expect(await registry.pin('orders:1')).toBe('orders:1')
    for (const unknown of ['orders:3', 'order', 'orders:', 'orders:0', 'orders:01', 'orders:1:1', '', ':1']) {
      expect(await registry.pin(unknown)).toBe(null)
    }
    await registry.remove('orders', 2, 'soft')
    expect(await registry.pin('orders:2')).toBe(null)
    expect(await registry.pin('orders')).toBe('orders:1')
  })

  it('cannot lose what a topic is bound to', async () => {
    const { metadata, registry } = await openedRegistry()
    await registry.put('orders', v1)
    await metadata.streams.create([topic('sales', { 'pico.schema': 'orders:1' })], 1)
    expect(await registry.remove('orders', null, 'soft')).toEqual({ outcome: 'bound', to: ['sales'], count: 1 })
  })
})

describe('descriptors', () => {
  it('are made of Protobuf files, and those of them', async () => {
    const { registry } = await openedRegistry()
    const text = 'syntax = "proto3"; package a; message B { int32 c = 1; }'
    const put = await registry.put('proto', draft(text, { kind: 'protobuf' }))
    if (put.outcome !== 'registered') throw new Error(put.outcome)
    const described = await registry.descriptorOf(put.schema)
    const again = await registry.protoText('descriptor' in described ? described.descriptor : '')
    expect(again).toContain('message B {\n  int32 c = 1;\n}')
    expect(await registry.put('proto', draft(again ?? '', { kind: 'protobuf' }))).toMatchObject({ isNew: false })
    expect(await registry.protoText(text)).toBe(null)
    expect(await registry.protoText('A'.repeat(2_000_000))).toBe(null)
  })
})

describe('judging', () => {
  it('holds records to a version that another node registered, at once', async () => {
    const { metadata, registry } = await openedRegistry()
    const { registry: other } = registryOver(metadata)
    await registry.put('orders', v1)
    const values = [json({ id: 1 }), json({ id: 'x' }), null]
    expect(await other.judgeValues(binding('orders', 1), values)).toMatchObject([
      { index: 1, path: '/id' },
      { index: 2, path: '' },
    ])
  })

  it('starts no worker before there is something to judge or to compile', async () => {
    const { metadata, registry } = await openedRegistry()
    await registry.put('orders', v1)
    const { registry: other, starts } = registryOver(metadata)
    await other.get('orders', 'newest')
    await other.pin('orders')
    await other.setPolicy('orders', 'full')
    expect(starts()).toBe(0)
    await other.judgeValues(binding('orders', 1), [json({ id: 1 })])
    await other.judgeValues(binding('orders', 1), [json({ id: 1 })])
    expect(starts()).toBe(1)
  })

  it('needs no database for what it has loaded, and is unavailable for what it has not', async () => {
    const { metadata, registry } = await openedRegistry()
    await registry.put('orders', v1)
    await registry.put('orders', v2)
    await registry.judgeValues(binding('orders', 1), [json({ id: 1 })])
    await metadata.close()
    expect(await registry.judgeValues(binding('orders', 1), [json({ id: 'x' })])).toHaveLength(1)
    for (let attempt = 0; attempt < 2; attempt++) {
      const judging = registry.judgeValues(binding('orders', 2), [json({ id: 1 })])
      await expect(judging).rejects.toThrow(SchemaUnavailableError)
      await expect(judging).rejects.toMatchObject({ code: 'PICO_SCHEMA_UNAVAILABLE' })
    }
    await expect(registry.pin('orders')).rejects.toThrow(MetadataUnavailableError)
  })

  it('is unavailable for what is not there, until it is', async () => {
    const { registry } = await openedRegistry()
    const judge = () => registry.judgeValues(binding('orders', 1), [json({ id: 1 })])
    await expect(judge()).rejects.toThrow(SchemaUnavailableError)
    await registry.put('orders', v1)
    expect(await judge()).toEqual([])
  })

  it('goes on by a version that was deleted softly', async () => {
    const { metadata, registry } = await openedRegistry()
    await registry.put('orders', v1)
    await registry.remove('orders', 1, 'soft')
    const { registry: other } = registryOver(metadata)
    expect(await other.judgeValues(binding('orders', 1), [json({ id: 'x' })])).toHaveLength(1)
  })
})
