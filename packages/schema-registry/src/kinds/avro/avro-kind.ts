import type { SchemaKindRules } from '../schema-kind.ts'

export function createAvroKind(): SchemaKindRules {
  return {
    compile: () => ({ problems: [{ path: '', reason: 'Avro is not supported yet' }] }),
    incompatibilities: () => [{ path: '', reason: 'Avro is not supported yet' }],
  }
}
