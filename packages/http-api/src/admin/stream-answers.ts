import {
  type AdminStream,
  type AdminStreams,
  isReservedName,
  type ListQuery,
  streamNameProblem,
} from '@pico/http-contract'
import type { StreamDescription, StreamMiss } from '@pico/streams'
import { badRequest, HttpError } from '../server/http-error.ts'
import { boundSchemaOf } from '../stream-schema.ts'
import type { AdminBackend } from './admin-backend.ts'
import type { KnownStream } from './directory.ts'
import { type Whereabouts, whereabouts } from './whereabouts.ts'

export async function streamPage(backend: AdminBackend, query: ListQuery): Promise<AdminStreams> {
  const { prefix, start_after: after = null, limit } = query
  // One more than asked for: whether it is there is the answer to `hasMore`.
  const found = await backend.streams.paths.list({ prefix, after, limit: limit + 1 })
  const shown = found.slice(0, limit)
  const where = await whereabouts(backend, shown)
  const streams = shown.map((stream) => adminStream(backend, stream, where))
  const hasMore = found.length > limit
  return { streams, hasMore, next: hasMore ? (streams.at(-1)?.name ?? null) : null }
}

/** Also one that another node has, or one of our own (`/_sys/…`): as the database knows it. */
export async function oneStream(backend: AdminBackend, name: string, nowMs: number): Promise<AdminStream> {
  const described = await backend.streams.paths.describe(name)
  const found = isMiss(described) ? await storedStream(backend, name, described, nowMs) : described
  if (found === null) throw noStream(name)
  return adminStream(backend, found, await whereabouts(backend, [found]), isMiss(described))
}

/** `orders/eu` and `/orders/eu` are the same stream. */
export function givenStreamName(given: string): string {
  const name = given.startsWith('/') ? given : `/${given}`
  const problem = streamNameProblem(name)
  if (problem !== null) throw badRequest(problem)
  return name
}

export function noStream(name: string): HttpError {
  return new HttpError('not_found', `there is no stream ${name}`)
}

/** As far as the database knows: when a stream ends that lives from its uses, only its owner does. */
export function isThere({ life, expiresAtMs, idleTtlMs }: KnownStream, nowMs: number): boolean {
  return life === 'live' && (expiresAtMs === null || idleTtlMs !== null || expiresAtMs > nowMs)
}

type ShownStream = Omit<StreamDescription, 'incarnation' | 'fork'>

function isMiss(found: StreamDescription | StreamMiss): found is StreamMiss {
  return typeof found === 'string' || 'ownerAddress' in found
}

async function storedStream(
  { directory }: AdminBackend,
  name: string,
  miss: StreamMiss,
  nowMs: number,
): Promise<ShownStream | null> {
  // Our own are missing for everybody who asks for them by their paths.
  if (typeof miss === 'string' && !isReservedName(name)) return null
  const [stream] = await directory.streams.byName([name])
  return stream !== undefined && isThere(stream, nowMs) ? shownOf(stream) : null
}

function shownOf(stream: KnownStream): ShownStream {
  const { streamId, name, topic, contentType, config, createdAtMs, startOffset, leaderEpoch } = stream
  return {
    streamId,
    name,
    topic,
    contentType,
    config,
    createdAtMs,
    startOffset,
    leaderEpoch,
    expiry: expiryOf(stream),
    closed: stream.isClosed,
    nextOffset: Math.max(stream.packedOffset, startOffset),
    sizeBytes: stream.packedBytes,
    ownerNodeId: stream.owner?.nodeId ?? null,
  }
}

function expiryOf({ expiresAtMs, idleTtlMs }: KnownStream): StreamDescription['expiry'] {
  if (expiresAtMs === null) return { kind: 'never' }
  return idleTtlMs === null ? { kind: 'at', expiresAtMs } : { kind: 'idle', ttlSeconds: idleTtlMs / 1000 }
}

/** `isStored`: as the database has it, whoever the owner is. */
function adminStream(
  { node }: AdminBackend,
  stream: ShownStream,
  { liveNodes, targets }: Whereabouts,
  isStored = false,
): AdminStream {
  const { expiry, ownerNodeId, config, streamId } = stream
  const ownerLocal = ownerNodeId === node.nodeId
  const isOwned = ownerNodeId !== null && liveNodes.has(ownerNodeId)
  const toNode = targets.get(streamId)
  const { schema, isValidated } = boundSchemaOf(config)
  const retentionMs = Number(config['retention.ms'] ?? -1)
  return {
    name: stream.name,
    topic: stream.topic,
    streamId,
    ownerNodeId,
    ownerAdvertisedAddress: ownerNodeId === null ? null : (liveNodes.get(ownerNodeId) ?? null),
    ownerLocal,
    contentType: stream.contentType,
    ttlSeconds: retentionMs < 0 ? null : retentionMs / 1000,
    expiresAtMs: expiry.kind === 'at' ? expiry.expiresAtMs : null,
    idleTtlSeconds: expiry.kind === 'idle' ? expiry.ttlSeconds : null,
    schema,
    schemaValidated: isValidated,
    closed: stream.closed,
    state: !isOwned ? 'unassigned' : toNode === undefined ? 'assigned' : 'transferring',
    epoch: stream.leaderEpoch,
    startOffset: stream.startOffset,
    endOffset: stream.nextOffset,
    bytes: stream.sizeBytes,
    // A node that was fenced may have left something in its write-ahead log that has not been adopted yet.
    offsetsMayLag: ownerNodeId !== null && (isStored || !ownerLocal),
    createdAtMs: stream.createdAtMs,
    pendingTransfer: toNode === undefined ? null : { toNode },
  }
}
