import type { Kysely, Transaction } from 'kysely'
import type { RemoveSchemaOutcome, SchemaRemoval } from '../schema-catalog.ts'
import type { Schema } from './schema.ts'
import { boundTo } from './schema-bindings.ts'
import { setPolicyOf } from './schema-policies.ts'

/** Topics and versions that a refusal names. */
const namedMax = 10

export async function removeSchema(
  tx: Transaction<Schema>,
  name: string,
  version: number | null,
  removal: SchemaRemoval,
): Promise<RemoveSchemaOutcome> {
  const rows = await tx
    .selectFrom('schema_versions')
    .select(['version', 'deleted'])
    .where('name', '=', name)
    .$if(version !== null, (query) => query.where('version', '=', version ?? 0))
    .orderBy('version')
    .execute()
  if (rows.length === 0) return { outcome: 'missing' }
  const offered = rows.filter((row) => row.deleted === 0)
  if (removal === 'soft' && offered.length === 0) return { outcome: 'deleted-already' }
  if (removal === 'final' && offered.length > 0) return { outcome: 'not-deleted-softly' }

  // What is deleted softly is bound nowhere, or its deletion would have been refused; and it cannot be bound.
  if (removal === 'soft') {
    const { to, count } = await boundTo(tx, name, version, namedMax)
    if (count > 0) return { outcome: 'bound', to, count }
  }
  const importers = await importersOf(tx, name, version, removal)
  if (importers.length > 0) {
    return { outcome: 'referenced', by: importers.slice(0, namedMax), count: importers.length }
  }

  const versions = (removal === 'soft' ? offered : rows).map((row) => row.version)
  if (removal === 'soft') await markDeleted(tx, name, versions)
  else await deleteRows(tx, name, versions)
  return { outcome: 'removed', versions }
}

/** Versions that would be left without what they import, in byte order of names. */
async function importersOf(
  db: Kysely<Schema>,
  name: string,
  version: number | null,
  removal: SchemaRemoval,
): Promise<{ name: string; version: number }[]> {
  return (
    db
      .selectFrom('schema_imports')
      .innerJoin('schema_versions', (join) =>
        join
          .onRef('schema_versions.name', '=', 'schema_imports.name')
          .onRef('schema_versions.version', '=', 'schema_imports.version'),
      )
      .select(['schema_versions.name', 'schema_versions.version'])
      .distinct()
      .where('imported_name', '=', name)
      .$if(version !== null, (query) => query.where('imported_version', '=', version ?? 0))
      // All of a name go together.
      .$if(version === null, (query) => query.where('schema_versions.name', '<>', name))
      .$if(removal === 'soft', (query) => query.where('deleted', '=', 0))
      .orderBy('schema_versions.name')
      .orderBy('schema_versions.version')
      .execute()
  )
}

async function markDeleted(tx: Transaction<Schema>, name: string, versions: readonly number[]): Promise<void> {
  await tx
    .updateTable('schema_versions')
    .set({ deleted: 1 })
    .where('name', '=', name)
    .where('version', '<=', Math.max(...versions))
    .where('version', '>=', Math.min(...versions))
    .execute()
}

async function deleteRows(tx: Transaction<Schema>, name: string, versions: readonly number[]): Promise<void> {
  for (const table of ['schema_imports', 'schema_versions'] as const) {
    await tx
      .deleteFrom(table)
      .where('name', '=', name)
      .where('version', '<=', Math.max(...versions))
      .where('version', '>=', Math.min(...versions))
      .execute()
  }
  const left = await tx.selectFrom('schema_versions').select('version').where('name', '=', name).executeTakeFirst()
  if (left === undefined) await setPolicyOf(tx, name, null)
}
