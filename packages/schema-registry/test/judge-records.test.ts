import { describe, expect, test } from 'vitest'
import type { CompiledSchema } from '../src/kinds/schema-kind.ts'
import type { SchemaKind } from '../src/schema.ts'
import { judgeRecords } from '../src/workers/judge-records.ts'
import { type JudgeWork, Progress, type RecordsToJudge } from '../src/workers/work-messages.ts'
import { messageSets } from './golden/message-sets.ts'

/** A schema whose problem with every value is what it was given. */
const telling: CompiledSchema = {
  canonical: '',
  validate: (bytes, messageIndexes) => ({
    path: `/${messageIndexes.join('.')}`,
    reason: Buffer.from(bytes).toString('hex'),
  }),
}

function judge(records: RecordsToJudge, kind: SchemaKind = 'json', rest: Partial<JudgeWork> = {}) {
  const work: JudgeWork = {
    kind: 'judge',
    schemaId: 3,
    source: null,
    forget: [],
    encoding: 'plain',
    tombstonesPass: false,
    records,
    ...rest,
  }
  return judgeRecords({ kind, compiled: telling }, work, new Progress())
}

function framed(kind: SchemaKind, value: string) {
  const values = new Uint8Array(Buffer.from(value.replaceAll(' ', ''), 'hex'))
  const [problem] = judge({ values, lengths: Int32Array.of(values.length) }, kind, { encoding: 'confluent' })
  return problem && [problem.path, problem.reason]
}

describe("Confluent's framing", () => {
  test.for<[SchemaKind, string, string, string]>([
    ['json', '00 00000003 7b7d', '/0', '7b7d'],
    ['avro', '00 00000003', '/0', ''],
    ['json', '00 00000007 7b7d', '', 'schema id 7 where 3 is bound'],
    ['json', '00 ffffffff 7b7d', '', 'schema id -1 where 3 is bound'],
    ['json', '7b 7d202020 20', '', "begins with the byte 123, where Confluent's framing begins with 0"],
    ['json', '', '', "0 bytes are too few for Confluent's framing, which begins with 5"],
    ['avro', '00 000000', '', "4 bytes are too few for Confluent's framing, which begins with 5"],
    // Zigzag varints: a count of 0 for the first message, [1], [0, 2], [100].
    ['protobuf', '00 00000003 00 0801', '/0', '0801'],
    ['protobuf', '00 00000003 02 02 0801', '/1', '0801'],
    ['protobuf', '00 00000003 04 00 04 0801', '/0.2', '0801'],
    ['protobuf', '00 00000003 02 c801 0801', '/100', '0801'],
    ['protobuf', '00 00000003', '', 'its message indexes are cut off, or no list'],
    ['protobuf', '00 00000003 02', '', 'its message indexes are cut off, or no list'],
    ['protobuf', '00 00000003 01', '', 'its message indexes are cut off, or no list'],
    ['protobuf', '00 00000003 02 01', '', 'its message indexes are cut off, or no list'],
    ['protobuf', '00 00000003 fefffff70f', '', 'its message indexes are cut off, or no list'],
    ['protobuf', '00 00000003 ffffffffffff', '', 'its message indexes are cut off, or no list'],
  ])('%s %s: %s %s', ([kind, value, path, reason]) => {
    expect(framed(kind, value)).toEqual([path, reason])
  })
})

test('a record without a value passes where it deletes its key, and is no value of any schema elsewhere', () => {
  const records = { values: Uint8Array.of(1, 2), lengths: Int32Array.of(-1, 0, 2) }
  expect(judge(records)).toEqual([
    { index: 0, path: '', reason: 'a record without a value, which only a compacted topic takes' },
    { index: 1, path: '/0', reason: '' },
    { index: 2, path: '/0', reason: '0102' },
  ])
  expect(judge(records, 'json', { tombstonesPass: true })).toHaveLength(2)
  expect(judge(records, 'json', { tombstonesPass: true, encoding: 'confluent' })).toHaveLength(2)
})

test.for(Object.entries(messageSets))('values are found in message sets of old formats: %s', ([, bytes]) => {
  const batch = new Uint8Array(Buffer.from(bytes, 'base64'))
  const hexOf = (text: string) => Buffer.from(text).toString('hex')
  expect(judge({ batch })).toEqual([
    { index: 0, path: '/0', reason: hexOf('value-0') },
    { index: 1, path: '/0', reason: hexOf('no key') },
    { index: 2, path: '', reason: 'a record without a value, which only a compacted topic takes' },
    { index: 3, path: '', reason: 'a record without a value, which only a compacted topic takes' },
    { index: 4, path: '/0', reason: '' },
  ])
  // One of the CRCs is wrong: the gate refuses it.
  batch[batch.length - 1] = 0x55
  expect(judge({ batch })).toEqual([])
})

test('of many bad records a thousand are listed', () => {
  expect(judge({ values: new Uint8Array(0), lengths: new Int32Array(5000) })).toHaveLength(1000)
})
