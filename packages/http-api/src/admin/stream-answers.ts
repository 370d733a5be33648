import type { AdminStream, AdminStreams, ListQuery } from '@pico/http-contract'
import type { StreamDescription, StreamMiss } from '@pico/streams'
import { HttpError } from '../server/http-error.ts'
import type { AdminBackend } from './admin-backend.ts'

export async function streamPage(backend: AdminBackend, query: ListQuery): Promise<AdminStreams> {
  const { prefix, start_after: after = null, limit } = query
  // One more than asked for: whether it is there is the answer to `hasMore`.
  const found = await backend.streams.paths.list({ prefix, after, limit: limit + 1 })
  const streams = found.slice(0, limit).map((stream) => adminStream(backend, stream))
  const hasMore = found.length > limit
  return { streams, hasMore, next: hasMore ? (streams.at(-1)?.name ?? null) : null }
}

export async function oneStream(backend: AdminBackend, name: string): Promise<AdminStream> {
  const found = await backend.streams.paths.describe(name)
  if (typeof found === 'string' || 'ownerAddress' in found) throw missError(name, found)
  return adminStream(backend, found)
}

function adminStream({ streams, advertisedAddress }: AdminBackend, stream: StreamDescription): AdminStream {
  const { expiry, ownerNodeId, config } = stream
  const ownerLocal = ownerNodeId === streams.nodeId
  const retentionMs = Number(config['retention.ms'] ?? -1)
  return {
    name: stream.name,
    topic: stream.topic,
    streamId: stream.streamId,
    ownerNodeId,
    ownerAdvertisedAddress: ownerLocal ? advertisedAddress : null,
    ownerLocal,
    contentType: stream.contentType,
    ttlSeconds: retentionMs < 0 ? null : retentionMs / 1000,
    expiresAtMs: expiry.kind === 'at' ? expiry.expiresAtMs : null,
    idleTtlSeconds: expiry.kind === 'idle' ? expiry.ttlSeconds : null,
    closed: stream.closed,
    state: ownerNodeId === null ? 'unassigned' : 'assigned',
    epoch: stream.leaderEpoch,
    startOffset: stream.startOffset,
    endOffset: stream.nextOffset,
    bytes: stream.sizeBytes,
    createdAtMs: stream.createdAtMs,
    pendingTransfer: null,
  }
}

function missError(name: string, miss: StreamMiss): HttpError {
  if (typeof miss === 'string') return new HttpError('not_found', `there is no stream ${name}`)
  const where = miss.ownerAddress === null ? 'another node' : miss.ownerAddress
  return new HttpError('not_owner', `${where} has the stream ${name}`)
}
