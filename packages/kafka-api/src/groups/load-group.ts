import { newGroup, replay } from '@pico/group-coordinator'
import type { Partition, Streams } from '@pico/streams'
import { GroupLog } from './group-log.ts'
import { ServedGroup, type ServedGroupParts } from './served-group.ts'

export interface GroupSource {
  readonly groupId: string
  /** Null when the group has none. */
  readonly stream: Partition | null
  readonly streams: Streams
}

/**
 * The group as its log says it. Offsets of topics that are gone, or that were made anew under their old name, while nobody had the
 * group in memory, end here; so does what has expired.
 * @throws GroupLogUnreadableError, ReadFailedError, PartitionGoneError, MetadataUnavailableError
 */
export async function loadGroup(
  { groupId, stream, streams }: GroupSource,
  parts: Omit<ServedGroupParts, 'state' | 'log' | 'topicIds'>,
): Promise<ServedGroup> {
  const state = newGroup(groupId, parts.settings.protocol)
  const topicIds = new Map<string, string>()
  if (stream === null) return new ServedGroup({ ...parts, state, topicIds, log: null })

  const log = new GroupLog(stream)
  await log.replay(({ record, topicId }) => {
    replay(state, record)
    if (record.kind === 'offsetCommit' && topicId !== null) topicIds.set(record.topic, topicId)
  })
  const group = new ServedGroup({ ...parts, state, topicIds, log })
  log.replayed(group.recordedSize)
  const topics = [...state.offsets.keys()]
  const found = topics.length === 0 ? [] : await streams.describeTopics(topics.map((name) => ({ name })))
  const gone = topics.filter((topic, index) => {
    const topicId = found[index]?.topicId
    return topicId === undefined || (topicIds.get(topic) ?? topicId) !== topicId
  })
  if (gone.length > 0) group.topicsDeleted(gone)
  group.tick()
  return group
}
