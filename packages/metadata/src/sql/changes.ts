import type { Transaction } from 'kysely'
import type { Changes } from '../changes.ts'
import { rowChunks } from './chunks.ts'
import type { SqlDatabase } from './database.ts'
import type { Schema } from './schema.ts'

export function sqlChanges(database: SqlDatabase): Changes {
  const { changeLog } = database
  return {
    since: async (cursor) => {
      const {
        cursor: next,
        isKnown,
        topicIds,
      } = await database.read('reading changes', (db) => changeLog.since(db, cursor, toldMax + 1))
      if (cursor === null) return { cursor: next, topicIds: [] }
      return { cursor: next, topicIds: isKnown && topicIds.length <= toldMax ? topicIds : 'too-old' }
    },
    watch: (onChange) => changeLog.watch(onChange),
    forget: (olderThanMs) =>
      database.write('forgetting changes', (tx) => changeLog.forget(tx, olderThanMs, database.nowMs()), 'harmless'),
  }
}

/** Topics that one call tells of. */
const toldMax = 10_000

/** To be called in the transaction that changes the topics. */
export async function recordTopicChanges(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  topicIds: Iterable<string>,
): Promise<void> {
  const rows = [...new Set(topicIds)].map((topicId) => ({ topic_id: topicId, at_ms: database.nowMs() }))
  if (rows.length === 0) return
  for (const chunk of rowChunks(rows)) await tx.insertInto('changes').values(chunk).execute()
  await database.changeLog.tell(tx, 'topics')
}
