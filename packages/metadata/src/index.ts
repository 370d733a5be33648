export type { Audit, KnownDataObject, KnownObject, LeftoverRows, StreamAudit } from './audit.ts'
export type { ChangeKind, Changes } from './changes.ts'
export {
  DatabaseLockedError,
  FencedError,
  MetadataUnavailableError,
  SchemaMissingError,
  StreamExistsError,
  StreamNotOwnedError,
  TopicCollisionError,
  UploadExpiredError,
} from './errors.ts'
export type { Leases } from './leases.ts'
export type {
  Compaction,
  DoomedObject,
  Extent,
  ExtentReplacement,
  LogIndex,
  NewExtent,
  NewObject,
  ObjectSummary,
  PackCommit,
  StreamState,
  WalObjectRow,
  WalSegmentRow,
} from './log-index.ts'
export type { Metadata } from './metadata.ts'
export type { NodeIdentity, NodeRecord, NodeRegistry } from './node-registry.ts'
export type {
  NewSchemaVersion,
  PutSchemaOutcome,
  RemoveSchemaOutcome,
  SchemaCatalog,
  SchemaReference,
  SchemaRemoval,
  SchemaSummary,
  SchemaVersion,
} from './schema-catalog.ts'
export type {
  ExtentCut,
  LeaderEpochStart,
  NewFork,
  NewStream,
  OpenedStream,
  StreamCatalog,
  StreamFork,
  StreamLife,
  StreamPlace,
  StreamRecord,
} from './stream-catalog.ts'
export type { Transfer, TransferRefusal, Transfers } from './transfers.ts'
