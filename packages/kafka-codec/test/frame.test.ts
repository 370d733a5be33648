import { ByteReader } from '@pico/binary'
import { describe, expect, test } from 'vitest'
import {
  apiOf,
  apiVersions,
  CodecError,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  fetch,
  heartbeat,
  produce,
  readRequestHeader,
} from '../src/index.ts'

const zeroUuid = '00000000-0000-0000-0000-000000000000'

describe('a request frame', () => {
  test('is its length, its header and its body', () => {
    const body = { groupId: 'g', generationId: 1, memberId: 'm' }
    const frame = Buffer.concat(encodeRequest(heartbeat, 4, { correlationId: 9, clientId: 'me' }, body))
    expect(frame.readInt32BE()).toBe(frame.length - 4)
    const reader = new ByteReader(frame.subarray(4))
    const header = readRequestHeader(reader)
    expect(header).toEqual({ apiKey: 12, apiVersion: 4, correlationId: 9, clientId: 'me' })
    expect(apiOf(header.apiKey)?.request(header.apiVersion).read(reader)).toEqual({ ...body, groupInstanceId: null })
    expect(reader.remaining).toBe(0)
  })

  test('carries records by reference, between the buffers around them', () => {
    const records = Buffer.alloc(1 << 20, 1)
    const topicData = [{ name: 't', topicId: zeroUuid, partitionData: [{ index: 0, records }] }]
    const frame = encodeRequest(produce, 9, { correlationId: 1, clientId: null }, { acks: -1, timeoutMs: 1, topicData })
    expect(frame.filter((part) => part === records)).toHaveLength(1)
    expect(Buffer.concat(frame).readInt32BE()).toBe(Buffer.concat(frame).length - 4)
  })

  test('keeps the tagged fields of its header', () => {
    const unknownTags = [{ tag: 3, bytes: Uint8Array.of(5) }]
    const body = { groupId: 'g', generationId: 1, memberId: 'm' }
    const frame = Buffer.concat(encodeRequest(heartbeat, 4, { correlationId: 9, clientId: '', unknownTags }, body))
    expect(readRequestHeader(new ByteReader(frame.subarray(4))).unknownTags).toEqual(unknownTags)
    expect(() => encodeRequest(heartbeat, 3, { correlationId: 9, clientId: '', unknownTags }, body)).not.toThrow()
  })
})

describe('a request header', () => {
  test('of an unknown API or version can be read, so that it can be answered or logged', () => {
    const unknownApi = Buffer.from('7fff 0001 00000002 0002 6d65'.replaceAll(' ', ''), 'hex')
    expect(readRequestHeader(new ByteReader(unknownApi))).toMatchObject({ apiKey: 0x7fff, clientId: 'me' })
    const futureApiVersions = Buffer.from('0012 0063 00000002 0002 6d65 00'.replaceAll(' ', ''), 'hex')
    const reader = new ByteReader(futureApiVersions)
    expect(readRequestHeader(reader)).toMatchObject({ apiKey: 18, apiVersion: 99, correlationId: 2 })
    expect(reader.remaining).toBe(0)
  })

  test('that is cut short is a CodecError', () => {
    const whole = Buffer.from('0012 0003 00000002 0002 6d65 00'.replaceAll(' ', ''), 'hex')
    for (let length = 0; length < whole.length; length++) {
      expect(() => readRequestHeader(new ByteReader(whole.subarray(0, length)))).toThrow(CodecError)
    }
  })
})

describe('a response frame', () => {
  test('reads back as the answer to its request', () => {
    const body = { throttleTimeMs: 0, errorCode: 0, responses: [] }
    const frame = Buffer.concat(encodeResponse(fetch, 12, { correlationId: 7 }, body))
    const { header, body: decoded } = decodeResponse(fetch, 12, frame.subarray(4))
    expect(header).toEqual({ correlationId: 7 })
    expect(decoded).toEqual({ ...body, sessionId: 0, nodeEndpoints: [] })
  })

  test('of ApiVersions has the old header in every version, so that any client can read it', () => {
    const body = { errorCode: 35, apiKeys: [{ apiKey: 18, minVersion: 0, maxVersion: 4 }] }
    for (let version = 0; version <= 5; version++) {
      const frame = Buffer.concat(
        encodeResponse(apiVersions, version, { correlationId: 7 }, { ...body, throttleTimeMs: 0 }),
      )
      // franz-go looks for the error code right after the correlation id.
      expect(frame.readInt16BE(8)).toBe(35)
    }
  })
})
