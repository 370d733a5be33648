import type { AdminGroup, AdminGroupOffset, AdminGroupSummary, AdminGroups } from '@pico/http-contract'
import type { Streams } from '@pico/streams'
import { HttpError, unavailable } from '../server/http-error.ts'
import type { AdminBackend } from './admin-backend.ts'
import type { CommittedOffset, GroupView } from './group-view.ts'

export async function groupPage(backend: AdminBackend, after: string | null, limit: number): Promise<AdminGroups> {
  const { groups, next } = await groupsOf(backend).list({ after, limit })
  const shown = groups.flatMap(({ groupId, state, protocolType, refused }): AdminGroupSummary[] =>
    state === 'Dead' ? [] : [{ groupId, state, protocolType, problem: refused }],
  )
  return { groups: shown, hasMore: next !== null, next }
}

export async function oneGroup(backend: AdminBackend, groupId: string): Promise<AdminGroup> {
  const group = await groupsOf(backend).describe(groupId)
  if (group?.refused !== undefined) throw unavailable(`the coordinator of ${groupId} cannot say: ${group.refused}`)
  if (group === null || group.state === 'Dead') throw new HttpError('not_found', `there is no group ${groupId}`)
  const { state, protocolType, protocolName, generationId } = group
  const offsets = await Promise.all(group.offsets.map((offset) => withLag(backend.streams, offset)))
  const members = group.members.map(({ assignment, ...member }) => ({
    ...member,
    assignment: assignment?.map(({ topic, partitions }) => ({ topic, partitions: [...partitions] })) ?? null,
  }))
  const totalLag = offsets.reduce((sum, { lag }) => sum + (lag ?? 0), 0)
  return { groupId, state, protocolType, protocolName, generationId, members, offsets, totalLag }
}

async function withLag(
  streams: Pick<Streams, 'partition'>,
  { topic, partition, offset, metadata }: CommittedOffset,
): Promise<AdminGroupOffset> {
  const found = await streams.partition({ name: topic }, partition)
  const endOffset = typeof found === 'string' ? null : found.highWatermark
  const lag = endOffset === null ? null : Math.max(0, endOffset - offset)
  return { topic, partition, committedOffset: offset, metadata, endOffset, lag }
}

function groupsOf({ groups }: AdminBackend): GroupView {
  if (groups === null)
    throw new HttpError('not_found', 'no Kafka clients are served (--no-kafka), so there are no groups')
  return groups
}
