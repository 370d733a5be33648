import { describe, expect, test } from 'vitest'
import {
  CodecError,
  consumerProtocolAssignment,
  consumerProtocolSubscription,
  decodeGroupRecordKey,
  decodeVersioned,
  encodeGroupMetadataKey,
  encodeOffsetCommitKey,
  encodeVersioned,
  offsetCommitValue,
} from '../src/index.ts'

describe('a message behind its version', () => {
  test('is what a consumer puts into JoinGroup', () => {
    const bytes = encodeVersioned(consumerProtocolSubscription, 0, { topics: ['orders'], ownedPartitions: [] })
    expect(Buffer.from(bytes).toString('hex')).toBe('0000' + '00000001' + '00066f7264657273' + 'ffffffff')
    const { version, value } = decodeVersioned(consumerProtocolSubscription, bytes)
    expect(version).toBe(0)
    expect(value).toEqual({ topics: ['orders'], userData: null, ownedPartitions: [], generationId: -1, rackId: null })
  })

  test('of a version newer than ours is read as ours only on request, as consumers do', () => {
    const bytes = Buffer.concat([
      encodeVersioned(consumerProtocolAssignment, 3, { assignedPartitions: [] }),
      Buffer.of(1),
    ])
    bytes[1] = 9
    expect(decodeVersioned(consumerProtocolAssignment, bytes, { newerAsLast: true })).toEqual({
      version: 9,
      value: { assignedPartitions: [], userData: null },
    })
    expect(() => decodeVersioned(consumerProtocolAssignment, bytes)).toThrow(CodecError)
  })

  test('is a CodecError if cut short', () => {
    const bytes = encodeVersioned(offsetCommitValue, 3, { offset: 5n, metadata: 'm', commitTimestamp: 6n })
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeVersioned(offsetCommitValue, bytes.subarray(0, length))).toThrow(CodecError)
    }
  })
})

describe('a key of the offsets topic', () => {
  const key = { group: 'g', topic: 'orders', partition: 3 }

  test('of a committed offset', () => {
    const bytes = encodeOffsetCommitKey(key)
    expect(Buffer.from(bytes).toString('hex')).toBe('0001' + '000167' + '00066f7264657273' + '00000003')
    expect(decodeGroupRecordKey(bytes)).toEqual({ kind: 'offsetCommit', ...key })
    bytes[1] = 0
    expect(decodeGroupRecordKey(bytes)).toEqual({ kind: 'offsetCommit', ...key })
  })

  test('of a group', () => {
    const bytes = encodeGroupMetadataKey({ group: 'g' })
    expect(Buffer.from(bytes).toString('hex')).toBe('0002' + '000167')
    expect(decodeGroupRecordKey(bytes)).toEqual({ kind: 'groupMetadata', group: 'g' })
  })

  test('of a kind that belongs to newer groups', () => {
    expect(decodeGroupRecordKey(Buffer.from('000500', 'hex'))).toEqual({ kind: 'other', type: 5 })
  })

  test('that is none is a CodecError', () => {
    expect(() => decodeGroupRecordKey(Buffer.from('00', 'hex'))).toThrow(CodecError)
    expect(() => decodeGroupRecordKey(Buffer.from('000100', 'hex'))).toThrow(CodecError)
  })
})
