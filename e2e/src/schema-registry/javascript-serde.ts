import {
  createFileRegistry,
  createMutableRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type MutableRegistry,
  toJson,
} from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, file_google_protobuf_timestamp } from '@bufbuild/protobuf/wkt'
import {
  AvroDeserializer,
  AvroSerializer,
  JsonDeserializer,
  JsonSerializer,
  ProtobufDeserializer,
  ProtobufSerializer,
  type SchemaInfo,
  SchemaRegistryClient,
  SerdeType,
} from '@confluentinc/schemaregistry'
import type { Serde, SerdeSchema } from './serde.ts'

/** npm `@confluentinc/schemaregistry`. */
export const javascriptSerde: Serde = {
  name: '@confluentinc/schemaregistry (JavaScript)',
  tool: async () => undefined,
  async serialize(registryUrl, schema, topic, values) {
    const client = clientOf(registryUrl)
    const serializer = await serializerOf(client, schema, topic)
    const serialized: Buffer[] = []
    for (const value of values) serialized.push(Buffer.from(await serializer(value)))
    return serialized
  },
  async deserialize(registryUrl, schema, topic, values) {
    const client = clientOf(registryUrl)
    const deserialize = deserializerOf(client, schema, topic)
    const deserialized: object[] = []
    // As plain data, without the classes and absent fields that some of them have.
    for (const value of values) deserialized.push(JSON.parse(JSON.stringify(await deserialize(value))))
    return deserialized
  },
}

function clientOf(registryUrl: string): SchemaRegistryClient {
  return new SchemaRegistryClient({ baseURLs: [registryUrl], cacheCapacity: 100, cacheLatestTtlSecs: 60 })
}

async function serializerOf(
  client: SchemaRegistryClient,
  { kind, text }: SerdeSchema,
  topic: string,
): Promise<(value: object) => Promise<Buffer>> {
  if (kind === 'protobuf') {
    const { registry, order } = protobufTypes(text)
    const serializer = new ProtobufSerializer(client, SerdeType.VALUE, { registry, autoRegisterSchemas: true })
    return (value) => serializer.serialize(topic, fromJson(order, value as JsonObject))
  }
  const info: SchemaInfo = { schema: text, schemaType: kind.toUpperCase() }
  await client.register(`${topic}-value`, info)
  const conf = { useLatestVersion: true, autoRegisterSchemas: false }
  const serializer =
    kind === 'avro'
      ? new AvroSerializer(client, SerdeType.VALUE, conf)
      : new JsonSerializer(client, SerdeType.VALUE, { ...conf, validate: true })
  return (value) => serializer.serialize(topic, value)
}

function deserializerOf(
  client: SchemaRegistryClient,
  { kind, text }: SerdeSchema,
  topic: string,
): (value: Buffer) => Promise<unknown> {
  if (kind === 'protobuf') {
    const { registry, order } = protobufTypes(text)
    const deserializer = new ProtobufDeserializer(client, SerdeType.VALUE, {})
    return async (value) =>
      toJson(order, await deserializer.deserialize(topic, value), { registry, useProtoFieldName: true })
  }
  const deserializer =
    kind === 'avro'
      ? new AvroDeserializer(client, SerdeType.VALUE, {})
      : new JsonDeserializer(client, SerdeType.VALUE, { validate: true })
  return (value) => deserializer.deserialize(topic, value)
}

function protobufTypes(base64: string): { registry: MutableRegistry; order: DescMessage } {
  const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(base64, 'base64'))
  const files = createFileRegistry(file, (name) =>
    name === 'google/protobuf/timestamp.proto' ? file_google_protobuf_timestamp : undefined,
  )
  const order = files.getMessage(`${file.package}.Order`)
  if (order === undefined) throw new Error('the file has no type Order')
  return { registry: createMutableRegistry(files), order }
}
