import { isUtf8 } from 'node:buffer'
import {
  type BinaryBatchVersion,
  binaryBatchHeaderBytes,
  jsonHeadersOf,
  mediaTypes,
  type ReadFormat,
  readRecordBytes,
  writeBatchHeader,
  writeReadRecord,
} from '@pico/http-contract'
import type { RecordView } from '@pico/record-batch'
import type { GrowingBytes } from './growing-bytes.ts'
import { writeJsonText } from './json-text.ts'

/** How the records of a page become the body of an answer, one after the other. */
export interface RecordEncoder {
  /** Part of the ETag. */
  readonly tag: string
  /** Null: that of the stream. */
  readonly contentType: string | null
  /** Before the first record: room for what `finishHead` writes when the number of records is known. */
  begin(out: GrowingBytes): void
  record(out: GrowingBytes, record: RecordView, index: number): void
  /** Completes what `begin` wrote: `head` is the begin of the body. */
  finishHead(head: Buffer, count: number): void
  /** After the last record. */
  end(out: GrowingBytes): void
}

export function recordEncoder(format: ReadFormat, version: BinaryBatchVersion): RecordEncoder {
  if (format === 'json') return jsonRecords
  if (format === 'raw') return rawBodies
  return version === 1 ? binaryRecords1 : binaryRecords2
}

/** See json-batch.ts in the contract. */
export const jsonRecords: RecordEncoder = {
  tag: 'j',
  contentType: mediaTypes.json,
  begin(out) {
    out.ascii('[')
  },
  record(out, record, index) {
    out.ascii(`${index === 0 ? '' : ','}{"seq":${record.offset},"timestamp":${record.timestamp}`)
    if (record.key !== null) writeBytes(out, ',"key":', ',"key_b64":', record.key)
    if (record.headers.length > 0) {
      out.ascii(',"headers":')
      out.append(Buffer.from(JSON.stringify(jsonHeadersOf(record.headers))))
    }
    if (record.value === null) out.ascii(',"body":null')
    else writeBytes(out, ',"body":', ',"body_b64":', record.value)
    out.ascii('}')
  },
  finishHead() {},
  end(out) {
    out.ascii(']')
  },
}

function writeBytes(out: GrowingBytes, textName: string, bytesName: string, bytes: Uint8Array): void {
  if (isUtf8(bytes)) {
    out.ascii(textName)
    writeJsonText(out, bytes)
    return
  }
  out.ascii(bytesName)
  out.ascii(`"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}"`)
}

/** See binary-batch.ts in the contract. */
function binaryRecords(version: BinaryBatchVersion): RecordEncoder {
  return {
    tag: `b${version}`,
    contentType: mediaTypes.batch,
    begin(out) {
      out.reserve(binaryBatchHeaderBytes)
      out.length += binaryBatchHeaderBytes
    },
    record(out, { offset, timestamp, key, value, headers }) {
      const record = { seq: offset, timestamp, key, value, headers }
      out.reserve(readRecordBytes(record, version))
      out.length = writeReadRecord(out.bytes, out.view, out.length, record, version)
    },
    finishHead(head, count) {
      writeBatchHeader(head, 0, version, count)
    },
    end() {},
  }
}

const binaryRecords1 = binaryRecords(1)
const binaryRecords2 = binaryRecords(2)

/** Bodies, one after the other, and nothing else: keys, headers and nulls are left out. */
const rawBodies: RecordEncoder = {
  tag: 'r',
  contentType: null,
  begin() {},
  record(out, { value }) {
    if (value !== null) out.append(value)
  },
  finishHead() {},
  end() {},
}
