import { describe } from 'vitest'
import { auditConformance } from './conformance/audit.ts'
import { changesConformance } from './conformance/changes.ts'
import { compactionConformance } from './conformance/compaction.ts'
import { compactionLagConformance } from './conformance/compaction-lag.ts'
import { costConformance } from './conformance/cost.ts'
import { doomedObjectsConformance } from './conformance/doomed-objects.ts'
import { extentReplacementConformance } from './conformance/extent-replacement.ts'
import { failureConformance } from './conformance/failure.ts'
import { leasesConformance } from './conformance/leases.ts'
import { nodeRegistryConformance } from './conformance/node-registry.ts'
import { packConformance } from './conformance/pack.ts'
import { randomHistoryConformance } from './conformance/random-history.ts'
import { retentionConformance } from './conformance/retention.ts'
import { schemaCatalogConformance } from './conformance/schema-catalog.ts'
import { schemaRemovalConformance } from './conformance/schema-removal.ts'
import { streamCatalogConformance } from './conformance/stream-catalog.ts'
import { streamLifeConformance } from './conformance/stream-life.ts'
import { streamOwnershipConformance } from './conformance/stream-ownership.ts'
import { streamPlacementConformance } from './conformance/stream-placement.ts'
import { streamRemovalConformance } from './conformance/stream-removal.ts'
import { transfersConformance } from './conformance/transfers.ts'
import { walConformance } from './conformance/wal.ts'
import type { OpenMetadata } from './conformance/world.ts'

export type { OpenMetadata } from './conformance/world.ts'

/**
 * The contract of `Metadata`, to be called inside a `describe` of each dialect's tests. `open` is called anew for every test, and
 * whoever calls this closes what it opened.
 * `historyRuns` random histories are tried; a long run tries thousands.
 */
export function metadataConformance(open: OpenMetadata, { historyRuns = 25 }: { historyRuns?: number } = {}): void {
  describe('node registry', () => nodeRegistryConformance(open))
  describe('stream catalog', () => streamCatalogConformance(open))
  describe('lives of streams', () => streamLifeConformance(open))
  describe('ownership', () => streamOwnershipConformance(open))
  describe('placement', () => streamPlacementConformance(open))
  describe('transfers', () => transfersConformance(open))
  describe('leases', () => leasesConformance(open))
  describe('trim and delete', () => streamRemovalConformance(open))
  describe('WAL rows', () => walConformance(open))
  describe('packs', () => packConformance(open))
  describe('compaction', () => compactionConformance(open))
  describe('replaced extents', () => extentReplacementConformance(open))
  describe('doomed objects', () => doomedObjectsConformance(open))
  describe('retention', () => retentionConformance(open))
  describe('compaction lag', () => compactionLagConformance(open))
  describe('schemas', () => schemaCatalogConformance(open))
  describe('removal of schemas', () => schemaRemovalConformance(open))
  describe('changes', () => changesConformance(open))
  describe('audit', () => auditConformance(open))
  describe('cost', () => costConformance(open))
  describe('random histories', () => randomHistoryConformance(open, historyRuns))
  describe('failure', () => failureConformance(open))
}
