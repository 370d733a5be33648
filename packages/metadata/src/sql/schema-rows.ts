import type { Selectable } from 'kysely'
import type { SchemaReference, SchemaVersion } from '../schema-catalog.ts'
import type { SchemaVersionsTable } from './schema.ts'

export function schemaVersion(row: Selectable<SchemaVersionsTable>): SchemaVersion {
  return {
    name: row.name,
    version: row.version,
    schemaId: row.schema_id,
    kind: row.kind,
    text: row.text,
    references: JSON.parse(row.imports) as SchemaReference[],
    fingerprint: row.fingerprint,
    createdAtMs: row.created_at_ms,
    isDeleted: row.deleted === 1,
  }
}

export function schemaVersionRow(schema: SchemaVersion): Selectable<SchemaVersionsTable> {
  return {
    name: schema.name,
    version: schema.version,
    schema_id: schema.schemaId,
    kind: schema.kind,
    text: schema.text,
    imports: JSON.stringify(schema.references),
    fingerprint: schema.fingerprint,
    created_at_ms: schema.createdAtMs,
    deleted: schema.isDeleted ? 1 : 0,
  }
}
