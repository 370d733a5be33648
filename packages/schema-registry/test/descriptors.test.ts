import { readFileSync } from 'node:fs'
import descriptor from 'protobufjs/ext/descriptor.js'
import { describe, expect, it } from 'vitest'
import { descriptorOfProto as described } from '../src/confluent/descriptor-of-proto.ts'
import { protoTextOfDescriptor } from '../src/confluent/proto-text-of-descriptor.ts'

import type { SchemaSource } from '../src/schema.ts'

const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')

function descriptorOfProto(schema: SchemaSource): string {
  const made = described(schema)
  return 'descriptor' in made ? made.descriptor : made.problem
}

const source = (text: string, references: { importName: string; text: string }[] = []) => ({
  kind: 'protobuf' as const,
  text,
  references,
})

/** What a schema says, without what a file is called and without options that change nothing that is written. */
function meaning(base64: string): unknown {
  const file = descriptor.FileDescriptorProto.decode(Buffer.from(base64, 'base64'))
  const { name: _, options: __, ...rest } = descriptor.FileDescriptorProto.toObject(file) as Record<string, unknown>
  return JSON.parse(JSON.stringify(rest), (key, value) => {
    // protoc puts entries of maps between the other types.
    if (key === 'nestedType')
      return value.toSorted((a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1))
    if (key === 'options') return keptOptions(value)
    if (value !== null && typeof value === 'object' && value.name === 'raw') return { ...value, defaultValue: '' }
    return value
  })
}

function keptOptions({ packed, mapEntry, allowAlias }: Record<string, unknown>) {
  const kept = JSON.parse(JSON.stringify({ packed, mapEntry, allowAlias }))
  return Object.keys(kept).length === 0 ? undefined : kept
}

describe('a serialized descriptor', () => {
  it.each(['shop', 'legacy', 'struct'])('becomes a file of which the same is made again: %s', (name) => {
    const given = fixture(`${name}.descriptor`)
    const text = protoTextOfDescriptor(given) ?? ''
    expect(meaning(descriptorOfProto(source(text)))).toEqual(meaning(given))
    const again = protoTextOfDescriptor(descriptorOfProto(source(text))) ?? ''
    expect(meaning(descriptorOfProto(source(again)))).toEqual(meaning(given))
  })

  it.each(['shop', 'legacy'])('is made of the file that somebody wrote as protoc makes it: %s', (name) => {
    expect(meaning(descriptorOfProto(source(fixture(`${name}.proto`))))).toEqual(meaning(fixture(`${name}.descriptor`)))
  })

  it('holds the types of its own file alone, and says what it imports', () => {
    const references = [
      { importName: 'money.proto', text: 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }' },
    ]
    const text = 'syntax = "proto3"; package shop; import "money.proto"; message Price { Money money = 1; }'
    expect(meaning(descriptorOfProto(source(text, references)))).toMatchObject({
      package: 'shop',
      dependency: ['money.proto'],
      messageType: [{ name: 'Price', field: [{ typeName: '.shop.Money' }] }],
    })
  })

  it('is refused where the file has an edition, whose rules it would have to spell out', () => {
    const made = described(source('/* x */ edition = "2023"; message A {}'))
    expect(made).toEqual({ problem: expect.stringContaining('edition') })
  })
})

describe('text that is no descriptor', () => {
  it.each(['syntax = "proto3"; message A {}', '', 'AAAA', 'not/base64/of/anything', 'CgA', `CgF4${'A'.repeat(64)}`])(
    'is left alone: %j',
    (text) => {
      const made = protoTextOfDescriptor(text)
      // Whatever a decoder makes of it is at most an empty file.
      expect(made === null || !/\{/.test(made)).toBe(true)
    },
  )

  it('costs no more than it is long: every prefix of one, and types within types without end', () => {
    const bytes = Buffer.from(fixture('shop.descriptor'), 'base64')
    for (let length = 0; length < bytes.length; length++) {
      expect(() => protoTextOfDescriptor(bytes.subarray(0, length).toString('base64'))).not.toThrow()
    }
    let type: { name: string; nestedType?: object[] } = { name: 'A' }
    for (let depth = 0; depth < 90; depth++) type = { name: 'A', nestedType: [type] }
    const deep = descriptor.FileDescriptorProto.fromObject({ messageType: [type] })
    const text = Buffer.from(descriptor.FileDescriptorProto.encode(deep).finish()).toString('base64')
    expect(protoTextOfDescriptor(text)).toBe(null)
  })
})
