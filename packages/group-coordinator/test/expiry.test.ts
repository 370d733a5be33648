import { describe, expect, it } from 'vitest'
import { bytes, GroupDriver } from './driver.ts'
import { subscription } from './subscription.ts'

const dayMs = 24 * 3_600_000
const retentionMs = 7 * dayMs
const checkMs = 600_000

const consuming = (...topics: string[]) => ({ protocols: [{ name: 'range', metadata: subscription(...topics) }] })

/** Members that heartbeat for this long. */
function live(group: GroupDriver, ids: readonly string[], ms: number): void {
  const stepMs = 1_000_000
  for (let passed = 0; passed < ms; passed += stepMs) {
    group.advance(Math.min(stepMs, ms - passed))
    for (const memberId of ids) expect(group.heartbeat(memberId)).toBe(0)
  }
}

const patient = { sessionTimeoutMs: 1_800_000 }

describe('offsets of a simple group', () => {
  it('expire seven days after each was committed, and the group with the last of them', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    group.advance(dayMs)
    group.commit({ u: 1 })
    group.advance(retentionMs - dayMs - 1)
    expect(group.offsets()).toEqual({ t: 1, u: 1 })
    group.advance(1)
    expect(group.offsets()).toEqual({ u: 1 })
    group.advance(dayMs)
    expect(group.state.phase).toBe('Dead')
    expect(group.state.nextDeadlineMs).toBe(Number.POSITIVE_INFINITY)
  })

  it('live on when they are committed again', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    group.advance(retentionMs - 1)
    group.commit({ t: 2 })
    group.advance(dayMs)
    expect(group.offsets()).toEqual({ t: 2 })
  })

  it('live as long as the request said, where it said so (v2 to v4)', () => {
    const group = new GroupDriver()
    group.commit({ short: 1 }, { retentionTimeMs: 1_000 })
    group.commit({ long: 1 }, { retentionTimeMs: 2 * retentionMs })
    group.advance(1_000)
    expect(group.offsets()).toEqual({ long: 1 })
    group.advance(2 * retentionMs - 1_001)
    expect(group.offsets()).toEqual({ long: 1 })
    group.advance(checkMs)
    expect(group.state.phase).toBe('Dead')
  })

  it('are looked at no more often than the check interval', () => {
    const group = new GroupDriver({ offsetsRetentionMs: 1_000 })
    group.commit({ t: 1 })
    group.advance(500)
    group.commit({ u: 1 })
    group.advance(500)
    expect(group.offsets()).toEqual({ u: 1 })
    group.advance(checkMs - 1)
    expect(group.offsets()).toEqual({ u: 1 })
    group.advance(1)
    expect(group.state.phase).toBe('Dead')
  })
})

describe('offsets of a consumer group', () => {
  it('do not expire while it is subscribed to their topic, however old', () => {
    const group = new GroupDriver()
    const ids = group.stable({ ...consuming('t'), ...patient })
    group.commit({ t: 1, gone: 1 }, { memberId: ids[0] ?? '', generationId: 1 })
    live(group, ids, retentionMs - 1)
    expect(group.offsets()).toEqual({ t: 1, gone: 1 })
    live(group, ids, checkMs)
    expect(group.offsets()).toEqual({ t: 1 })
    live(group, ids, retentionMs)
    expect(group.offsets()).toEqual({ t: 1 })
  })

  it('expire when it is subscribed to their topic no longer, however long it was', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({ ...consuming('t', 'gone'), ...patient })
    group.commit({ t: 1, gone: 1 }, { memberId: a, generationId: 1 })
    live(group, [a], retentionMs + dayMs)
    expect(group.offsets()).toEqual({ t: 1, gone: 1 })
    group.join({ memberId: a, ...consuming('t'), ...patient })
    group.sync({ memberId: a })
    live(group, [a], checkMs - 1)
    expect(group.offsets()).toEqual({ t: 1, gone: 1 })
    live(group, [a], 1)
    expect(group.offsets()).toEqual({ t: 1 })
  })

  it('do not expire while it rebalances', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({ ...consuming('t'), ...patient })
    group.commit({ gone: 1 }, { memberId: a, generationId: 1 })
    live(group, [a], retentionMs - 1)
    group.join({ memberId: a, ...consuming('t'), ...patient })
    expect(group.state.phase).toBe('CompletingRebalance')
    group.advance(1)
    expect(group.offsets()).toEqual({ gone: 1 })
    group.sync({ memberId: a })
    live(group, [a], checkMs)
    expect(group.offsets()).toEqual({})
  })

  it('do not expire while it has members whose subscription does not read', () => {
    const group = new GroupDriver()
    const ids = group.stable({ ...patient, protocols: [{ name: 'range', metadata: bytes('?') }] })
    group.commit({ t: 1 }, { memberId: ids[0] ?? '', generationId: 1 })
    live(group, ids, 2 * retentionMs)
    expect(group.offsets()).toEqual({ t: 1 })
  })

  it('expire seven days after the last member is gone, not after the commit', () => {
    const group = new GroupDriver()
    const ids = group.stable({ ...consuming('t'), ...patient })
    group.commit({ t: 1 }, { memberId: ids[0] ?? '', generationId: 1 })
    live(group, ids, 3 * dayMs)
    group.leave({ memberId: ids[0] ?? '' })
    group.advance(retentionMs - 1)
    expect(group.offsets()).toEqual({ t: 1 })
    group.advance(1)
    expect(group.state.phase).toBe('Dead')
    expect(group.log.at(-1)).toEqual({ kind: 'groupDeleted', groupId: 'g' })
  })

  it('keep that date when the coordinator moves', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({ ...consuming('t'), ...patient })
    group.commit({ t: 1 }, { memberId: a, generationId: 1 })
    live(group, [a], 6 * dayMs)
    group.leave({ memberId: a })
    group.advance(3 * dayMs)
    group.restart()
    group.advance(4 * dayMs - 1)
    expect(group.offsets()).toEqual({ t: 1 })
    group.advance(1)
    expect(group.state.phase).toBe('Dead')
  })

  it('have seven days from the move of a coordinator that had members, if none comes back', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({ ...consuming('t'), ...patient })
    group.commit({ t: 1 }, { memberId: a, generationId: 1 })
    live(group, [a], 8 * dayMs)
    group.restart()
    expect(group.state).toMatchObject({ phase: 'Empty', protocolType: 'consumer' })
    group.advance(retentionMs - 1)
    expect(group.offsets()).toEqual({ t: 1 })
    group.advance(1)
    expect(group.state.phase).toBe('Dead')
  })

  it('have no date while it has members again, whatever the log said before', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({ ...consuming('t'), ...patient })
    group.commit({ t: 1 }, { memberId: a, generationId: 1 })
    group.leave({ memberId: a })
    group.advance(6 * dayMs)
    group.stable({ ...consuming('t'), ...patient })
    group.advance(2 * dayMs) // The member dies in that time, and the coordinator before it has noticed.
    group.restart()
    group.advance(dayMs)
    expect(group.offsets()).toEqual({ t: 1 })
  })
})

describe('offsets of a group of another type', () => {
  it('do not expire while it has members', () => {
    const group = new GroupDriver()
    const ids = group.stable({ protocolType: 'connect', ...patient })
    group.commit({ t: 1 }, { memberId: ids[0] ?? '', generationId: 1, retentionTimeMs: 5 })
    live(group, ids, 2 * retentionMs)
    expect(group.offsets()).toEqual({ t: 1 })
  })
})

describe('expiry', () => {
  it('does not judge by an old commit while a new one is on its way', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    group.advance(retentionMs - 1)
    group.holdWrites = true
    group.commit({ t: 2 })
    group.advance(1)
    expect(group.held).toHaveLength(1)
    group.completeWrite()
    group.advance(dayMs)
    expect(group.offsets()).toEqual({ t: 2 })
  })

  it('removes an empty group without offsets at the next look, and writes nothing of one that was never written', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.leave({ memberId: a })
    group.advance(checkMs - 1)
    expect(group.state.phase).toBe('Empty')
    group.advance(1)
    expect(group.state.phase).toBe('Dead')
    expect(group.log).toEqual([])
  })

  it('removes an empty group at the next look after its last offset was deleted', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    group.deleteOffsets('t')
    group.advance(checkMs - 1)
    expect(group.state.phase).toBe('Empty')
    group.advance(1)
    expect(group.state.phase).toBe('Dead')
    expect(group.log.map(({ kind }) => kind)).toEqual(['offsetCommit', 'offsetTombstone', 'groupDeleted'])
  })

  it('does not remove a group in which somebody has reserved an id', () => {
    const group = new GroupDriver()
    const { memberId } = group.reply(group.join({ requireKnownMemberId: true, sessionTimeoutMs: 1_800_000 }), 'join')
    group.advance(checkMs)
    expect(group.reply(group.join({ memberId }), 'join').errorCode).toBe(0)
  })

  it('removes a group whose reserved ids have lapsed and that never had a member', () => {
    const group = new GroupDriver()
    group.join({ requireKnownMemberId: true })
    group.advance(2 * checkMs)
    expect(group.state).toMatchObject({ phase: 'Dead', nextDeadlineMs: Number.POSITIVE_INFINITY })
  })

  it('tells whoever joins while the end of a group is being written to come again', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    group.holdWrites = true
    group.advance(retentionMs)
    expect(group.reply(group.join(), 'join').errorCode).toBe(15)
    group.completeWrite()
    expect(group.reply(group.join(), 'join')).toMatchObject({ errorCode: 0, generationId: 1 })
    expect(group.offsets()).toEqual({})
  })
})
