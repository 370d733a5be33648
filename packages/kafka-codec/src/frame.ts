import { ByteReader, ByteWriter } from '@pico/binary'
import type { Api } from './api.ts'
import type { Fields, StructInput, StructOf } from './field.ts'
import {
  type RequestHeader,
  type ResponseHeader,
  readResponseHeader,
  writeRequestHeader,
  writeResponseHeader,
} from './header.ts'

/**
 * A whole request as it goes to the socket: length, header, body. Long byte fields of `body` are among the buffers as
 * they are, so write them all with `writev` and leave them unchanged until they are sent.
 */
export function encodeRequest<Request extends Fields, Response extends Fields>(
  api: Api<Request, Response>,
  version: number,
  header: Pick<RequestHeader, 'correlationId' | 'clientId' | 'unknownTags'>,
  body: StructInput<Request>,
): Uint8Array[] {
  return framed((writer) => {
    writeRequestHeader(writer, api, { ...header, apiKey: api.key, apiVersion: version })
    api.request(version).write(writer, body)
  })
}

/** A whole response as it goes to the socket; as `encodeRequest`. */
export function encodeResponse<Request extends Fields, Response extends Fields>(
  api: Api<Request, Response>,
  version: number,
  header: ResponseHeader,
  body: StructInput<Response>,
): Uint8Array[] {
  return framed((writer) => {
    writeResponseHeader(writer, api, version, header)
    api.response(version).write(writer, body)
  })
}

/** Reads the payload of a frame, without its length, as the answer to a request of this API and version. */
export function decodeResponse<Request extends Fields, Response extends Fields>(
  api: Api<Request, Response>,
  version: number,
  payload: Uint8Array,
): { header: ResponseHeader; body: StructOf<Response> } {
  const reader = new ByteReader(payload)
  const header = readResponseHeader(reader, api, version)
  return { header, body: api.response(version).read(reader) }
}

function framed(write: (writer: ByteWriter) => void): Uint8Array[] {
  const writer = new ByteWriter()
  const place = writer.reserveInt32()
  write(writer)
  writer.fillInt32(place, writer.length - 4)
  return writer.finish()
}
