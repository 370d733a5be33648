import type { SchemaKind } from '../schema.ts'

export type ConfluentFrame =
  | { readonly payload: Uint8Array; readonly messageIndexes: readonly number[] }
  /** Why it is not framed as its schema's values are. */
  | string

/** The type of a Protobuf file that values are of when they do not say. */
export const firstMessage: readonly number[] = [0]

/** As deep as Protobuf's own parsers let messages nest. */
const messageIndexesMax = 100

/**
 * Takes off what Confluent's serializers put before a value: a zero byte, the schema's id (int32, big endian), and for Protobuf
 * the path of indexes that leads to the message's type, as zigzag varints with their count first; a count of 0 stands for `[0]`.
 */
export function readConfluentFrame(bytes: Uint8Array, kind: SchemaKind, schemaId: number): ConfluentFrame {
  if (bytes.length < 5) return `${bytes.length} bytes are too few for Confluent's framing, which begins with 5`
  if (bytes[0] !== 0) return `begins with the byte ${bytes[0]}, where Confluent's framing begins with 0`
  const id = new DataView(bytes.buffer, bytes.byteOffset).getInt32(1)
  if (id !== schemaId) return `schema id ${id} where ${schemaId} is bound`
  if (kind !== 'protobuf') return { payload: bytes.subarray(5), messageIndexes: firstMessage }

  const count = readZigzag(bytes, 5)
  if (count === null || count.value < 0 || count.value > messageIndexesMax)
    return 'its message indexes are cut off, or no list'
  let at = count.end
  const messageIndexes: number[] = []
  for (let i = 0; i < count.value; i++) {
    const index = readZigzag(bytes, at)
    if (index === null || index.value < 0) return 'its message indexes are cut off, or no list'
    messageIndexes.push(index.value)
    at = index.end
  }
  return { payload: bytes.subarray(at), messageIndexes: messageIndexes.length === 0 ? firstMessage : messageIndexes }
}

/** 32 bits in at most 5 bytes; null if there is none. */
function readZigzag(bytes: Uint8Array, at: number): { readonly value: number; readonly end: number } | null {
  let raw = 0
  for (let i = 0; i < 5; i++) {
    const byte = bytes[at + i]
    if (byte === undefined) return null
    raw |= (byte & 0x7f) << (7 * i)
    if (byte < 0x80) return { value: (raw >>> 1) ^ -(raw & 1), end: at + i + 1 }
  }
  return null
}
