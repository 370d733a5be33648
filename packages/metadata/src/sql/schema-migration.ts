import { type ColumnDataType, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { SchemaDialect } from './migrations.ts'

/** Named schemas, and which of them streams are bound to. */
export function schemas({ text, id }: SchemaDialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('schema_names')
        .addColumn('name', text, (c) => c.primaryKey())
        .addColumn('last_version', 'bigint', (c) => c.notNull())
        .addColumn('policy', text)
        .execute()
      await db.schema
        .createTable('schema_ids')
        .addColumn('schema_id', id, (c) => c.primaryKey())
        .addColumn('fingerprint', text, (c) => c.notNull().unique())
        .execute()
      await db.schema
        .createTable('schema_versions')
        .addColumn('name', text, (c) => c.notNull().references('schema_names.name'))
        .addColumn('version', 'bigint', (c) => c.notNull())
        .addColumn('schema_id', 'bigint', (c) => c.notNull().references('schema_ids.schema_id'))
        .addColumn('kind', text, (c) => c.notNull())
        .addColumn('text', text, (c) => c.notNull())
        .addColumn('imports', text, (c) => c.notNull())
        .addColumn('fingerprint', text, (c) => c.notNull())
        .addColumn('created_at_ms', 'bigint', (c) => c.notNull())
        .addColumn('deleted', 'integer', (c) => c.notNull())
        .addPrimaryKeyConstraint('schema_versions_pk', ['name', 'version'])
        .execute()
      await db.schema.createIndex('schema_versions_id').on('schema_versions').columns(['schema_id', 'name']).execute()
      await db.schema
        .createIndex('schema_versions_fingerprint')
        .on('schema_versions')
        .columns(['name', 'fingerprint'])
        .execute()
      await db.schema
        .createTable('schema_imports')
        .addColumn('name', text, (c) => c.notNull())
        .addColumn('version', 'bigint', (c) => c.notNull())
        .addColumn('imported_name', text, (c) => c.notNull())
        .addColumn('imported_version', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('schema_imports_pk', ['name', 'version', 'imported_name', 'imported_version'])
        .addForeignKeyConstraint('schema_imports_by', ['name', 'version'], 'schema_versions', ['name', 'version'])
        .addForeignKeyConstraint('schema_imports_of', ['imported_name', 'imported_version'], 'schema_versions', [
          'name',
          'version',
        ])
        .execute()
      await db.schema
        .createIndex('schema_imports_of')
        .on('schema_imports')
        .columns(['imported_name', 'imported_version'])
        .execute()

      await db.schema
        .alterTable('streams')
        .addColumn('schema_name', text as ColumnDataType)
        .execute()
      await db.schema.alterTable('streams').addColumn('schema_version', 'bigint').execute()
      // A partial index: streams that are bound to none cost nothing.
      await db.schema
        .createIndex('streams_schema')
        .on('streams')
        .columns(['schema_name', 'schema_version'])
        .where(sql.ref('schema_name'), 'is not', null)
        .execute()
    },
  }
}
