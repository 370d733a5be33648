import { ByteReader, ByteWriter } from '@pico/binary'
import { decodeFailure } from '../errors.ts'
import {
  type GroupMetadataKey,
  groupMetadataKey,
  groupRecordTypes,
  type OffsetCommitKey,
  offsetCommitKey,
} from './group-records.ts'

/** A key of `__consumer_offsets`. Kafka 4 writes many more types, for its newer kinds of groups: those are `other`. */
export type GroupRecordKey =
  | ({ kind: 'offsetCommit' } & OffsetCommitKey)
  | ({ kind: 'groupMetadata' } & GroupMetadataKey)
  | { kind: 'other'; type: number }

export function encodeOffsetCommitKey(key: OffsetCommitKey): Uint8Array {
  return encodeKey(groupRecordTypes.offsetCommit, (writer) => offsetCommitKey.version(0).write(writer, key))
}

export function encodeGroupMetadataKey(key: GroupMetadataKey): Uint8Array {
  return encodeKey(groupRecordTypes.groupMetadata, (writer) => groupMetadataKey.version(0).write(writer, key))
}

function encodeKey(type: number, write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter()
  writer.int16(type)
  write(writer)
  return writer.toBytes()
}

/** Throws `CodecError` if the bytes are no such key. */
export function decodeGroupRecordKey(bytes: Uint8Array): GroupRecordKey {
  const reader = new ByteReader(bytes)
  const type = readType(reader)
  switch (type) {
    case groupRecordTypes.legacyOffsetCommit:
    case groupRecordTypes.offsetCommit:
      return { kind: 'offsetCommit', ...offsetCommitKey.version(0).read(reader) }
    case groupRecordTypes.groupMetadata:
      return { kind: 'groupMetadata', ...groupMetadataKey.version(0).read(reader) }
    default:
      return { kind: 'other', type }
  }
}

function readType(reader: ByteReader): number {
  try {
    return reader.int16()
  } catch (error) {
    throw decodeFailure('group record key', 0, error)
  }
}
