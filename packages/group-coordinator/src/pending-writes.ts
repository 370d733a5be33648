/**
 * Writes take effect, and are answered, in the order they were issued, whatever order their ends are reported in:
 * so memory goes through the same states as a replay of the log, and answers cannot overtake each other.
 */
import { strict as assert } from 'node:assert'
import { armExpiryCheck } from './deadlines.ts'
import { groupErrorCodes } from './error-codes.ts'
import type { WriteCompletedEvent, WriteFailedEvent } from './events.ts'
import type { PendingWrite } from './group-state.ts'
import { fetchReply } from './offset-fetch.ts'
import { applyRecord } from './replay.ts'
import type { Reply, TopicErrors } from './replies.ts'
import type { Transition } from './transition.ts'

export function endWrite(t: Transition, event: WriteCompletedEvent | WriteFailedEvent): void {
  const { group } = t
  const write = group.pendingWrites.get(event.writeToken)
  if (write === undefined || write.outcome !== null) {
    // After an unload ends still come in; before, an unknown token is a bug of the caller's.
    assert(group.unloadedErrorCode !== null, `write ${event.writeToken} of group ${group.groupId} is not on its way`)
    return
  }
  write.outcome = event.kind === 'writeFailed' ? event.errorCode : groupErrorCodes.none
  for (const [writeToken, ended] of group.pendingWrites) {
    if (ended.outcome === null) break
    group.pendingWrites.delete(writeToken)
    conclude(t, ended, ended.outcome)
  }
}

/** Gives up on every write on its way: it may or may not become durable, and is not ours to tell. */
export function abandonWrites(t: Transition, errorCode: number): void {
  const { group } = t
  for (const { reply, fetches } of group.pendingWrites.values()) {
    if (reply !== null) t.replies.push(failed(reply, errorCode))
    for (const { requestToken } of fetches) {
      t.replies.push({ requestToken, kind: 'offsetFetch', response: { errorCode, topics: [] } })
    }
  }
  group.pendingWrites.clear()
}

function conclude(t: Transition, { records, reply, fetches }: PendingWrite, errorCode: number): void {
  const { group } = t
  if (errorCode === groupErrorCodes.none) {
    for (const record of records) applyRecord(group, record)
    const isBare = group.phase === 'Empty' && group.offsets.size === 0
    if (isBare) armExpiryCheck(group, t.nowMs + group.settings.offsetsRetentionCheckIntervalMs)
  } else {
    group.recordedMetadata = null
    if (records.some(({ kind }) => kind === 'groupDeleted')) group.deleting = false
  }
  if (reply !== null) t.replies.push(errorCode === groupErrorCodes.none ? reply : failed(reply, errorCode))
  for (const fetch of fetches) t.replies.push(fetchReply(group, fetch))
}

/** The answer that was prepared for success, turned into the same one with an error. */
function failed(reply: Reply, errorCode: number): Reply {
  switch (reply.kind) {
    case 'offsetCommit':
      return { ...reply, response: { topics: reply.response.topics.map((topic) => failedTopic(topic, errorCode)) } }
    case 'deleteOffsets':
      return { ...reply, response: { errorCode, topics: [] } }
    case 'deleteGroup':
      return { ...reply, response: { errorCode } }
    case 'join':
    case 'sync':
    case 'heartbeat':
    case 'leave':
    case 'offsetFetch':
      assert.fail(`${reply.kind} waits for no write`)
  }
}

/** A partition that was refused keeps its own reason. */
function failedTopic({ topic, partitions }: TopicErrors, errorCode: number): TopicErrors {
  return {
    topic,
    partitions: partitions.map(({ partition, errorCode: own }) => ({
      partition,
      errorCode: own === groupErrorCodes.none ? errorCode : own,
    })),
  }
}
