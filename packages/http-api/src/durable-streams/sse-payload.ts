import { jsonArrayOf } from './json-values.ts'
import type { StreamMode } from './media-type.ts'
import type { StreamPosition } from './offset-token.ts'
import type { Chunk, ChunkPiece } from './read-chunk.ts'
import { unfinishedBytes } from './utf8-boundary.ts'

export interface SsePayload {
  /** Null when the chunk has nothing that can be told yet. */
  readonly payload: Uint8Array | null
  readonly next: StreamPosition
}

/** A chunk as the payload of one `data` event that can be understood alone: an array of JSON, whole characters, or base64. */
export function ssePayload(chunk: Chunk, mode: StreamMode): SsePayload {
  const { pieces, next } = chunk
  if (pieces.length === 0) return { payload: null, next }
  if (mode === 'json') return { payload: jsonArrayOf(pieces.map(({ bytes }) => bytes)), next }
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes))
  if (mode === 'text') return textPayload(chunk, bytes)
  return { payload: bytes.length === 0 ? null : Buffer.from(bytes.toString('base64')), next }
}

/**
 * Writers cut their text where they like, inside a character too, and what is decoded event by event would lose that character. So
 * an event ends before it, and says so in its offset; the rest comes with what finishes it, or with the end of the stream.
 */
function textPayload({ pieces, next, isEnd }: Chunk, bytes: Buffer): SsePayload {
  const heldBytes = isEnd ? 0 : unfinishedBytes(bytes)
  const payload = bytes.subarray(0, bytes.length - heldBytes)
  return {
    payload: payload.length === 0 ? null : payload,
    next: heldBytes === 0 ? next : (backFrom(pieces, heldBytes) ?? next),
  }
}

/** The position `bytes` before the end of the last piece. */
function backFrom(pieces: readonly ChunkPiece[], bytes: number): StreamPosition | null {
  let left = bytes
  for (const { offset, skippedBytes, bytes: piece } of pieces.toReversed()) {
    if (left <= piece.length) return { record: offset, byte: skippedBytes + piece.length - left }
    left -= piece.length
  }
  return null
}
