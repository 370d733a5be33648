import type { SchemaKindRules } from '../schema-kind.ts'

export function createProtobufKind(): SchemaKindRules {
  return {
    compile: () => ({ problems: [{ path: '', reason: 'Protobuf is not supported yet' }] }),
    incompatibilities: () => [{ path: '', reason: 'Protobuf is not supported yet' }],
  }
}
