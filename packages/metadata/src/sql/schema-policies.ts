import type { Kysely, Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/** Row of `facts`. */
const commonPolicyFact = 'schemaPolicy'

export async function policiesOf(
  db: Kysely<Schema>,
  name: string,
): Promise<{ own: string | null; common: string | null }> {
  const own = await db.selectFrom('schema_names').select('policy').where('name', '=', name).executeTakeFirst()
  const common = await db.selectFrom('facts').select('value').where('name', '=', commonPolicyFact).executeTakeFirst()
  return { own: own?.policy ?? null, common: common?.value ?? null }
}

export async function setPolicy(tx: Transaction<Schema>, name: string | null, policy: string | null): Promise<void> {
  if (name !== null) {
    await setPolicyOf(tx, name, policy)
  } else if (policy === null) {
    await tx.deleteFrom('facts').where('name', '=', commonPolicyFact).execute()
  } else {
    await tx
      .insertInto('facts')
      .values({ name: commonPolicyFact, value: policy })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: policy }))
      .execute()
  }
}

export async function setPolicyOf(tx: Transaction<Schema>, name: string, policy: string | null): Promise<void> {
  await tx
    .insertInto('schema_names')
    .values({ name, last_version: 0, policy })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ policy }))
    .execute()
}
