import type { Metadata } from '../metadata.ts'
import { sqlAudit } from './audit.ts'
import { sqlChanges } from './changes.ts'
import type { SqlDatabase } from './database.ts'
import { sqlLeases } from './leases.ts'
import { sqlLogIndex } from './log-index.ts'
import { sqlNodeRegistry } from './node-registry.ts'
import { sqlSchemaCatalog } from './schema-catalog.ts'
import { sqlStreamCatalog } from './stream-catalog.ts'
import { sqlTransfers } from './transfers.ts'

/** The metadata roles over a database of either dialect whose tables are up to date. */
export function sqlMetadata(database: SqlDatabase): Metadata {
  return {
    nodes: sqlNodeRegistry(database),
    streams: sqlStreamCatalog(database),
    log: sqlLogIndex(database),
    transfers: sqlTransfers(database),
    leases: sqlLeases(database),
    schemas: sqlSchemaCatalog(database),
    changes: sqlChanges(database),
    audit: sqlAudit(database),
    close: () => database.close(),
  }
}
