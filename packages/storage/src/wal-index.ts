import assert from 'node:assert/strict'
import { ByteReader, ByteWriter, ReadError } from '@pico/binary'
import { MalformedError } from './errors.ts'
import type { WalRun } from './wal-frame.ts'
import { WAL_FRAME_HEADER_BYTES } from './wal-frame-header.ts'

/** A run's shortest form: bounds how many runs an index can hold before any are allocated. */
const runBytesMin = 24

/**
 * The index of a frame: its runs in body order. A run's position is not written, for the runs fill the body without gaps:
 * so no byte of a body can be outside every run's checksum.
 */
export function encodeWalIndex(runs: readonly WalRun[], bodyLengthBytes: number): Uint8Array {
  const writer = new ByteWriter({ initialBytes: 16 + runs.length * 64, referenceMinBytes: Number.POSITIVE_INFINITY })
  let position = WAL_FRAME_HEADER_BYTES
  writer.uvarint(runs.length)
  for (const run of runs) {
    assert.equal(run.position, position, 'the runs of a frame fill its body without gaps')
    assert(run.streamId >= 0 && run.baseOffset >= 0 && run.endOffset > run.baseOffset && run.lengthBytes > 0)
    writer.varlongFromNumber(run.streamId)
    writer.int64FromNumber(run.baseOffset)
    writer.uvarint(run.endOffset - run.baseOffset)
    writer.uvarint(run.lengthBytes)
    writer.int64FromNumber(run.maxTimestampMs)
    writer.uint32(run.crc32c)
    writer.uvarint(run.summary.length)
    writer.copy(run.summary)
    position += run.lengthBytes
  }
  assert.equal(position - WAL_FRAME_HEADER_BYTES, bodyLengthBytes, 'the runs of a frame cover its body')
  return writer.toBytes()
}

/**
 * The runs of an index, as stored in a frame's footer or in its row. The summaries are views of `index`.
 * @throws MalformedError
 */
export function decodeWalIndex(index: Uint8Array): WalRun[] {
  try {
    return readRuns(new ByteReader(index))
  } catch (error) {
    if (error instanceof ReadError)
      throw new MalformedError(`a WAL index is malformed: ${error.message}`, { cause: error })
    throw error
  }
}

function readRuns(reader: ByteReader): WalRun[] {
  const count = reader.uvarint()
  if (count > reader.remaining / runBytesMin) throw new MalformedError(`a WAL index claims ${count} runs`)
  const runs: WalRun[] = []
  let position = WAL_FRAME_HEADER_BYTES
  for (let i = 0; i < count; i++) {
    const run = readRun(reader, position)
    position += run.lengthBytes
    runs.push(run)
  }
  if (reader.remaining > 0) throw new MalformedError(`${reader.remaining} bytes follow a WAL index`)
  return runs
}

function readRun(reader: ByteReader, position: number): WalRun {
  const streamId = reader.varlongAsNumber()
  const baseOffset = reader.int64AsNumber()
  const endOffset = baseOffset + reader.uvarint()
  const lengthBytes = reader.uvarint()
  const maxTimestampMs = reader.int64AsNumber()
  const crc32c = reader.uint32()
  const summary = reader.take(reader.uvarint())
  if (
    streamId < 0 ||
    baseOffset < 0 ||
    endOffset <= baseOffset ||
    lengthBytes === 0 ||
    !Number.isSafeInteger(endOffset)
  ) {
    throw new MalformedError(`a WAL index has an impossible run of stream ${streamId}`)
  }
  return { streamId, baseOffset, endOffset, position, lengthBytes, maxTimestampMs, crc32c, summary }
}
