import { crc32 } from 'node:zlib'
import { fieldAt, logOverheadBytes } from './batch-header.ts'
import { type CompressionCodec, codecOf, decompress } from './compression.ts'
import { RecordBatchError } from './errors.ts'
import { int32At, int64At, uint32At } from './header-integers.ts'

/**
 * Message sets of magic 0 and 1, the formats before RecordBatch v2. A message: int64 offset, int32 length of the rest,
 * uint32 CRC-32 of the rest, int8 magic, int8 attributes, in magic 1 an int64 timestamp, int32 key length, key, int32
 * value length, value. A compressed message holds a message set as its value.
 */
export type Message = {
  /** The whole message. */
  readonly byteLength: number
  readonly offset: number
  readonly magic: 0 | 1
  readonly codec: CompressionCodec
  /** Milliseconds; -1 in magic 0. */
  readonly timestamp: number
  readonly hasLogAppendTime: boolean
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
}

const crcAt = 12
const attributesAt = 17
const codecMask = 0x07
const logAppendTimeBit = 0x08

/**
 * The message of `byteLength` bytes at `at`, which are all there and 26 or more, with its CRC verified.
 * Its key and value are views.
 */
export function readMessage(bytes: Uint8Array, at: number, byteLength: number): Message {
  const magic = bytes[at + fieldAt.magic]
  if (magic !== 0 && magic !== 1) {
    throw new RecordBatchError('PICO_RECORD_BATCH_WRONG_MAGIC', `magic ${magic} inside a message set`)
  }
  const end = at + byteLength
  if (uint32At(bytes, at + crcAt) !== crc32(bytes.subarray(at + fieldAt.magic, end))) {
    throw new RecordBatchError('PICO_RECORD_BATCH_CORRUPT', 'the CRC of a message does not match')
  }
  const attributes = bytes[at + attributesAt] as number
  const keyAt = at + attributesAt + (magic === 0 ? 1 : 9)
  const key = sizedField(bytes, keyAt, end)
  const valueAt = keyAt + 4 + (key?.length ?? 0)
  const value = sizedField(bytes, valueAt, end)
  if (valueAt + 4 + (value?.length ?? 0) !== end) throw badMessage('bytes follow its value')
  return {
    byteLength,
    offset: int64At(bytes, at),
    magic,
    codec: codecOf(attributes & codecMask),
    timestamp: magic === 0 ? -1 : int64At(bytes, at + attributesAt + 1),
    hasLogAppendTime: magic === 1 && (attributes & logAppendTimeBit) !== 0,
    key,
    value,
  }
}

/**
 * The messages inside a compressed one, with absolute offsets. In magic 1 the wrapper has the last one's offset and
 * the inner ones count from 0 (KIP-31); a wrapper of offset 0 comes from a producer that left the offsets to the broker.
 */
export function readWrapped(wrapper: Message, maxDecompressedBytes: number): Message[] {
  if (wrapper.value === null) throw badMessage('a compressed one without a value')
  const set = decompress(wrapper.codec, wrapper.value, maxDecompressedBytes, { ignoreHeaderChecksum: true })
  const messages: Message[] = []
  let at = 0
  while (at < set.length) {
    const left = set.length - at
    const byteLength = left < logOverheadBytes ? Number.POSITIVE_INFINITY : int32At(set, at + 8) + logOverheadBytes
    if (byteLength > left) throw badMessage('the set inside it is cut off')
    if (byteLength < smallestBytes) {
      throw new RecordBatchError('PICO_RECORD_BATCH_CORRUPT', `a message of ${byteLength} bytes is shorter than any`)
    }
    messages.push(readMessage(set, at, byteLength))
    at += byteLength
  }
  const last = messages.at(-1)
  if (last === undefined) throw badMessage('the set inside it is empty')
  if (wrapper.magic === 0) return messages
  if (wrapper.offset !== 0 && wrapper.offset < last.offset) throw badMessage('the offsets inside it are past its own')
  const baseOffset = wrapper.offset === 0 ? 0 : wrapper.offset - last.offset
  return messages.map((message) => ({
    ...message,
    offset: baseOffset + message.offset,
    hasLogAppendTime: wrapper.hasLogAppendTime,
    timestamp: wrapper.hasLogAppendTime ? wrapper.timestamp : message.timestamp,
  }))
}

/** Offset, length, CRC, magic, attributes and two lengths. */
const smallestBytes = 26

/** An int32 length and as many bytes; any negative length is null, as in Kafka. */
function sizedField(bytes: Uint8Array, at: number, end: number): Uint8Array | null {
  if (at + 4 > end) throw badMessage('it ends inside a length')
  const length = int32At(bytes, at)
  if (length < 0) return null
  if (length > end - at - 4) throw badMessage('a field reaches past its end')
  return bytes.subarray(at + 4, at + 4 + length)
}

function badMessage(what: string): RecordBatchError {
  return new RecordBatchError('PICO_RECORD_BATCH_BAD_RECORD', `a message of an old format: ${what}`)
}
