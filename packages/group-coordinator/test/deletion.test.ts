import { describe, expect, it } from 'vitest'
import { GroupDriver } from './driver.ts'
import { subscription } from './subscription.ts'

const consuming = (...topics: string[]) => ({ protocols: [{ name: 'range', metadata: subscription(...topics) }] })

/** An empty consumer group with an offset. */
function emptied(): GroupDriver {
  const group = new GroupDriver()
  const [a = ''] = group.stable(consuming('t'))
  group.commit({ t: 1 }, { memberId: a, generationId: 1 })
  group.leave({ memberId: a })
  return group
}

describe('DeleteGroups', () => {
  it('of a group that does not exist is GROUP_ID_NOT_FOUND', () => {
    const group = new GroupDriver()
    expect(group.reply(group.deleteGroup(), 'deleteGroup').errorCode).toBe(69)
  })

  it.each(['Stable', 'PreparingRebalance', 'CompletingRebalance'])(
    'of a group that is %s is NON_EMPTY_GROUP',
    (phase) => {
      const group = new GroupDriver()
      const [a = ''] = group.stable({}, {})
      if (phase !== 'Stable') group.leave({ memberId: a })
      if (phase === 'CompletingRebalance') group.join({ memberId: [...group.state.members.keys()][0] ?? '' })
      expect(group.state.phase).toBe(phase)
      expect(group.reply(group.deleteGroup(), 'deleteGroup').errorCode).toBe(68)
    },
  )

  it('is answered when the deletion is durable; until then the group is dead but its offsets are there', () => {
    const group = emptied()
    group.holdWrites = true
    const deletion = group.deleteGroup()
    expect(group.isAnswered(deletion)).toBe(false)
    expect(group.reply(group.deleteGroup(), 'deleteGroup').errorCode).toBe(69)
    expect(group.reply(group.deleteOffsets('t'), 'deleteOffsets').errorCode).toBe(69)
    expect(group.reply(group.join(), 'join').errorCode).toBe(15)
    expect(group.heartbeat('m')).toBe(15)
    expect(group.reply(group.sync({ memberId: 'm' }), 'sync').errorCode).toBe(15)
    expect(group.leave({ memberId: 'm' })).toEqual({ errorCode: 15, members: [] })
    expect(group.commitCode(group.commit({ t: 2 }))).toBe(15)
    group.completeWrite()
    expect(group.reply(deletion, 'deleteGroup').errorCode).toBe(0)
    expect(group.state.phase).toBe('Dead')
    expect(group.offsets()).toEqual({})
  })

  it('whose write fails leaves the group as it was', () => {
    const group = emptied()
    group.holdWrites = true
    const deletion = group.deleteGroup()
    group.failWrite(15)
    expect(group.reply(deletion, 'deleteGroup').errorCode).toBe(15)
    group.holdWrites = false
    expect(group.offsets()).toEqual({ t: 1 })
    expect(group.reply(group.join(), 'join').errorCode).toBe(0)
  })

  it('stays done after a restart, and so do the offsets of the group that follows', () => {
    const group = emptied()
    group.deleteGroup()
    group.restart()
    expect(group.state.phase).toBe('Dead')
    group.commit({ u: 9 })
    group.restart()
    expect(group.offsets()).toEqual({ u: 9 })
    expect(group.state.protocolType).toBeNull()
  })

  it('of a group that never wrote anything writes nothing', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({})
    group.leave({ memberId: a })
    expect(group.reply(group.deleteGroup(), 'deleteGroup').errorCode).toBe(0)
    expect(group.log).toEqual([])
  })

  it('includes a commit that was on its way', () => {
    const group = emptied()
    group.holdWrites = true
    const commit = group.commit({ late: 1 })
    group.deleteGroup()
    group.completeWrite()
    group.completeWrite()
    expect(group.commitCode(commit)).toBe(0)
    expect(group.offsets()).toEqual({})
    group.restart()
    expect(group.state.phase).toBe('Dead')
  })
})

describe('OffsetDelete', () => {
  it('in a group that does not exist is GROUP_ID_NOT_FOUND, with an empty group id INVALID_GROUP_ID', () => {
    const missing = new GroupDriver()
    expect(missing.reply(missing.deleteOffsets('t'), 'deleteOffsets')).toEqual({ errorCode: 69, topics: [] })
    const nameless = new GroupDriver({}, '')
    expect(nameless.reply(nameless.deleteOffsets('t'), 'deleteOffsets').errorCode).toBe(24)
  })

  it('of a group with members that are no consumers is NON_EMPTY_GROUP', () => {
    const group = new GroupDriver()
    group.stable({ protocolType: 'connect' })
    expect(group.reply(group.deleteOffsets('t'), 'deleteOffsets').errorCode).toBe(68)
  })

  it('of a topic that the group is subscribed to is GROUP_SUBSCRIBED_TO_TOPIC, of others it is done', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable(consuming('t'))
    group.commit({ t: 1, u: 2 }, { memberId: a, generationId: 1 })
    expect(group.reply(group.deleteOffsets('t', 'u', 'never'), 'deleteOffsets')).toEqual({
      errorCode: 0,
      topics: [
        { topic: 't', partitions: [{ partition: 0, errorCode: 86 }] },
        { topic: 'u', partitions: [{ partition: 0, errorCode: 0 }] },
        { topic: 'never', partitions: [{ partition: 0, errorCode: 0 }] },
      ],
    })
    expect(group.offsets()).toEqual({ t: 1 })
  })

  it('takes a consumer group whose subscription does not read for one that is subscribed to everything', () => {
    const group = new GroupDriver()
    const [a = ''] = group.stable({ protocols: [{ name: 'range', metadata: new Uint8Array(1) }] })
    group.commit({ u: 2 }, { memberId: a, generationId: 1 })
    const answer = group.reply(group.deleteOffsets('u'), 'deleteOffsets')
    expect(answer.topics[0]?.partitions[0]?.errorCode).toBe(86)
  })

  it('of an empty group is done whatever it was subscribed to, and stays done after a restart', () => {
    const group = emptied()
    expect(group.reply(group.deleteOffsets('t'), 'deleteOffsets').errorCode).toBe(0)
    group.restart()
    expect(group.offsets()).toEqual({})
    expect(group.state.phase).toBe('Empty')
  })

  it('is answered when it is durable, and refused with the code of a write that failed', () => {
    const group = emptied()
    group.holdWrites = true
    const token = group.deleteOffsets('t')
    expect(group.isAnswered(token)).toBe(false)
    group.failWrite(15)
    expect(group.reply(token, 'deleteOffsets')).toEqual({ errorCode: 15, topics: [] })
    expect(group.offsets()).toEqual({ t: 1 })
  })
})

describe('the deletion of a topic', () => {
  it('takes the offsets of its partitions along, those on their way included', () => {
    const group = new GroupDriver()
    group.commit({ t: 1, u: 1 })
    group.holdWrites = true
    const partitions = [{ partition: 5, offset: 1, leaderEpoch: -1, metadata: null }]
    const commit = group.commit({}, { topics: [{ topic: 't', partitions }] })
    group.send({ kind: 'topicsDeleted', topics: ['t', 'other'] })
    group.completeWrite()
    group.completeWrite()
    expect(group.commitCode(commit)).toBe(0)
    expect(group.offsets()).toEqual({ u: 1 })
    group.restart()
    expect(group.offsets()).toEqual({ u: 1 })
  })

  it('writes nothing while the group is being deleted', () => {
    const group = new GroupDriver()
    group.commit({ t: 1 })
    group.holdWrites = true
    group.deleteGroup()
    group.send({ kind: 'topicsDeleted', topics: ['t'] })
    expect(group.held).toHaveLength(1)
  })

  it('writes nothing where there is nothing', () => {
    const group = new GroupDriver()
    group.send({ kind: 'topicsDeleted', topics: ['t'] })
    expect(group.log).toEqual([])
    expect(group.state.phase).toBe('Dead')
  })
})
