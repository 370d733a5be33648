/** Header names of the Pico protocol, as they are written. Node gives them in lower case. */
export const picoHeaders = {
  startSeq: 'Pico-Start-Seq',
  nextSeq: 'Pico-Next-Seq',
  timestamp: 'Pico-Timestamp',
  matchSeq: 'Pico-Match-Seq',
  trimSeq: 'Pico-Trim-Seq',
  closed: 'Pico-Closed',
  ttl: 'Pico-TTL',
  expiresAt: 'Pico-Expires-At',
  schema: 'Pico-Schema',
  upToDate: 'Pico-Up-To-Date',
  cursor: 'Pico-Cursor',
  producerId: 'Pico-Producer-Id',
  producerEpoch: 'Pico-Producer-Epoch',
  producerSeq: 'Pico-Producer-Seq',
  expectedSeq: 'Pico-Expected-Seq',
  receivedSeq: 'Pico-Received-Seq',
} as const

export const mediaTypes = {
  json: 'application/json',
  eventStream: 'text/event-stream',
  /** A batch of records in binary: see binary-batch.ts. */
  batch: 'application/vnd.picomq.batch',
  /** A batch of records in JSON: see json-batch.ts. */
  batchJson: 'application/vnd.picomq.batch+json',
  /** Of a stream whose maker does not say. */
  octetStream: 'application/octet-stream',
} as const

/** type "/" subtype, then whatever parameters there are (RFC 9110, 8.3): visible ASCII, no line breaks. */
const mediaTypePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*(?:;[\x20-\x7e\t]*)?$/
const mediaTypeLengthMax = 256

/** Whether a stream can be of this content type. */
export function isMediaType(contentType: string): boolean {
  return contentType.length <= mediaTypeLengthMax && mediaTypePattern.test(contentType)
}

/** Without parameters, in lower case: what two content types are compared by. */
export function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}
