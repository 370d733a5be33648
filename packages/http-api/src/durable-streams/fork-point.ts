import type { ForkPoint, StreamDescription } from '@pico/streams'
import { type Answer, missed, refused } from './answer.ts'
import type { ForkRequest } from './fork-headers.ts'
import { modeOf } from './media-type.ts'
import { recordStart, type StreamPosition } from './offset-token.ts'
import { readChunk } from './read-chunk.ts'
import type { DurableStreamsParts } from './request.ts'

export interface ResolvedFork {
  readonly point: ForkPoint
  readonly source: StreamDescription
  /** The fork's own first record: what it has of a record that the fork point cuts in two. */
  readonly partial: Uint8Array | null
}

/**
 * Finds the record that a fork begins before. In a JSON stream a message is a record, so a sub-offset only counts on. In any other the fork
 * point may lie inside a record, or at its end; then the fork inherits what is before that record, and has those bytes of its own.
 */
export async function resolveFork(
  request: ForkRequest,
  parts: DurableStreamsParts,
): Promise<ResolvedFork | { readonly answer: Answer }> {
  const source = await parts.streams.describe(request.source)
  if (source === 'missing') return { answer: refused('not_found', 'there is no such source') }
  if (source === 'gone') return { answer: refused('conflict', 'the source was deleted') }
  if ('kind' in source) return { answer: missed(source) }

  const point = pointOf(request, source)
  if (point === null || (modeOf(source.contentType) === 'json' && point.offset > source.nextOffset)) return beyond
  if (modeOf(source.contentType) === 'json' || point.subOffset === 0) return { point, source, partial: null }
  const partial = await bytesOf(point, parts)
  if (partial === null) return beyond
  return partial instanceof Uint8Array ? { point, source, partial } : partial
}

const beyond = { answer: refused('bad_request', 'the fork point is past the end of what it points into') }

/** As it is stored: of a fork inside a record, `subOffset` counts from the beginning of that record, whatever the anchor. */
function pointOf(
  { source, anchor, subOffset }: ForkRequest,
  { contentType, nextOffset }: StreamDescription,
): ForkPoint | null {
  const { record, byte }: StreamPosition = anchor ?? recordStart(nextOffset)
  if (modeOf(contentType) !== 'json') return { source, offset: record, subOffset: byte + subOffset }
  return byte === 0 ? { source, offset: record + subOffset, subOffset } : null
}

/** The beginning of the record at the fork point; null when it is not that long, or not there. */
async function bytesOf(
  { source, offset, subOffset }: ForkPoint,
  { streams, knownJson }: DurableStreamsParts,
): Promise<Uint8Array | null | { readonly answer: Answer }> {
  const stream = await streams.open(source)
  if (typeof stream === 'string' || 'kind' in stream) return { answer: missed(stream) }
  const chunk = await readChunk({ stream, knownJson, maxBytes: 1 }, recordStart(offset))
  if (chunk === 'trimmed') return { answer: refused('out_of_range', 'the source has that no more') }
  if (typeof chunk === 'string') return null
  const value = chunk.pieces[0]?.bytes
  return value !== undefined && value.length >= subOffset ? value.subarray(0, subOffset) : null
}

/** Whether the fork that is there is the one asked for. Where the request leaves the point open, any is. */
export function isForkAsked(request: ForkRequest, existing: StreamDescription): boolean {
  const { fork } = existing
  if (fork === null || fork.source !== request.source) return false
  if (request.anchor === null) return fork.subOffset === request.subOffset
  const asked = pointOf(request, existing)
  return asked !== null && fork.offset === asked.offset && fork.subOffset === asked.subOffset
}
