import type { Kysely, Transaction } from 'kysely'
import { SchemaMissingError } from '../errors.ts'
import type { Schema } from './schema.ts'
import { boundSchema } from './schema-binding-config.ts'
import { lifeNumbers } from './stream-rows.ts'

/**
 * To be called in the transaction that binds streams: who deletes a schema looks for its bindings in one too, so that one of them sees the
 * other. @throws SchemaMissingError
 */
export async function requireBoundSchemas(
  tx: Transaction<Schema>,
  configs: Iterable<Readonly<Record<string, string>>>,
): Promise<void> {
  const bound = new Map(
    [...configs].flatMap((config) => {
      const schema = boundSchema(config)
      return schema === null ? [] : [[`${schema.name}:${schema.version}`, schema] as const]
    }),
  )
  for (const schema of bound.values()) {
    if (!(await isThere(tx, schema))) throw new SchemaMissingError(schema.name, schema.version)
  }
}

/** Whether there is such a version that is not deleted: it may be bound, and imported. */
export async function isThere(
  tx: Transaction<Schema>,
  { name, version }: { readonly name: string; readonly version: number },
): Promise<boolean> {
  const row = await tx
    .selectFrom('schema_versions')
    .select('version')
    .where('name', '=', name)
    .where('version', '=', version)
    .where('deleted', '=', 0)
    .executeTakeFirst()
  return row !== undefined
}

/** The first topics, or streams without one, that are bound to that version (null: to any of the name), and how many there are. */
export async function boundTo(
  db: Kysely<Schema>,
  name: string,
  version: number | null,
  limit: number,
): Promise<{ to: string[]; count: number }> {
  const streams = db
    .selectFrom('streams')
    .select((eb) => eb.fn.coalesce('topic', 'name').as('bound'))
    .distinct()
    .where('schema_name', '=', name)
    .$if(version !== null, (query) => query.where('schema_version', '=', version))
    .where('life', '<>', lifeNumbers.gone)
  const { count } = await db
    .selectFrom(streams.as('streams'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count === 0) return { to: [], count }
  const rows = await streams.orderBy('bound').limit(limit).execute()
  return { to: rows.map((row) => row.bound), count }
}
