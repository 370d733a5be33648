import type { GroupRecord, OffsetCommitRecord } from '@pico/group-coordinator'
import { BatchBuilder } from '@pico/record-batch'
import { afterEach, describe, expect, it } from 'vitest'
import { encodeGroupRecord } from '../../src/groups/group-records.ts'
import { HostSystem, settled } from './host-system.ts'

let system: HostSystem
afterEach(() => system.close())

const groupId = 'billing'
const startMs = 1_700_000_000_000

function offsetRecord(offset: number, partition = 0): OffsetCommitRecord {
  const rest = { leaderEpoch: -1, metadata: '', commitTimestampMs: startMs, expireTimestampMs: null }
  return { kind: 'offsetCommit', groupId, topic: 'orders', partition, offset, ...rest }
}

/** Writes records as the host would, past the host. */
async function write(...records: readonly GroupRecord[]): Promise<void> {
  const stream = await system.system.streams.internal.openOrCreate(`/_sys/groups/${groupId}`)
  if (typeof stream === 'string') throw new Error(stream)
  const builder = new BatchBuilder()
  const topicIds = new Map([['orders', system.topicId]])
  for (const record of records) builder.append(encodeGroupRecord(record, topicIds, startMs))
  const { accepted, refused } = stream.append(builder.build(), { zstdAllowed: true })
  if (refused !== undefined) throw new Error(refused.message)
  await accepted.committed
}

describe('the log of a group', () => {
  it('stays short through 100,000 commits, and says what the last one said', async () => {
    system = await HostSystem.open()
    const commits = 100_000
    const atATime = 500
    let longest = 0
    for (let done = 0; done < commits; done += atATime) {
      const answers = Array.from({ length: atATime }, (_, index) => system.commit(done + index))
      expect(new Set(await Promise.all(answers))).toEqual(new Set([0]))
      const { startOffset, highWatermark } = await system.stream()
      longest = Math.max(longest, highWatermark - startOffset)
    }
    await settled()
    const { snapshotRecordsMin } = system.settings
    // A snapshot is written after so many records and takes effect a flush or two later.
    expect(longest).toBeLessThanOrEqual(snapshotRecordsMin + 3 * atATime)
    await system.restart()
    const { startOffset, highWatermark } = await system.stream()
    expect(highWatermark).toBeGreaterThan(commits)
    expect(highWatermark - startOffset).toBeLessThanOrEqual(snapshotRecordsMin + atATime)
    expect(await system.committed()).toBe(commits - 1)
    expect(system.failures).toEqual([])
  }, 60_000)

  it('grows with the offsets that a group has, and not with its commits', async () => {
    const streams = { partitionsMax: 2000 }
    system = await HostSystem.open({ snapshotRecordsMin: 100 }, { streams })
    const created = await system.system.streams.createTopic({
      name: 'wide',
      partitions: 2000,
      config: {},
      validateOnly: false,
    })
    const topicIds = new Map([['wide', created.created!.topicId]])
    const metadata = 'm'.repeat(1500) // the snapshot takes several batches
    for (let round = 0; round < 12; round++) {
      const partitions = Array.from({ length: 2000 }, (_, partition) => {
        return { partition, offset: round, leaderEpoch: round, metadata }
      })
      const call = { kind: 'offsetCommit', memberId: '', groupInstanceId: null, generationId: -1 } as const
      const rest = {
        retentionTimeMs: null,
        unknownGroupErrorCode: 69,
        topics: [{ topic: 'wide', partitions }],
      } as const
      await system.host.commit(groupId, { ...call, ...rest }, topicIds)
      await settled()
    }
    const { startOffset, highWatermark } = await system.stream()
    expect(startOffset).toBeGreaterThan(0)
    expect(highWatermark - startOffset).toBeLessThanOrEqual(2000 + 5 * 2000)
    await system.restart({ streams })
    const { topics } = await system.host.ask(groupId, { kind: 'offsetFetch', topics: null })
    expect(topics[0]?.partitions).toHaveLength(2000)
    expect(new Set(topics[0]?.partitions.map(({ offset, leaderEpoch }) => `${offset} ${leaderEpoch}`))).toEqual(
      new Set(['11 11']),
    )
    expect(system.failures).toEqual([])
  })

  it('says the same when the coordinator dies between a snapshot and its trim, or in the middle of one', async () => {
    system = await HostSystem.open()
    await write(offsetRecord(1), offsetRecord(10, 1), {
      kind: 'groupMetadata',
      groupId,
      protocolType: 'consumer',
      emptySinceMs: startMs,
    })
    await write({ kind: 'offsetTombstone', groupId, topic: 'orders', partition: 1 }, offsetRecord(2))
    await write(offsetRecord(2)) // a snapshot whose second half is missing
    await system.restart()
    expect(await system.host.ask(groupId, { kind: 'offsetFetch', topics: null })).toMatchObject({
      topics: [{ topic: 'orders', partitions: [{ partition: 0, offset: 2 }] }],
    })
    expect(await system.host.describe(groupId)).toMatchObject({ picture: { protocolType: 'consumer' } })
  })

  it('that ends with the end of the group is deleted by whoever looks at it next', async () => {
    system = await HostSystem.open()
    await write(offsetRecord(1))
    await write({ kind: 'groupDeleted', groupId })
    await system.restart()
    expect(await system.host.list()).toEqual({ errorCode: 0, picture: [] })
    await expect.poll(() => system.streamNames()).toEqual([])
  })

  it('is not cut when a snapshot could not be written, and is when the next one can', async () => {
    system = await HostSystem.open({ snapshotRecordsMin: 10 })
    for (let offset = 0; offset < 9; offset++) await system.commit(offset)
    // The tenth commit makes the snapshot due once it is durable: only the write of the snapshot fails.
    const tenth = system.commit(9)
    await tenth.then(() => system.system.failFlushes())
    const failed = await system.commit(10)
    expect([0, 15]).toContain(failed)
    system.system.store.heal()
    for (let offset = 20; offset < 60; offset++) expect(await system.commit(offset)).toBe(0)
    await settled()
    const { startOffset, highWatermark } = await system.stream()
    expect(highWatermark - startOffset).toBeLessThanOrEqual(25)
    await system.restart()
    expect(await system.committed()).toBe(59)
  })

  it('that holds anything but records of its group is not guessed at: the group is an error, and its log stays', async () => {
    system = await HostSystem.open()
    await write(offsetRecord(1))
    const stream = await system.stream()
    const builder = new BatchBuilder()
    builder.append({ key: Buffer.from([0, 1, 0, 5]), value: 'half a key', timestamp: startMs })
    await stream.append(builder.build(), { zstdAllowed: true }).accepted?.committed
    await system.restart()
    await expect(system.committed()).rejects.toThrow('error -1')
    expect(system.failures).toMatchObject([
      { code: 'PICO_KAFKA_GROUP_LOG_UNREADABLE', message: expect.stringContaining('offset 1') },
    ])
    expect((await system.stream()).highWatermark).toBe(2)
    expect(system.host.hostedGroups).toBe(0)
  })
})
