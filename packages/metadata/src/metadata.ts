import type { Audit } from './audit.ts'
import type { Changes } from './changes.ts'
import type { Leases } from './leases.ts'
import type { LogIndex } from './log-index.ts'
import type { NodeRegistry } from './node-registry.ts'
import type { SchemaCatalog } from './schema-catalog.ts'
import type { StreamCatalog } from './stream-catalog.ts'
import type { Transfers } from './transfers.ts'

/**
 * The transactional facts of a system, one small role each. Every method is one transaction, durable when it resolves; none is
 * left half done. A failure of the database itself rejects with MetadataUnavailableError (retriable; the outcome of a write is
 * then unknown until read back). Times are the caller's, in milliseconds since the epoch; only
 * who is alive and who holds a lease goes by the database's clock, which is the same for all.
 */
export interface Metadata {
  readonly nodes: NodeRegistry
  readonly streams: StreamCatalog
  readonly log: LogIndex
  readonly transfers: Transfers
  readonly leases: Leases
  readonly schemas: SchemaCatalog
  readonly changes: Changes
  readonly audit: Audit
  close(): Promise<void>
}
