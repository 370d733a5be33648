import type { SchemaKind } from '../schema.ts'
import { createAvroKind } from './avro/avro-kind.ts'
import { createJsonKind } from './json/json-kind.ts'
import { createProtobufKind } from './protobuf/protobuf-kind.ts'
import type { SchemaKindRules } from './schema-kind.ts'

export interface KindsSettings {
  /** Larger values of JSON are refused: parsed they take many times as much. */
  readonly maxJsonValueBytes: number
}

/** What each knows of the schemas that it has compiled, it knows in one thread. */
export function createKinds(settings: KindsSettings): Readonly<Record<SchemaKind, SchemaKindRules>> {
  return { json: createJsonKind(settings), avro: createAvroKind(), protobuf: createProtobufKind() }
}
