/** A group's commits live in the stream `/_sys/groups/{group}` (architecture section 11). */
export const groupStreamPrefix = '/_sys/groups/'

/** Group ids have no limit of their own in Kafka; names of streams are keys of an index, which takes 2,700 bytes in Postgres. */
const segmentLengthMax = 1000

/** What stands for the empty group id, which legacy simple consumers commit under: no percent-encoding gives it. */
const emptySegment = '%'

/** The stream of a group, or null for an id that cannot have one: too long, or half a UTF-16 character. */
export function groupStreamName(groupId: string): string | null {
  if (!groupId.isWellFormed()) return null
  const segment = groupId === '' ? emptySegment : segmentOf(groupId)
  return segment.length > segmentLengthMax ? null : groupStreamPrefix + segment
}

/** Where the stream of a group would stand among the others', whether or not it could have one. */
export function groupStreamPosition(groupId: string): string {
  return groupStreamPrefix + (groupId === '' ? emptySegment : segmentOf(groupId.toWellFormed()))
}

export function groupIdOf(streamName: string): string {
  const segment = streamName.slice(groupStreamPrefix.length)
  return segment === emptySegment ? '' : decodeURIComponent(segment)
}

/** Percent-encoded (RFC 3986) but for what a path segment may hold; dots alone would be another folder. */
function segmentOf(groupId: string): string {
  return /^\.{1,2}$/.test(groupId) ? groupId.replaceAll('.', '%2E') : encodeURIComponent(groupId)
}
