/**
 * OffsetFetch. Never an error for what was never committed, and open to anybody, member or not.
 *
 * It waits for the commits that came before it, so a member that takes over a partition starts where the last one left,
 * even if that commit is still on its way to the log. Kafka does so with `require_stable` (KIP-447), which modern
 * clients always set; here the flag changes nothing.
 */
import { groupErrorCodes } from './error-codes.ts'
import type { OffsetFetchEvent, TopicPartitions } from './events.ts'
import type { GroupState } from './group-state.ts'
import type { FetchedTopic, Reply } from './replies.ts'
import type { Transition } from './transition.ts'

export function offsetFetch(t: Transition, event: OffsetFetchEvent): void {
  const last = lastOf(t.group.pendingWrites.values())
  if (last === undefined) t.replies.push(fetchReply(t.group, event))
  else last.fetches.push(event)
}

export function fetchReply(group: GroupState, event: OffsetFetchEvent): Reply {
  const response = { errorCode: groupErrorCodes.none, topics: committedOffsets(group, event.topics) }
  return { requestToken: event.requestToken, kind: 'offsetFetch', response }
}

/** Durable offsets as OffsetFetch shows them; null = every partition that has one. */
export function committedOffsets(group: GroupState, topics: readonly TopicPartitions[] | null): FetchedTopic[] {
  const asked = topics ?? [...group.offsets].map(([topic, offsets]) => ({ topic, partitions: [...offsets.keys()] }))
  return asked.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((partition) => {
      const committed = group.offsets.get(topic)?.get(partition)
      return {
        partition,
        offset: committed?.offset ?? -1,
        leaderEpoch: committed?.leaderEpoch ?? -1,
        metadata: committed?.metadata ?? '',
      }
    }),
  }))
}

/** A Map has no last; groups have a handful of writes on their way. */
function lastOf<T>(values: Iterable<T>): T | undefined {
  let last: T | undefined
  for (const value of values) last = value
  return last
}
