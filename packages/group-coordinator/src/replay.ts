import { strict as assert } from 'node:assert'
import { armExpiryCheck } from './deadlines.ts'
import { currentMetadata } from './group-metadata.ts'
import { type GroupState, newGroup } from './group-state.ts'
import type { GroupRecord, OffsetCommitRecord } from './records.ts'

/**
 * Takes in one durable record, in the order of the log, before the group is served. Its members are those of the last
 * coordinator's memory and gone; to them this is an ordinary rebalance.
 */
export function replay(state: GroupState, record: GroupRecord): GroupState {
  assert(state.members.size === 0 && state.pendingWrites.size === 0, 'a group is replayed before it is served')
  assert(record.groupId === state.groupId, 'a log holds the records of one group')
  applyRecord(state, record)
  state.isLogged = record.kind !== 'groupDeleted'
  if (record.kind === 'groupMetadata') {
    const { protocolType, emptySinceMs } = record
    if (state.phase === 'Dead') state.phase = 'Empty'
    Object.assign(state, { protocolType, emptySinceMs, recordedMetadata: { protocolType, emptySinceMs } })
  }
  return state
}

/** What a record does to the durable part of a group: in a replay, and to a served group once it is durable. */
export function applyRecord(group: GroupState, record: GroupRecord): void {
  switch (record.kind) {
    case 'offsetCommit':
      if (group.phase === 'Dead') group.phase = 'Empty'
      putOffset(group, record)
      return
    case 'offsetTombstone': {
      const offsets = group.offsets.get(record.topic)
      offsets?.delete(record.partition)
      if (offsets?.size === 0) group.offsets.delete(record.topic)
      return
    }
    case 'groupDeleted':
      forget(group)
      return
    case 'groupMetadata': // A served group knows this better than its log.
      return
  }
}

/**
 * The records that say what every write issued so far says: append them after those, then the log before them may go.
 * Right only in a log where no write can succeed after an earlier one has failed.
 */
export function snapshot(state: GroupState): GroupRecord[] {
  if (state.deleting) return []
  const { groupId } = state
  const copy = withPendingWrites(state)
  const records: GroupRecord[] = copy.offsets.size === 0 ? [] : [...currentMetadata(state)]
  for (const [topic, offsets] of copy.offsets) {
    for (const [partition, committed] of offsets) {
      records.push({ kind: 'offsetCommit', groupId, topic, partition, ...committed })
    }
  }
  return records
}

function withPendingWrites(state: GroupState): GroupState {
  if (state.pendingWrites.size === 0) return state
  const copy = newGroup(state.groupId, state.settings)
  for (const [topic, offsets] of state.offsets) copy.offsets.set(topic, new Map(offsets))
  for (const { records } of state.pendingWrites.values()) for (const record of records) applyRecord(copy, record)
  return copy
}

function putOffset(group: GroupState, record: OffsetCommitRecord): void {
  const { topic, partition, offset, leaderEpoch, metadata, commitTimestampMs, expireTimestampMs } = record
  let offsets = group.offsets.get(topic)
  if (offsets === undefined) {
    offsets = new Map()
    group.offsets.set(topic, offsets)
  }
  offsets.set(partition, { offset, leaderEpoch, metadata, commitTimestampMs, expireTimestampMs })
  armExpiryCheck(group, expireTimestampMs ?? commitTimestampMs + group.settings.offsetsRetentionMs)
}

/** Back to what `newGroup` says, but for the write tokens. Deletion is only let through while there are no members. */
export function forget(group: GroupState): void {
  assert(group.members.size === 0, 'a group with members is not deleted')
  const { groupId, settings, pendingWrites, nextWriteToken, unloadedErrorCode, ...fresh } = newGroup(
    group.groupId,
    group.settings,
  )
  Object.assign(group, fresh)
}
