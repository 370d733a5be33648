import type { Kysely } from 'kysely'
import type { SchemaCatalog, SchemaSummary, SchemaVersion } from '../schema-catalog.ts'
import type { SqlDatabase } from './database.ts'
import type { Schema } from './schema.ts'
import { policiesOf, setPolicy } from './schema-policies.ts'
import { putSchema } from './schema-put.ts'
import { removeSchema } from './schema-removal.ts'
import { schemaVersion } from './schema-rows.ts'

export function sqlSchemaCatalog(database: SqlDatabase): SchemaCatalog {
  return {
    put: (schema, checkedAgainst, nowMs) =>
      database.write(
        `registering schema ${schema.name}`,
        (tx) => putSchema(tx, schema, checkedAgainst, nowMs),
        'harmless',
      ),
    newest: (name) => database.read(`looking up schema ${name}`, (db) => newestOf(db, name)),
    get: (name, version) =>
      database.read(`looking up schema ${name}:${version}`, (db) =>
        first(db.selectFrom('schema_versions').selectAll().where('name', '=', name).where('version', '=', version)),
      ),
    bySchemaId: (schemaId) =>
      database.read(`looking up schema id ${schemaId}`, (db) =>
        first(
          db
            .selectFrom('schema_versions')
            .selectAll()
            .where('schema_id', '=', schemaId)
            .orderBy('deleted')
            .orderBy('name')
            .orderBy('version'),
        ),
      ),
    byFingerprint: (name, fingerprint) =>
      database.read(`looking up a version of schema ${name}`, (db) =>
        first(
          db
            .selectFrom('schema_versions')
            .selectAll()
            .where('name', '=', name)
            .where('fingerprint', '=', fingerprint)
            .orderBy('deleted')
            .orderBy('version', 'desc'),
        ),
      ),
    withSchemaId: (schemaId, page) =>
      database.read(`looking up schema id ${schemaId}`, (db) => withSchemaId(db, schemaId, page)),
    versions: (name, page) => database.read(`listing versions of schema ${name}`, (db) => versionsOf(db, name, page)),
    list: (page) => database.read('listing schemas', (db) => listSchemas(db, page)),
    referencedBy: (name, version, limit) =>
      database.read(`looking up who imports schema ${name}:${version}`, (db) => importersOf(db, name, version, limit)),
    policies: (name) => database.read(`looking up the policy of schema ${name}`, (db) => policiesOf(db, name)),
    setPolicy: (name, policy) =>
      database.write('setting a policy of schemas', (tx) => setPolicy(tx, name, policy), 'harmless'),
    remove: (name, version, removal) =>
      database.write(`removing schema ${name}`, (tx) => removeSchema(tx, name, version, removal)),
  }
}

interface FirstOf {
  executeTakeFirst(): Promise<Parameters<typeof schemaVersion>[0] | undefined>
}

async function first(query: { limit(limit: number): FirstOf }): Promise<SchemaVersion | null> {
  const row = await query.limit(1).executeTakeFirst()
  return row === undefined ? null : schemaVersion(row)
}

function newestOf(db: Kysely<Schema>, name: string): Promise<SchemaVersion | null> {
  return first(
    db
      .selectFrom('schema_versions')
      .selectAll()
      .where('name', '=', name)
      .where('deleted', '=', 0)
      .orderBy('version', 'desc'),
  )
}

async function withSchemaId(
  db: Kysely<Schema>,
  schemaId: number,
  { limit, deleted }: { limit: number; deleted: boolean },
): Promise<SchemaVersion[]> {
  const rows = await db
    .selectFrom('schema_versions')
    .selectAll()
    .where('schema_id', '=', schemaId)
    .$if(!deleted, (query) => query.where('deleted', '=', 0))
    .orderBy('name')
    .orderBy('version')
    .limit(limit)
    .execute()
  return rows.map(schemaVersion)
}

async function versionsOf(
  db: Kysely<Schema>,
  name: string,
  { after, limit, deleted }: { after: number; limit: number; deleted: boolean },
): Promise<SchemaVersion[]> {
  const rows = await db
    .selectFrom('schema_versions')
    .selectAll()
    .where('name', '=', name)
    .where('version', '>', after)
    .$if(!deleted, (query) => query.where('deleted', '=', 0))
    .orderBy('version')
    .limit(limit)
    .execute()
  return rows.map(schemaVersion)
}

async function listSchemas(
  db: Kysely<Schema>,
  { prefix, after, limit, deleted }: { prefix: string; after: string | null; limit: number; deleted: boolean },
): Promise<SchemaSummary[]> {
  const rows = await db
    .selectFrom('schema_names')
    .innerJoin('schema_versions', 'schema_versions.name', 'schema_names.name')
    .select([
      'schema_names.name',
      'schema_names.policy',
      'schema_versions.version',
      'schema_versions.schema_id',
      'schema_versions.kind',
      'schema_versions.deleted',
    ])
    // The newest that is offered; where none is, the newest.
    .where('schema_versions.version', '=', (eb) =>
      eb
        .selectFrom('schema_versions as any_version')
        .select('any_version.version')
        .whereRef('any_version.name', '=', 'schema_names.name')
        .$if(!deleted, (query) => query.where('any_version.deleted', '=', 0))
        .orderBy('any_version.deleted')
        .orderBy('any_version.version', 'desc')
        .limit(1),
    )
    .where('schema_names.name', '>=', prefix)
    .$if(after !== null, (query) => query.where('schema_names.name', '>', after ?? ''))
    .orderBy('schema_names.name')
    .limit(limit)
    .execute()
  // In byte order the names with a prefix are consecutive and start at the prefix itself.
  const end = rows.findIndex((row) => !row.name.startsWith(prefix))
  return (end === -1 ? rows : rows.slice(0, end)).map((row) => ({
    name: row.name,
    version: row.version,
    schemaId: row.schema_id,
    kind: row.kind,
    policy: row.policy,
    isDeleted: row.deleted === 1,
  }))
}

async function importersOf(db: Kysely<Schema>, name: string, version: number, limit: number): Promise<SchemaVersion[]> {
  const rows = await db
    .selectFrom('schema_imports')
    .innerJoin('schema_versions', (join) =>
      join
        .onRef('schema_versions.name', '=', 'schema_imports.name')
        .onRef('schema_versions.version', '=', 'schema_imports.version'),
    )
    .selectAll('schema_versions')
    .where('imported_name', '=', name)
    .where('imported_version', '=', version)
    .where('deleted', '=', 0)
    .orderBy('schema_versions.name')
    .orderBy('schema_versions.version')
    .limit(limit)
    .execute()
  return rows.map(schemaVersion)
}
