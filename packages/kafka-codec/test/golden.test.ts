import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ByteReader, ByteWriter } from '@pico/binary'
import { describe, expect, test } from 'vitest'
import {
  apiOf,
  apis,
  type Codec,
  consumerProtocolAssignment,
  consumerProtocolSubscription,
  controlRecordKey,
  endTxnMarker,
  type Fields,
  groupMetadataKey,
  groupMetadataValue,
  kafkaErrors,
  offsetCommitKey,
  offsetCommitValue,
  produce,
  readRequestHeader,
  readResponseHeader,
  requestHeaderVersion,
  responseHeaderVersion,
  writeRequestHeader,
  writeResponseHeader,
} from '../src/index.ts'
import { comparable } from './comparable.ts'
import { goldenStruct, type Variant } from './golden-values.ts'

/** Written by Kafka's own classes: see e2e/golden/generate.sh. */
const folder = join(import.meta.dirname, 'golden')

interface GoldenLine {
  readonly direction: string
  readonly version: number
  readonly variant: Variant
  readonly bytes: Buffer
}

interface Described {
  readonly fields: Fields
  version(version: number): Codec<unknown, object>
}

const messages = [
  ...[consumerProtocolSubscription, consumerProtocolAssignment, controlRecordKey, endTxnMarker],
  ...[offsetCommitKey, offsetCommitValue, groupMetadataKey, groupMetadataValue],
]

describe.each(apis.map((api) => ({ name: api.name, api })))('$name', ({ name, api }) => {
  const lines = read(`${kebab(name)}.txt`)
  check('request', api.versions, lines, { fields: api.requestFields, version: (version) => api.request(version) })
  check('response', api.versions, lines, { fields: api.responseFields, version: (version) => api.response(version) })
})

describe.each(messages)('$name', (message) => {
  check('message', message.versions, read(`message-${kebab(message.name)}.txt`), {
    fields: message.fields,
    version: (version) => message.version(version),
  })
})

function check(
  direction: string,
  versions: readonly [number, number],
  lines: GoldenLine[],
  described: Described,
): void {
  test(`every version of the ${direction} decodes from and encodes to what Kafka writes`, () => {
    const ours = lines.filter((line) => line.direction === direction)
    expect(ours.map(({ version, variant }) => `${version} ${variant}`)).toEqual(expectedLines(versions, described))
    for (const { version, variant, bytes } of ours) {
      const what = `${direction} v${version} ${variant}`
      const value = goldenStruct(described.fields, { version, variant })
      const codec = described.version(version)
      expect(comparable(codec.decode(bytes)), what).toEqual(comparable(value))
      expect(Buffer.from(codec.encode(value)).toString('base64'), what).toBe(bytes.toString('base64'))
    }
  })
}

function expectedLines([first, last]: readonly [number, number], described: Described): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index).flatMap((version) =>
    ['full', 'empty', 'null', 'nested', ...(described.version(version).flexible ? ['unknown'] : [])].map(
      (variant) => `${version} ${variant}`,
    ),
  )
}

test('every golden file belongs to a declared message', () => {
  const expected = [
    ...apis.map(({ name }) => `${kebab(name)}.txt`),
    ...messages.map(({ name }) => `message-${kebab(name)}.txt`),
    ...['errors.txt', 'header-versions.txt', 'headers.txt'],
  ]
  expect(readdirSync(folder).sort()).toEqual(expected.sort())
})

test('requests and responses have the header versions that Kafka gives them', () => {
  const lines = readFileSync(join(folder, 'header-versions.txt'), 'utf8').trim().split('\n')
  expect(lines.length).toBeGreaterThan(250)
  for (const line of lines) {
    const [key, version, requestHeader, responseHeader] = line.split(' ').map(Number)
    const api = apiOf(key!)!
    const ours = [requestHeaderVersion(api, version!), responseHeaderVersion(api, version!)]
    expect(ours, `${api.name} v${version}`).toEqual([requestHeader, responseHeader])
  }
})

test('headers decode from and encode to what Kafka writes', () => {
  const lines = readFileSync(join(folder, 'headers.txt'), 'utf8').trim().split('\n')
  expect(lines.length).toBe(6)
  for (const line of lines) {
    const [direction, version, client, base64 = ''] = line.split(' ')
    const bytes = Buffer.from(base64, 'base64')
    const apiVersion = Number(version)
    const correlationId = 0x01020304
    const writer = new ByteWriter()
    const reader = new ByteReader(bytes)
    if (direction === 'request') {
      const header = { apiKey: 0, apiVersion, correlationId, clientId: client === 'null' ? null : client! }
      expect(readRequestHeader(reader), line).toEqual(header)
      writeRequestHeader(writer, produce, header)
    } else {
      expect(readResponseHeader(reader, produce, apiVersion), line).toEqual({ correlationId })
      writeResponseHeader(writer, produce, apiVersion, { correlationId })
    }
    expect(reader.remaining, line).toBe(0)
    expect(Buffer.from(writer.toBytes()).toString('base64'), line).toBe(base64)
  }
})

test('the error table is that of Kafka', () => {
  const ours = Object.values(kafkaErrors).map(
    ({ code, name, retriable }) => `${code} ${name} ${retriable ? 'retriable' : 'permanent'}`,
  )
  expect(ours.sort()).toEqual(readFileSync(join(folder, 'errors.txt'), 'utf8').trim().split('\n').sort())
})

function read(file: string): GoldenLine[] {
  const lines = readFileSync(join(folder, file), 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [direction = '', version, variant, bytes = ''] = line.split(' ')
    return { direction, version: Number(version), variant: variant as Variant, bytes: Buffer.from(bytes, 'base64') }
  })
}

function kebab(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, '-$&').toLowerCase()
}
