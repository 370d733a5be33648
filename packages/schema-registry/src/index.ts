export { SchemaUnavailableError } from './errors.ts'
export { noSchemas } from './no-schemas.ts'
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
