import { crc32c } from '@pico/binary'
import {
  type EncodedWalFrame,
  encodeWalFrame,
  WAL_FRAME_HEADER_BYTES,
  type WalIdentity,
  type WalRun,
} from '@pico/storage'

export const identity: WalIdentity = { nodeId: 7, nodeEpoch: 11, sequence: 13 }

export interface RunContent {
  readonly streamId: number
  readonly baseOffset: number
  readonly count: number
  readonly maxTimestampMs: number
  readonly bytes: Uint8Array
  readonly summary: Uint8Array
}

/** The runs of a frame whose body is the bytes of `contents`, one after the other. */
export function runsOf(contents: readonly RunContent[]): WalRun[] {
  let position = WAL_FRAME_HEADER_BYTES
  return contents.map(({ streamId, baseOffset, count, maxTimestampMs, bytes, summary }) => {
    const run = {
      streamId,
      baseOffset,
      endOffset: baseOffset + count,
      position,
      lengthBytes: bytes.length,
      maxTimestampMs,
      crc32c: crc32c(bytes),
      summary,
    }
    position += bytes.length
    return run
  })
}

/** A frame that was begun when all before it was durable, unless told otherwise. */
export function frameOf(
  contents: readonly RunContent[],
  position: number,
  of = identity,
  committedBytes = position,
): EncodedWalFrame {
  const body = contents.map(({ bytes }) => bytes)
  return encodeWalFrame({ identity: of, position, committedBytes, body, runs: runsOf(contents) })
}

export function textRun(text: string, baseOffset = 0, streamId = 1): RunContent {
  return {
    streamId,
    baseOffset,
    count: 1,
    maxTimestampMs: 1_700_000_000_000,
    bytes: Buffer.from(text),
    summary: Buffer.from(`summary of ${text.slice(0, 10)}`),
  }
}
