import type { ByteReader, ByteWriter } from '@pico/binary'
import type { Api } from './api.ts'
import { decodeFailure, encodeFailure } from './errors.ts'
import type { UnknownTag } from './field.ts'
import { apiOf } from './registry.ts'
import { scalarCodec } from './scalar-codec.ts'
import { taggedFieldsCodec } from './tagged-fields.ts'

export type RequestHeader = {
  apiKey: number
  apiVersion: number
  /** Comes back in the response. */
  correlationId: number
  /** What the client calls itself. */
  clientId: string | null
  unknownTags?: readonly UnknownTag[]
}

export type ResponseHeader = {
  correlationId: number
  unknownTags?: readonly UnknownTag[]
}

/** The part of an API that decides on headers. */
type Versioned = Pick<Api, 'key' | 'isFlexible'>

const apiVersionsKey = 18

// The client id kept its int16 length in header version 2 (KIP-482), so that it reads the same in both.
const clientIdCodec = scalarCodec('string', true, false)
const tags = taggedFieldsCodec([])

/** Request header version 2 has tagged fields and stands before flexible bodies; version 1 before all others. */
export function requestHeaderVersion(api: Versioned, version: number): 1 | 2 {
  return api.isFlexible(version) ? 2 : 1
}

/**
 * Response header version 1 has tagged fields, version 0 does not. ApiVersions always answers with version 0, so that
 * a client can read the answer before it knows what the broker speaks (KIP-511).
 */
export function responseHeaderVersion(api: Versioned, version: number): 0 | 1 {
  return api.key !== apiVersionsKey && api.isFlexible(version) ? 1 : 0
}

/**
 * Reads whichever version the API key and version in it ask for. An API that this package does not describe is read as
 * version 1, which is right up to the client id; its body cannot be read anyway. Throws `CodecError`.
 */
export function readRequestHeader(reader: ByteReader): RequestHeader {
  let headerVersion = 1
  try {
    const apiKey = reader.int16()
    const apiVersion = reader.int16()
    const api = apiOf(apiKey)
    if (api !== undefined) headerVersion = requestHeaderVersion(api, apiVersion)
    const correlationId = reader.int32()
    const clientId = clientIdCodec.read(reader) as string | null
    const header: RequestHeader = { apiKey, apiVersion, correlationId, clientId }
    if (headerVersion === 2) tags.read(reader, reader.uvarint(), header)
    return header
  } catch (error) {
    throw decodeFailure('RequestHeader', headerVersion, error)
  }
}

export function writeRequestHeader(writer: ByteWriter, api: Versioned, header: RequestHeader): void {
  const headerVersion = requestHeaderVersion(api, header.apiVersion)
  try {
    writer.int16(header.apiKey)
    writer.int16(header.apiVersion)
    writer.int32(header.correlationId)
    clientIdCodec.write(writer, header.clientId)
    if (headerVersion === 2) tags.write(writer, header)
  } catch (error) {
    throw encodeFailure('RequestHeader', headerVersion, error)
  }
}

export function readResponseHeader(reader: ByteReader, api: Versioned, version: number): ResponseHeader {
  const headerVersion = responseHeaderVersion(api, version)
  try {
    const header: ResponseHeader = { correlationId: reader.int32() }
    if (headerVersion === 1) tags.read(reader, reader.uvarint(), header)
    return header
  } catch (error) {
    throw decodeFailure('ResponseHeader', headerVersion, error)
  }
}

export function writeResponseHeader(writer: ByteWriter, api: Versioned, version: number, header: ResponseHeader): void {
  const headerVersion = responseHeaderVersion(api, version)
  try {
    writer.int32(header.correlationId)
    if (headerVersion === 1) tags.write(writer, header)
  } catch (error) {
    throw encodeFailure('ResponseHeader', headerVersion, error)
  }
}
