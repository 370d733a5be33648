import type { Kysely, Transaction } from 'kysely'
import type { StreamState } from '../log-index.ts'
import { idChunks, rowChunks } from './chunks.ts'
import type { Schema } from './schema.ts'

export async function statesOfStreams(db: Kysely<Schema>, streamIds: readonly number[]): Promise<StreamState[]> {
  const states: StreamState[] = []
  for (const chunk of idChunks(streamIds)) {
    const rows = await db
      .selectFrom('stream_states')
      .select(['stream_id', 'state'])
      .where('stream_id', 'in', chunk)
      .execute()
    for (const row of rows) states.push({ streamId: row.stream_id, state: row.state })
  }
  return states
}

export async function replaceStates(tx: Transaction<Schema>, states: readonly StreamState[]): Promise<void> {
  for (const chunk of rowChunks(states)) {
    await tx
      .insertInto('stream_states')
      .values(chunk.map(({ streamId, state }) => ({ stream_id: streamId, state })))
      .onConflict((conflict) => conflict.column('stream_id').doUpdateSet((eb) => ({ state: eb.ref('excluded.state') })))
      .execute()
  }
}
