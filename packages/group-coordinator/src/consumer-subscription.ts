/**
 * The topics of a consumer group, read from the members' ConsumerProtocolSubscription: only so that offsets in use
 * neither expire (KIP-211) nor are deleted (KIP-496). To everything else metadata stays opaque.
 */
import type { GroupState } from './group-state.ts'
import { metadataFor } from './member.ts'

export const consumerProtocolType = 'consumer'

/** The union over the members; null if this is no consumer group or one member's bytes do not read as a subscription. */
export function subscribedTopics(group: GroupState): ReadonlySet<string> | null {
  if (group.protocolType !== consumerProtocolType) return null
  const topics = new Set<string>()
  for (const member of group.members.values()) {
    const own = topicsOfSubscription(metadataFor(member, group.protocolName))
    if (own === null) return null
    for (const topic of own) topics.add(topic)
  }
  return topics
}

/** A consumer group whose subscription is unknown counts as subscribed to everything, any other kind to nothing. */
export function isSubscribed(group: GroupState, topic: string): boolean {
  if (group.members.size === 0) return false
  return group.subscribedTopics?.has(topic) ?? group.protocolType === consumerProtocolType
}

/**
 * Version int16, then the topics as every version has them first: count int32, strings with an int16 length.
 * What follows differs between versions and is not looked at. null if that much cannot be read.
 */
export function topicsOfSubscription(metadata: Uint8Array): string[] | null {
  const view = new DataView(metadata.buffer, metadata.byteOffset, metadata.byteLength)
  if (view.byteLength < 6 || view.getInt16(0) < 0) return null
  const count = view.getInt32(2)
  const topics: string[] = []
  let at = 6
  for (let i = 0; i < count; i++) {
    if (at + 2 > view.byteLength) return null
    const length = view.getInt16(at)
    at += 2
    if (length < 0 || at + length > view.byteLength) return null
    topics.push(utf8.decode(metadata.subarray(at, at + length)))
    at += length
  }
  return count < 0 ? null : topics
}

const utf8 = new TextDecoder()
