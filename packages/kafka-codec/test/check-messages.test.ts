import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  apis,
  consumerProtocolAssignment,
  consumerProtocolSubscription,
  controlRecordKey,
  endTxnMarker,
  type Fields,
  groupMetadataKey,
  groupMetadataValue,
  heartbeat,
  offsetCommitKey,
  offsetCommitValue,
} from '../src/index.ts'
import { includes, type KafkaDescription, kafkaShape, ourShape, parseDescription } from './message-shape.ts'

/**
 * Holds every declaration against Kafka's own descriptions, field by field and version by version. Versions that 4.4
 * still defines are compared with 4.4; older ones with 3.9.1, the last release that had them.
 */
const directory = process.env['KAFKA_MESSAGES_DIR'] ?? ''
const whyNot = 'skipped because KAFKA_MESSAGES_DIR is not set: it is what e2e/golden/fetch-messages.sh prints'
if (directory === '') console.warn(`check-messages: declarations were not compared with Kafka's, ${whyNot}`)

/** Keys of APIs that only brokers and controllers use among themselves, on listeners that clients cannot reach. */
const notForClients = new Set([4, 5, 6, 7, 52, 53, 54, 56, 58, 59, 62, 63, 70, 73])

const messages = [
  ...apis.map((api) => ({ ...api, name: `${api.name}Request`, fields: api.requestFields })),
  ...apis.map((api) => ({ ...api, name: `${api.name}Response`, fields: api.responseFields })),
  ...[consumerProtocolSubscription, consumerProtocolAssignment, controlRecordKey, endTxnMarker],
  ...[offsetCommitKey, offsetCommitValue, groupMetadataKey, groupMetadataValue],
]

if (directory === '') test.skip(`declarations are as Kafka describes them (${whyNot})`, () => {})
else describe(`declarations and Kafka's descriptions`, compareAll)

function compareAll(): void {
  const current = descriptions('4.4.0')
  const older = descriptions('3.9.1')

  test.each(messages)(
    '$name is as Kafka describes it, in every version',
    ({ name, versions, flexibleFrom, fields }) => {
      const now = current.get(name)
      expect(now, `${name} in Kafka 4.4`).toBeDefined()
      for (let version = versions[0]; version <= versions[1]; version++) {
        const described = includes(now?.validVersions, version) ? now : older.get(name)
        expect(includes(described?.validVersions, version), `Kafka describes ${name} v${version}`).toBe(true)
        compare(described!, version, flexibleFrom, fields, described === now)
      }
      expect(includes(now?.validVersions, versions[1] + 1), `a version of ${name} after ours`).toBe(false)
    },
  )

  test('every API that clients can use is declared, under its key', () => {
    const requests = [...current.values()].filter(
      ({ type, validVersions, apiKey }) =>
        type === 'request' && validVersions !== 'none' && !notForClients.has(apiKey!),
    )
    const expected = requests.map(({ apiKey, name }) => [apiKey, name.replace(/Request$/, '')])
    expect(apis.map(({ key, name }) => [key, name])).toEqual(expected.sort(([a], [b]) => Number(a) - Number(b)))
  })
}

describe('the comparison itself', () => {
  const request = parseDescription(`// A licence.
    { "apiKey": 12, "type": "request", "name": "HeartbeatRequest", "validVersions": "0-4", "flexibleVersions": "4+",
      "fields": [
        // Why.
        { "name": "GroupId", "type": "string", "versions": "0+", "entityType": "groupId", "about": "The group id." },
        { "name": "GenerationId", "type": "int32", "versions": "0+" },
        { "name": "MemberId", "type": "string", "versions": "0+" },
        { "name": "GroupInstanceId", "type": "string", "versions": "3+", "nullableVersions": "3+", "default": "null" }
      ] }`)
  const fields = heartbeat.requestFields
  const { groupId, ...withoutGroupId } = fields

  test('finds nothing where there is nothing', () => {
    for (let version = 0; version <= 4; version++) compare(request, version, 4, fields, true)
  })

  test.each([
    ['a missing field', 0, withoutGroupId],
    ['another order', 0, { ...withoutGroupId, groupId }],
    ['another name', 0, { group: groupId, ...withoutGroupId }],
    ['another type', 0, { ...fields, generationId: groupId }],
    ['another first version', 2, { ...fields, groupInstanceId: { ...fields.groupInstanceId, versions: '2+' } }],
    ['another nullable version', 3, { ...fields, groupInstanceId: { ...fields.groupInstanceId, nullable: '4+' } }],
    ['another default', 3, { ...fields, groupInstanceId: { ...fields.groupInstanceId, makeDefault: () => '' } }],
    ['a tag', 4, { ...fields, groupInstanceId: { ...fields.groupInstanceId, tag: 0 } }],
    ['another ignorable', 0, { ...fields, memberId: { ...fields.memberId, ignorable: true } }],
  ] satisfies [string, number, Fields][])('finds %s', (_, version, wrong) => {
    expect(() => compare(request, version, 4, wrong, true)).toThrow()
  })

  test('finds another first flexible version', () => {
    expect(() => compare(request, 3, 3, fields, true)).toThrow()
  })
})

/**
 * 4.x made some fields ignorable that were not; a declaration says it once, so `ignorable` is compared with 4.4 only.
 * It does not change the bytes.
 */
function compare(
  described: KafkaDescription,
  version: number,
  flexibleFrom: number | undefined,
  fields: Fields,
  withIgnorable: boolean,
): void {
  const name = `${described.name} v${version}`
  const flexible = flexibleFrom !== undefined && version >= flexibleFrom
  expect(flexible, `${name} is flexible`).toBe(includes(described.flexibleVersions, version))
  const ours = ourShape(fields, version)
  const theirs = kafkaShape(described, version)
  expect(withIgnorable ? ours : blurred(ours), name).toEqual(withIgnorable ? theirs : blurred(theirs))
}

function blurred(shape: unknown): unknown {
  return JSON.parse(JSON.stringify(shape, (key, value) => (key === 'ignorable' ? undefined : value)))
}

function descriptions(kafkaVersion: string): Map<string, KafkaDescription> {
  if (directory === '') return new Map()
  const folder = join(directory, kafkaVersion)
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  return new Map(
    files.map((file) => parseDescription(readFileSync(join(folder, file), 'utf8'))).map((each) => [each.name, each]),
  )
}
