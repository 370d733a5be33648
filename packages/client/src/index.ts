export type {
  CompatibilityName,
  DescribedSchema,
  ListedSchema,
  ListedStream,
  LiveMode,
  PutSchema,
  SchemaCheck,
  SchemaKindName,
  SchemaReason,
  SchemaVersionFacts,
} from '@pico/http-contract'
export type { Receipt } from './batch-sender.ts'
export type { ClientSettings } from './client-settings.ts'
export { DurableChunk } from './durable-chunk.ts'
export { DurableStreamsClient } from './durable-client.ts'
export type { DurableProducer } from './durable-producer.ts'
export type {
  DurableAppendOptions,
  DurableCreateOptions,
  DurableFollowOptions,
  DurableHead,
  DurableReadOptions,
  DurableStream,
} from './durable-stream.ts'
export { PicoError, type PicoErrorCode } from './errors.ts'
export { type ListOptions, PicoClient } from './pico-client.ts'
export type { PicoProducer } from './pico-producer.ts'
export type { DeletedToo, PicoSchemas, PutSchemaOptions, SchemaText } from './pico-schemas.ts'
export type {
  Appended,
  AppendOptions,
  CallOptions,
  CreateOptions,
  FollowOptions,
  From,
  Page,
  PicoStream,
  ReadOptions,
  StreamHead,
} from './pico-stream.ts'
export type { ProducerSettings } from './producer-settings.ts'
export { type RecordFields, type RecordHeader, type RecordInput, StreamRecord } from './record.ts'
export type { RetrySettings } from './retry-schedule.ts'
