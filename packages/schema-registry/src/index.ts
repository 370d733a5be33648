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
