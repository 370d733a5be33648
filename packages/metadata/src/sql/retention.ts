import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

export async function retentionDue(
  _db: Kysely<Schema>,
  _nowMs: number,
  _limit: number,
): Promise<{ streamId: number; trimTo: number }[]> {
  return []
}
