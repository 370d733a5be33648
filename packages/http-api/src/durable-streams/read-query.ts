import { parseOffsetToken, type StreamPosition } from './offset-token.ts'
import { Problem } from './problem.ts'

export interface ReadQuery {
  readonly at: StreamPosition | 'start' | 'now'
  readonly live: 'long-poll' | 'sse' | null
  readonly cursor: string | null
}

/** The query of a GET. What we do not know is ignored, but not a way of being live: who asks for one would wait for it. */
export function parseReadQuery(query: URLSearchParams): ReadQuery | Problem {
  const offsets = query.getAll('offset')
  const [offset] = offsets
  if (offsets.length > 1) return new Problem('there is more than one offset')
  const at = offset === undefined ? 'start' : positionOf(offset)
  if (at === null) return new Problem('that is no offset')
  const live = query.get('live')
  if (live !== null && live !== 'long-poll' && live !== 'sse') return new Problem('live is long-poll or sse')
  if (live !== null && offset === undefined) return new Problem('a live read says its offset')
  return { at, live, cursor: query.get('cursor') }
}

function positionOf(offset: string): ReadQuery['at'] | null {
  if (offset === '-1') return 'start'
  return offset === 'now' ? 'now' : parseOffsetToken(offset)
}
