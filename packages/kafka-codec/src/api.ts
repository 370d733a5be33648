import type { Fields, StructInput, StructOf } from './field.ts'
import { type Codec, message } from './message.ts'

export interface ApiDeclaration<Request extends Fields, Response extends Fields> {
  readonly key: number
  /** As Kafka spells it: `OffsetForLeaderEpoch`. */
  readonly name: string
  /** First and last version that can be encoded and decoded here; what a broker offers is its own choice. */
  readonly versions: readonly [first: number, last: number]
  /** First flexible version (KIP-482); none if left out. */
  readonly flexibleFrom?: number
  readonly request: Request
  readonly response: Response
}

/** One Kafka API. `request(9).read(reader)` reads a request body of version 9; headers and frames are in `frame.ts`. */
export interface Api<Request extends Fields = Fields, Response extends Fields = Fields> {
  readonly key: number
  readonly name: string
  readonly versions: readonly [first: number, last: number]
  readonly flexibleFrom: number | undefined
  readonly requestFields: Request
  readonly responseFields: Response
  /** Throws `CodecError` if there is no such version; so does `response`. */
  request(version: number): Codec<StructOf<Request>, StructInput<Request>>
  response(version: number): Codec<StructOf<Response>, StructInput<Response>>
  isFlexible(version: number): boolean
}

/** What decoding a request gives: every field is there, at its default if the version does not carry it. */
export type RequestOf<A extends { readonly requestFields: Fields }> = StructOf<A['requestFields']>
export type ResponseOf<A extends { readonly responseFields: Fields }> = StructOf<A['responseFields']>

/** What encoding takes: tagged fields and fields with a declared default may be left out. */
export type RequestInput<A extends { readonly requestFields: Fields }> = StructInput<A['requestFields']>
export type ResponseInput<A extends { readonly responseFields: Fields }> = StructInput<A['responseFields']>

/** Declares an API: the order of fields is the order on the wire. */
export function api<const Request extends Fields, const Response extends Fields>(
  declaration: ApiDeclaration<Request, Response>,
): Api<Request, Response> {
  const { key, name, versions, flexibleFrom } = declaration
  const flexible = flexibleFrom === undefined ? {} : { flexibleFrom }
  const request = message({ name: `${name} request`, versions, ...flexible, fields: declaration.request })
  const response = message({ name: `${name} response`, versions, ...flexible, fields: declaration.response })
  return {
    key,
    name,
    versions,
    flexibleFrom,
    requestFields: declaration.request,
    responseFields: declaration.response,
    request: request.version,
    response: response.version,
    isFlexible: (version) => flexibleFrom !== undefined && version >= flexibleFrom,
  }
}
