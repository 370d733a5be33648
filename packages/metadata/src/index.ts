export {
  DatabaseLockedError,
  FencedError,
  MetadataUnavailableError,
  StreamExistsError,
  TopicCollisionError,
  UploadExpiredError,
} from './errors.ts'
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
export type { NodeIdentity, NodeRegistry } from './node-registry.ts'
export type {
  ExtentCut,
  LeaderEpochStart,
  NewFork,
  NewStream,
  OpenedStream,
  StreamCatalog,
  StreamFork,
  StreamLife,
  StreamRecord,
} from './stream-catalog.ts'
