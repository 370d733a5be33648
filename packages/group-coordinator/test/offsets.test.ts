import { describe, expect, it } from 'vitest'
import { GroupDriver } from './driver.ts'

const second = { memberId: '', groupInstanceId: null }

describe('OffsetCommit', () => {
  it('of a simple consumer creates the group', () => {
    const group = new GroupDriver()
    expect(group.commitCode(group.commit({ t: 5 }))).toBe(0)
    expect(group.state).toMatchObject({ phase: 'Empty', protocolType: null })
    expect(group.offsets()).toEqual({ t: 5 })
  })

  it.each([
    [69, 'GROUP_ID_NOT_FOUND since v9'],
    [22, 'ILLEGAL_GENERATION before v9'],
  ] as const)('of a member of a group that does not exist is %i: %s', (unknownGroupErrorCode, _) => {
    const group = new GroupDriver()
    expect(group.commitCode(group.commit({ t: 5 }, { generationId: 1, memberId: 'm', unknownGroupErrorCode }))).toBe(
      unknownGroupErrorCode,
    )
    expect(group.state.phase).toBe('Dead')
  })

  it('with an empty group id is accepted, for simple consumers of old', () => {
    const group = new GroupDriver({}, '')
    expect(group.commitCode(group.commit({ t: 5 }))).toBe(0)
  })

  it.each([
    ['of a member in its generation', {}, 0],
    ['of a member in another generation', { generationId: 1 }, 22],
    ['of a member that names no generation', { generationId: -1 }, 22],
    ['of an unknown member', { memberId: 'stranger' }, 25],
    ['of nobody in particular', { ...second, generationId: -1 }, 25],
    ['of a generation without a member', second, 25],
    ['of an unknown instance', { groupInstanceId: 'i' }, 25],
  ])('%s, in a stable group, is answered with its code', (_, fields, errorCode) => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({}, {})
    expect(group.commitCode(group.commit({ t: 5 }, { memberId: a, generationId: 2, ...fields }))).toBe(errorCode)
    expect(group.offsets()).toEqual(errorCode === 0 ? { t: 5 } : {})
  })

  it('to an empty group is for anybody without a generation, and for no former member', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.leave({ memberId: a })
    expect(group.commitCode(group.commit({ t: 5 }, { memberId: 'whoever' }))).toBe(0)
    expect(group.commitCode(group.commit({ t: 6 }, { memberId: a, generationId: 2 }))).toBe(25)
    expect(group.offsets()).toEqual({ t: 5 })
  })

  it('while members join is accepted from a member of the last generation', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.join()
    expect(group.commitCode(group.commit({ t: 5 }, { memberId: a, generationId: 1 }))).toBe(0)
  })

  it('while the group completes a rebalance is REBALANCE_IN_PROGRESS', () => {
    const group = new GroupDriver()
    const { memberId } = group.reply(group.join(), 'join')
    expect(group.commitCode(group.commit({ t: 5 }, { memberId, generationId: 1 }))).toBe(27)
  })

  it('renews the session of its member', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    for (let i = 0; i < 3; i++) {
      group.advance(9_000)
      expect(group.commitCode(group.commit({ t: i }, { memberId: a, generationId: 1 }))).toBe(0)
    }
    expect(group.state.phase).toBe('Stable')
  })

  it('refuses metadata that is too long for its partition alone', () => {
    const group = new GroupDriver({ offsetMetadataMaxBytes: 4 })
    const partition = (partition: number, metadata: string | null) => ({
      partition,
      offset: 1,
      leaderEpoch: -1,
      metadata,
    })
    const topics = [{ topic: 't', partitions: [partition(0, 'four'), partition(1, 'fives'), partition(2, null)] }]
    const codes = group.reply(group.commit({}, { topics }), 'offsetCommit').topics[0]?.partitions
    expect(codes?.map(({ errorCode }) => errorCode)).toEqual([0, 12, 0])
    expect(group.reply(group.fetch(), 'offsetFetch').topics[0]?.partitions.map(({ partition }) => partition)).toEqual([
      0, 2,
    ])
  })

  it('with nothing left to write is answered without a write', () => {
    const group = new GroupDriver({ offsetMetadataMaxBytes: 0 })
    group.holdWrites = true
    const topics = [{ topic: 't', partitions: [{ partition: 0, offset: 1, leaderEpoch: -1, metadata: 'x' }] }]
    expect(group.commitCode(group.commit({}, { topics }))).toBe(12)
    expect(group.reply(group.commit({}), 'offsetCommit')).toEqual({ topics: [] })
  })

  it.each([0, -1, -5, 2 ** 53 - 1])('does not judge the offset %i', (offset) => {
    const group = new GroupDriver()
    expect(group.commitCode(group.commit({ t: offset }))).toBe(0)
    expect(group.offsets()).toEqual({ t: offset })
  })
})

describe('an offset commit', () => {
  it('is answered, and seen, when its records are durable and not before', () => {
    const group = new GroupDriver()
    group.holdWrites = true
    const token = group.commit({ t: 5 })
    expect(group.isAnswered(token)).toBe(false)
    expect(group.state.offsets.size).toBe(0)
    group.completeWrite()
    expect(group.commitCode(token)).toBe(0)
    expect(group.offsets()).toEqual({ t: 5 })
  })

  it('is written with what the client said and when it said it', () => {
    const group = new GroupDriver()
    const topics = [{ topic: 't', partitions: [{ partition: 3, offset: 9, leaderEpoch: 4, metadata: 'm' }] }]
    group.commit({}, { topics, retentionTimeMs: 500 })
    expect(group.log).toEqual([
      {
        kind: 'offsetCommit',
        groupId: 'g',
        topic: 't',
        partition: 3,
        offset: 9,
        leaderEpoch: 4,
        metadata: 'm',
        commitTimestampMs: group.nowMs,
        expireTimestampMs: group.nowMs + 500,
      },
    ])
  })

  it('whose write fails is refused with the code given, and changes nothing', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    group.holdWrites = true
    const token = group.commit({ t: 5 })
    group.failWrite(16)
    expect(group.commitCode(token)).toBe(16)
    expect(group.offsets()).toEqual({ t: 1 })
  })

  it('whose write fails keeps the reason of a partition that had one', () => {
    const group = new GroupDriver({ offsetMetadataMaxBytes: 0 })
    group.holdWrites = true
    const partition = (partition: number, metadata: string) => ({ partition, offset: 1, leaderEpoch: -1, metadata })
    const token = group.commit({}, { topics: [{ topic: 't', partitions: [partition(0, ''), partition(1, 'x')] }] })
    group.failWrite(15)
    const codes = group.reply(token, 'offsetCommit').topics[0]?.partitions.map(({ errorCode }) => errorCode)
    expect(codes).toEqual([15, 12])
  })

  it('takes effect in the order of the log, even if its end is reported out of order', () => {
    const group = new GroupDriver()
    group.holdWrites = true
    const first = group.commit({ t: 1 })
    const later = group.commit({ t: 2 })
    const [one, two] = group.held
    group.send({ kind: 'writeCompleted', writeToken: two?.writeToken ?? 0 })
    expect([first, later].map((token) => group.isAnswered(token))).toEqual([false, false])
    group.send({ kind: 'writeCompleted', writeToken: one?.writeToken ?? 0 })
    expect([first, later].map((token) => group.commitCode(token))).toEqual([0, 0])
    expect(group.offsets()).toEqual({ t: 2 })
  })

  it('cannot end twice: that is a bug of the caller', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    expect(() => group.send({ kind: 'writeCompleted', writeToken: 1 })).toThrow(/write 1 of group g is not on its way/)
  })
})

describe('OffsetFetch', () => {
  it('of what was never committed is offset -1 and no error, in any group or none', () => {
    const group = new GroupDriver()
    const token = group.fetch([{ topic: 't', partitions: [0, 9] }])
    const nothing = { offset: -1, leaderEpoch: -1, metadata: '' }
    expect(group.reply(token, 'offsetFetch')).toEqual({
      errorCode: 0,
      topics: [
        {
          topic: 't',
          partitions: [
            { partition: 0, ...nothing },
            { partition: 9, ...nothing },
          ],
        },
      ],
    })
    expect(group.state.phase).toBe('Dead')
  })

  it('answers the leader epoch and metadata that were committed', () => {
    const group = new GroupDriver()
    const topics = [{ topic: 't', partitions: [{ partition: 1, offset: 9, leaderEpoch: 4, metadata: 'm' }] }]
    group.commit({}, { topics })
    expect(group.reply(group.fetch(), 'offsetFetch').topics).toEqual(topics)
  })

  it('without topics is every partition that has an offset, and only those', () => {
    const group = new GroupDriver()
    group.commit({ t: 1, u: 2 })
    group.deleteOffsets('u')
    expect(group.offsets()).toEqual({ t: 1 })
  })

  it('waits for the commits that came before it, so that who takes over starts where the last one left', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    group.holdWrites = true
    group.commit({ t: 2 })
    const fetch = group.fetch()
    group.commit({ t: 3 })
    expect(group.isAnswered(fetch)).toBe(false)
    group.completeWrite()
    expect(group.reply(fetch, 'offsetFetch').topics[0]?.partitions[0]?.offset).toBe(2)
  })

  it('is answered from what is durable when the commit it waited for fails', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    group.holdWrites = true
    group.commit({ t: 2 })
    const fetch = group.fetch()
    group.failWrite(15)
    expect(group.reply(fetch, 'offsetFetch').topics[0]?.partitions[0]?.offset).toBe(1)
  })
})
