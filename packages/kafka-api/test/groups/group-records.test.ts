import type { GroupRecord } from '@pico/group-coordinator'
import { decodeGroupRecordKey, decodeVersioned, offsetCommitValue } from '@pico/kafka-codec'
import { BatchBuilder, batches, type RecordView, records } from '@pico/record-batch'
import { describe, expect, it } from 'vitest'
import { decodeGroupRecord, encodeGroupRecord } from '../../src/groups/group-records.ts'
import { groupIdOf, groupStreamName, groupStreamPrefix } from '../../src/groups/stream-names.ts'

const topicId = '0c2a0b5e-7d3f-4a53-9a6e-2f8f6d9f1a11'
const groupId = 'billing'

function stored(
  record: GroupRecord,
  topicIds: ReadonlyMap<string, string> = new Map([['orders', topicId]]),
): RecordView {
  const builder = new BatchBuilder()
  builder.append(encodeGroupRecord(record, topicIds, 1_700_000_000_000))
  const [batch] = batches(builder.build())
  const [view] = records(batch!)
  return view!
}

const offset = {
  kind: 'offsetCommit',
  groupId,
  topic: 'orders',
  partition: 3,
  offset: 42,
  leaderEpoch: 7,
  metadata: 'só fär',
  commitTimestampMs: 1_700_000_000_000,
  expireTimestampMs: null,
} as const

describe('a record of a group', () => {
  it.each<[string, GroupRecord, string | null]>([
    ['a committed offset', offset, topicId],
    ['one that expires by itself', { ...offset, leaderEpoch: -1, expireTimestampMs: 1_700_000_360_000 }, topicId],
    ['an offset that is gone', { kind: 'offsetTombstone', groupId, topic: 'orders', partition: 3 }, null],
    ['a group with members', { kind: 'groupMetadata', groupId, protocolType: 'consumer', emptySinceMs: null }, null],
    [
      'an empty group',
      { kind: 'groupMetadata', groupId, protocolType: 'connect', emptySinceMs: 1_700_000_000_000 },
      null,
    ],
    ['a group that is gone', { kind: 'groupDeleted', groupId }, null],
  ])('comes back as it was written: %s', (_, record, ofTopic) => {
    expect(decodeGroupRecord(stored(record))).toEqual({ record, topicId: ofTopic })
  })

  it('need not know the id of its topic', () => {
    for (const expireTimestampMs of [null, 1_700_000_360_000]) {
      const record = { ...offset, leaderEpoch: -1, expireTimestampMs }
      expect(decodeGroupRecord(stored(record, new Map()))).toEqual({ record, topicId: null })
    }
  })

  it('is what Kafka 4.4 would have written', () => {
    const { key, value } = stored(offset)
    expect(decodeGroupRecordKey(key!)).toEqual({ kind: 'offsetCommit', group: groupId, topic: 'orders', partition: 3 })
    expect(decodeVersioned(offsetCommitValue, value!)).toMatchObject({
      version: 4,
      value: { offset: 42n, leaderEpoch: 7, metadata: 'só fär', commitTimestamp: 1_700_000_000_000n, topicId },
    })
    const own = stored({ ...offset, leaderEpoch: -1, expireTimestampMs: 1_700_000_360_000 })
    expect(decodeVersioned(offsetCommitValue, own.value!)).toMatchObject({
      version: 1,
      value: { expireTimestamp: 1_700_000_360_000n },
    })
    expect(stored({ kind: 'groupDeleted', groupId }).value).toBeNull()
  })

  it('of a kind that a later version writes is left alone', () => {
    const key = Buffer.from([0, 3, 0, 1, 0x67])
    expect(decodeGroupRecord({ offset: 0, timestamp: 0, key, value: null, headers: [] })).toBeNull()
  })
})

describe('the stream of a group', () => {
  it.each([
    ['billing', 'billing'],
    ['Team-1_eu.x~', 'Team-1_eu.x~'],
    ['', '%'],
    ['%', '%25'],
    ['.', '%2E'],
    ['..', '%2E%2E'],
    ['...', '...'],
    ['a/b', 'a%2Fb'],
    ['a b?#\u0000', 'a%20b%3F%23%00'],
    ['grüße 🎉', 'gr%C3%BC%C3%9Fe%20%F0%9F%8E%89'],
  ])('of %j has one name, from which the group is known again', (id, segment) => {
    expect(groupStreamName(id)).toBe(groupStreamPrefix + segment)
    expect(groupIdOf(groupStreamPrefix + segment)).toBe(id)
  })

  it('is its own, whatever the group is called', () => {
    const alphabet = ['%', '.', '/', 'a', '2', 'E', '\u0000', 'ü', ' ']
    const ids = new Set([''])
    for (const a of alphabet) {
      ids.add(a)
      for (const b of alphabet) {
        ids.add(a + b)
        for (const c of alphabet) ids.add(a + b + c)
      }
    }
    const names = new Set([...ids].map(groupStreamName))
    expect(names.size).toBe(ids.size)
    for (const id of ids) expect(groupIdOf(groupStreamName(id)!)).toBe(id)
    for (const name of names) expect(name).toMatch(/^\/_sys\/groups\/[^/\s]+$/)
  })

  it('cannot be had by a group whose name is too long, or no text', () => {
    expect(groupStreamName('g'.repeat(1000))).toHaveLength(groupStreamPrefix.length + 1000)
    expect(groupStreamName('g'.repeat(1001))).toBeNull()
    expect(groupStreamName('/'.repeat(334))).toBeNull()
    expect(groupStreamName('\ud800')).toBeNull()
  })
})
