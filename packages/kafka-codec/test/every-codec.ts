import {
  apis,
  type Codec,
  consumerProtocolAssignment,
  consumerProtocolSubscription,
  type Fields,
  groupMetadataValue,
  offsetCommitValue,
} from '../src/index.ts'

export interface DescribedCodec {
  /** `Produce request v9`. */
  readonly title: string
  readonly codec: Codec<object, object>
  readonly fields: Fields
}

/** One codec for each message in each direction and version. */
export const everyCodec: readonly DescribedCodec[] = [
  ...apis.flatMap((api) => [
    ...described(api.versions, api.requestFields, (version) => api.request(version)),
    ...described(api.versions, api.responseFields, (version) => api.response(version)),
  ]),
  ...[consumerProtocolSubscription, consumerProtocolAssignment, offsetCommitValue, groupMetadataValue].flatMap(
    (message) => described(message.versions, message.fields, (version) => message.version(version)),
  ),
]

function described(
  [first, last]: readonly [number, number],
  fields: Fields,
  codecOf: (version: number) => Codec<object, object>,
): DescribedCodec[] {
  return Array.from({ length: last - first + 1 }, (_, index) => codecOf(first + index)).map((codec) => ({
    title: `${codec.name} v${codec.version}`,
    codec,
    fields,
  }))
}
