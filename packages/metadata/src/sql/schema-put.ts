import type { Transaction } from 'kysely'
import type { NewSchemaVersion, PutSchemaOutcome } from '../schema-catalog.ts'
import { rowChunks } from './chunks.ts'
import { reserveNumbers } from './counters.ts'
import type { Schema } from './schema.ts'
import { isThere } from './schema-bindings.ts'
import { setPolicyOf } from './schema-policies.ts'
import { schemaVersion, schemaVersionRow } from './schema-rows.ts'

export async function putSchema(
  tx: Transaction<Schema>,
  draft: NewSchemaVersion,
  checkedAgainst: number | null,
  nowMs: number,
): Promise<PutSchemaOutcome> {
  const { name, kind, text, references, fingerprint, policy } = draft
  const ofName = tx.selectFrom('schema_versions').where('name', '=', name).where('deleted', '=', 0)
  const known = await ofName
    .selectAll()
    .where('fingerprint', '=', fingerprint)
    .orderBy('version', 'desc')
    .executeTakeFirst()
  if (known !== undefined) {
    if (policy !== undefined) await setPolicyOf(tx, name, policy)
    return { outcome: 'known', schema: schemaVersion(known) }
  }
  const newest = await ofName.select('version').orderBy('version', 'desc').executeTakeFirst()
  if ((newest?.version ?? null) !== checkedAgainst) {
    return { outcome: 'newest-changed', newest: newest?.version ?? null }
  }
  for (const reference of references) {
    if (!(await isThere(tx, reference))) return { outcome: 'unknown-reference', reference }
  }

  const version = await nextVersion(tx, name)
  if (policy !== undefined) await setPolicyOf(tx, name, policy)
  const schemaId = await idOf(tx, fingerprint)
  const schema = { name, version, schemaId, kind, text, references, fingerprint, createdAtMs: nowMs, isDeleted: false }
  await tx.insertInto('schema_versions').values(schemaVersionRow(schema)).execute()
  const imported = new Map(references.map((reference) => [`${reference.name}:${reference.version}`, reference]))
  for (const chunk of rowChunks([...imported.values()])) {
    const rows = chunk.map((to) => ({ name, version, imported_name: to.name, imported_version: to.version }))
    await tx.insertInto('schema_imports').values(rows).execute()
  }
  return { outcome: 'added', schema }
}

/** Numbers of versions that are gone for good stay taken. */
async function nextVersion(tx: Transaction<Schema>, name: string): Promise<number> {
  const row = await tx
    .insertInto('schema_names')
    .values({ name, last_version: 1, policy: null })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((eb) => ({ last_version: eb('schema_names.last_version', '+', 1) })),
    )
    .returning('last_version')
    .executeTakeFirstOrThrow()
  return row.last_version
}

/** What means the same has one id, as Confluent's serializers and their caches expect. Also of what is gone: records carry it. */
async function idOf(tx: Transaction<Schema>, fingerprint: string): Promise<number> {
  const known = await tx
    .selectFrom('schema_ids')
    .select('schema_id')
    .where('fingerprint', '=', fingerprint)
    .executeTakeFirst()
  if (known !== undefined) return known.schema_id
  const schemaId = await reserveNumbers(tx, 'schemaId', 1)
  await tx.insertInto('schema_ids').values({ schema_id: schemaId, fingerprint }).execute()
  return schemaId
}
