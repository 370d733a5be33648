import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { schemaListingSchema } from '@pico/http-contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../src/child-process.ts'
import { confluentPython } from '../src/clients/confluent-python.ts'
import { kafkaJs } from '../src/clients/kafkajs.ts'
import { type PicoServer, startPico } from '../src/pico.ts'
import { createTopic, endOffset } from '../src/raw-topics.ts'
import { javascriptSerde } from '../src/schema-registry/javascript-serde.ts'
import { pythonSerde } from '../src/schema-registry/python-serde.ts'
import type { SerdeSchema } from '../src/schema-registry/serde.ts'
import { missing, pythonTools } from '../src/toolchain.ts'

const shop = fileURLToPath(new URL('../../packages/schema-registry/test/fixtures/shop.descriptor', import.meta.url))

const texts = {
  avro: JSON.stringify({
    type: 'record',
    name: 'Order',
    namespace: 'shop',
    fields: [
      { name: 'id', type: 'long' },
      { name: 'note', type: ['null', 'string'], default: null },
      {
        name: 'lines',
        type: { type: 'array', items: { type: 'record', name: 'Line', fields: [{ name: 'sku', type: 'string' }] } },
      },
    ],
  }),
  json: JSON.stringify({
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Order',
    type: 'object',
    properties: { id: { type: 'integer' }, note: { type: 'string' } },
    required: ['id'],
    additionalProperties: false,
  }),
  protobuf: readFileSync(shop, 'utf8'),
}

const values = {
  avro: [
    { id: 1, note: null, lines: [] },
    { id: 2, note: 'grüße', lines: [{ sku: 'a' }, { sku: 'b' }] },
  ],
  json: [{ id: 1 }, { id: 2, note: 'grüße' }],
  protobuf: [
    { order_id: 'o-1', amount_cents: '7' },
    {
      order_id: 'o-2',
      lines: [{ sku: 'x', price: 1.5, count: 2 }],
      by_sku: { y: { sku: 'y' } },
      invoice: { to: 'grüße' },
      placed_at: '2026-01-31T12:00:00Z',
      tight: ['-1', '2'],
      kind: 'B',
    },
  ],
}

/** Of a value that no schema allows, framed or not. */
const garbage = Buffer.from('garbage')

describe.skipIf(await missing(pythonTools))("Confluent's serializers, whose schemas are in our registry", () => {
  let pico: PicoServer
  let registryUrl: string
  const folder = mkdtempSync(join(tmpdir(), 'pico-registry-'))
  const schemas = (['avro', 'json', 'protobuf'] as const).map((kind): SerdeSchema => {
    const path = join(folder, kind)
    writeFileSync(path, texts[kind])
    return { kind, text: texts[kind], path }
  })
  beforeAll(async () => {
    const [port] = await freePorts(1)
    registryUrl = `http://127.0.0.1:${port}`
    pico = await startPico({ flags: ['--schema-registry-listen', `127.0.0.1:${port}`] })
  }, 120_000)
  afterAll(async () => {
    await pico?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const serdes = [
    { writer: pythonSerde, transport: confluentPython },
    { writer: javascriptSerde, transport: kafkaJs },
  ]
  const cases = schemas.flatMap((schema) => serdes.map((serde) => ({ ...serde, schema, kind: schema.kind })))

  it.each(cases)(
    '$kind by $writer.name goes through a topic that is bound to it, and is read in every language',
    async ({ writer, transport, schema }) => {
      const topic = `${schema.kind}-${writer === pythonSerde ? 'python' : 'javascript'}`
      const given = values[schema.kind]
      const serialized = await writer.serialize(registryUrl, schema, topic, given)
      const listing = await fetch(`${pico.httpUrl}/_schemas?prefix=${topic}`)
      const { schemas: listed } = schemaListingSchema.parse(await listing.json())
      const schemaId = listed[0]?.schema_id ?? 0
      expect(listed).toMatchObject([{ name: `${topic}-value`, version: 1, kind: schema.kind }])
      expect(serialized.map((value) => [value[0], value.readInt32BE(1)])).toEqual(given.map(() => [0, schemaId]))

      await createTopic(pico.port, topic, {
        'pico.schema': `${topic}-value`,
        'pico.schema.validate': 'true',
        'pico.schema.encoding': 'confluent',
      })
      const records = serialized.map((value) => ({ key: null, value, headers: [] }))
      const how = { codec: 'none', acks: 'all', idempotence: false } as const
      await transport.write(pico.bootstrap, topic, records, how)
      const read = (await transport.read(pico.bootstrap, new Map([[topic, given.length]]))).get(topic) ?? []
      expect(read.map(({ value }) => value)).toEqual(serialized)
      for (const reader of [pythonSerde, javascriptSerde]) {
        const got = await reader.deserialize(
          registryUrl,
          schema,
          topic,
          read.map(({ value }) => value ?? garbage),
        )
        expect([reader.name, got]).toEqual([reader.name, given])
      }

      const otherId = Buffer.from(serialized[0] ?? garbage)
      otherId.writeInt32BE(schemaId + 1, 1)
      for (const value of [garbage, otherId, (serialized[0] ?? garbage).subarray(0, 5)]) {
        const writing = transport.write(pico.bootstrap, topic, [{ key: null, value, headers: [] }], how)
        await expect(writing).rejects.toThrow(/validat|INVALID_RECORD/i)
      }
      expect(await endOffset(pico.port, topic)).toBe(given.length)
    },
    120_000,
  )

  it.each(schemas)('$kind has one version and one id, whichever language registers it', async (schema) => {
    const topic = `${schema.kind}-shared`
    const [given] = values[schema.kind]
    if (given === undefined) throw new Error('there is a value')
    const byPython = await pythonSerde.serialize(registryUrl, schema, topic, [given])
    const byJavascript = await javascriptSerde.serialize(registryUrl, schema, topic, [given])
    expect(byJavascript[0]?.readInt32BE(1)).toBe(byPython[0]?.readInt32BE(1))
    const versions = await fetch(`${registryUrl}/subjects/${topic}-value/versions`)
    expect(await versions.json()).toEqual([1])
  })

  it('values are read after the server was started again', async () => {
    const topic = 'restarted'
    const [avro] = schemas
    if (avro === undefined) throw new Error('there are schemas')
    const serialized = await javascriptSerde.serialize(registryUrl, avro, topic, values.avro)
    await pico.restart('kill')
    expect(await javascriptSerde.deserialize(registryUrl, avro, topic, serialized)).toEqual(values.avro)
  })

  it('a schema that must not follow is refused by the serializer that would register it', async () => {
    const topic = 'incompatible'
    const [avro] = schemas
    if (avro === undefined) throw new Error('there are schemas')
    await pythonSerde.serialize(registryUrl, avro, topic, values.avro)
    const path = join(folder, 'other.avsc')
    const text = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"other","type":"string"}]}'
    writeFileSync(path, text)
    for (const serde of [pythonSerde, javascriptSerde]) {
      const serializing = serde.serialize(registryUrl, { kind: 'avro', text, path }, topic, [{ other: 'x' }])
      await expect(serializing).rejects.toThrow(/incompatible|409/)
    }
  })
})
