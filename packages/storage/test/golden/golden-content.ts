import { crc32c } from '@pico/binary'
import {
  DataObjectBuilder,
  encodeSegmentHeader,
  encodeWalFrame,
  WAL_FRAME_HEADER_BYTES,
  WAL_SEGMENT_HEADER_BYTES,
  type WalRun,
} from '@pico/storage'

/** What the golden files hold, in the terms of FORMAT.md; `text` stands for a run's or an entry's bytes. Of version 2 where there is one. */
export const walObjectContent = {
  identity: { nodeId: 3, nodeEpoch: 5, sequence: 8 },
  runs: [
    { streamId: 1, baseOffset: 0, endOffset: 2, maxTimestampMs: 1_700_000_000_000, text: 'hello, world', summary: '' },
    {
      streamId: 200,
      baseOffset: 2 ** 40 + 7,
      endOffset: 2 ** 40 + 307,
      maxTimestampMs: -1,
      text: 'x'.repeat(300),
      summary: 'p1',
    },
    { streamId: 2 ** 33, baseOffset: 9, endOffset: 10, maxTimestampMs: 0, text: '\u00e9', summary: 'producer 2' },
  ],
} as const

export const segmentContent = {
  identity: { nodeId: 3, nodeEpoch: 5, sequence: 9 },
  sizeBytes: 4096,
  previous: { sequence: 8, committedBytes: 1024 },
  frames: [
    [{ streamId: 1, baseOffset: 2, endOffset: 3, maxTimestampMs: 1_700_000_000_001, text: 'first', summary: '' }],
    [
      { streamId: 1, baseOffset: 3, endOffset: 4, maxTimestampMs: 1_700_000_000_002, text: 'second', summary: 's' },
      { streamId: 2, baseOffset: 0, endOffset: 1, maxTimestampMs: -1, text: 'y'.repeat(600), summary: '' },
    ],
  ],
  /** Begun, but cut off in its body: a tail that was never acknowledged. */
  torn: [{ streamId: 1, baseOffset: 4, endOffset: 5, maxTimestampMs: 1, text: 'z'.repeat(900), summary: '' }],
  /** Whole, but begun before the torn one was durable: never acknowledged either. */
  beside: [{ streamId: 1, baseOffset: 5, endOffset: 6, maxTimestampMs: 1, text: 'whole', summary: '' }],
} as const

export const dataObjectContent = {
  chunkBytes: 16,
  /** As added: in the order of the body. */
  entries: [
    { streamId: 300, baseOffset: 100, endOffset: 101, maxTimestampMs: 1_700_000_000_000, text: 'three hundred' },
    { streamId: 300, baseOffset: 101, endOffset: 103, maxTimestampMs: 1_700_000_000_005, text: ' times two' },
    { streamId: 300, baseOffset: 110, endOffset: 111, maxTimestampMs: 1_700_000_000_003, text: 'after a gap' },
    { streamId: 4, baseOffset: 0, endOffset: 1, maxTimestampMs: -1, text: 'four' },
    { streamId: 2 ** 40, baseOffset: 2 ** 50, endOffset: 2 ** 50 + 1, maxTimestampMs: 7, text: 'a large id' },
  ],
} as const

interface RunText extends Omit<WalRun, 'position' | 'lengthBytes' | 'crc32c' | 'summary'> {
  readonly text: string
  readonly summary: string
}

/** Those that are written today, by name and version. */
export function goldenFiles(): Record<string, Buffer> {
  return { 'wal-object-v2': walObject(), 'wal-segment-v2': walSegment(), 'data-object-v1': dataObject() }
}

function walObject(): Buffer {
  return frame(walObjectContent.identity, walObjectContent.runs, { position: 0, committedBytes: 0 })
}

function walSegment(): Buffer {
  const { identity, sizeBytes, previous, frames, torn, beside } = segmentContent
  const bytes = Buffer.alloc(sizeBytes)
  Buffer.from(encodeSegmentHeader({ identity, sizeBytes, previous })).copy(bytes)
  let at = WAL_SEGMENT_HEADER_BYTES
  for (const runs of frames) at += frame(identity, runs, { position: at, committedBytes: at }).copy(bytes, at)
  // The last two were on their way together: the first is cut off, the second is whole.
  const cutOff = frame(identity, torn, { position: at, committedBytes: at })
  cutOff.copy(bytes, at, 0, 512)
  frame(identity, beside, { position: at + cutOff.length, committedBytes: at }).copy(bytes, at + cutOff.length)
  return bytes
}

function dataObject(): Buffer {
  const builder = new DataObjectBuilder({ chunkBytes: dataObjectContent.chunkBytes })
  const body = dataObjectContent.entries.map(({ text, ...entry }) => {
    const bytes = Buffer.from(text)
    builder.add({ ...entry, bytes })
    return bytes
  })
  return Buffer.concat([...body, ...builder.finish()])
}

function frame(
  identity: typeof walObjectContent.identity | typeof segmentContent.identity,
  texts: readonly RunText[],
  place: { readonly position: number; readonly committedBytes: number },
): Buffer {
  let at = WAL_FRAME_HEADER_BYTES
  const body = texts.map(({ text }) => Buffer.from(text))
  const runs = texts.map(({ text, summary, ...rest }, i) => {
    const bytes = body[i] ?? Buffer.from(text)
    const run = {
      ...rest,
      position: at,
      lengthBytes: bytes.length,
      crc32c: crc32c(bytes),
      summary: Buffer.from(summary),
    }
    at += bytes.length
    return run
  })
  return Buffer.concat(encodeWalFrame({ identity, ...place, body, runs }).buffers)
}
