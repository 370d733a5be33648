export type { RemoveSchemaOutcome, SchemaReference, SchemaRemoval, SchemaSummary } from '@pico/metadata'
export { SchemaUnavailableError } from './errors.ts'
export { noSchemas } from './no-schemas.ts'
export {
  defaultSchemaRegistrySettings,
  openSchemaRegistry,
  type SchemaPage,
  type SchemaRegistry,
  type SchemaRegistryParts,
  type SchemaRegistrySettings,
} from './registry.ts'
export type {
  CheckOutcome,
  DraftRefusal,
  Incompatible,
  PutOutcome,
  RegisteredSchema,
  SchemaDraft,
} from './registry-answers.ts'
export type { Incompatibility } from './registry-compatibility.ts'
export { parseSchemaVersion, schemaNameLengthMax, schemaNameProblem } from './registry-names.ts'
export { type CompatibilityPolicy, compatibilityPolicies, defaultCompatibilityPolicy } from './registry-policies.ts'
export type {
  Judged,
  RecordProblem,
  SchemaBinding,
  SchemaEncoding,
  SchemaJudge,
  SchemaKind,
  SchemaProblem,
  SchemaSource,
} from './schema.ts'
export { schemaEncodings, schemaKinds } from './schema.ts'
export {
  type LoadedSchema,
  type SchemaWorkers,
  type SchemaWorkersSettings,
  startSchemaWorkers,
} from './workers/schema-workers.ts'
