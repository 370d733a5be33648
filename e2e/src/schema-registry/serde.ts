import type { SchemaKindName } from '@pico/http-contract'

/** A schema as a test has it. */
export interface SerdeSchema {
  readonly kind: SchemaKindName
  /** Of Protobuf a serialized file descriptor in base64, whose type `Order` values are of. */
  readonly text: string
  /** A file with that text. */
  readonly path: string
}

/** Confluent's serializers of one language: they register the schema under `<topic>-value`, and find it again by the id in a value. */
export interface Serde {
  readonly name: string
  /** Fails when what it runs on is missing. */
  readonly tool: () => Promise<unknown>
  /** Values as JSON has them: of Protobuf as its mapping to JSON has it, with the field names of the file. */
  serialize(registryUrl: string, schema: SerdeSchema, topic: string, values: readonly object[]): Promise<Buffer[]>
  deserialize(registryUrl: string, schema: SerdeSchema, topic: string, values: readonly Buffer[]): Promise<object[]>
}
