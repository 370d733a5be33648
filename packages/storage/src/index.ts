export { type BlockCache, type BlockCacheSettings, type LentBytes, openBlockCache } from './block-cache.ts'
export {
  type Chunk,
  DATA_FORMAT_VERSION,
  type DataEntry,
  DataObjectBuilder,
  type StreamSlice,
} from './data-object.ts'
export { type DataObjectIndex, readDataObjectIndex } from './data-object-index.ts'
export {
  BucketMissingError,
  InvalidKeyError,
  MalformedError,
  ObjectCorruptError,
  ObjectMissingError,
  ObjectTruncatedError,
  SegmentDamagedError,
  SegmentExistsError,
  SegmentFailedError,
  StorageError,
  type StorageErrorCode,
  StoreClosedError,
  StoreDeniedError,
  StoreFailedError,
  StoreUnavailableError,
  systemCode,
  UnsupportedVersionError,
} from './errors.ts'
export { checkObjectKey, checkObjectPrefix } from './object-key.ts'
export type {
  ByteRange,
  GetOptions,
  ObjectBody,
  ObjectInfo,
  ObjectStore,
  PutOptions,
  StoreCallOptions,
  WriteHaste,
} from './object-store.ts'
export {
  type ReadSegment,
  type ScannedFrame,
  type SegmentScan,
  type SegmentScanOptions,
  scanSegment,
} from './segment-scan.ts'
export type { CreateOptions, SegmentStore, SegmentWriter } from './segment-store.ts'
export {
  type DecodedWalFrame,
  decodeWalFrame,
  type EncodedWalFrame,
  encodeWalFrame,
  type WalIdentity,
  type WalRun,
} from './wal-frame.ts'
export {
  type InvalidWalFrame,
  WAL_FORMAT_VERSION,
  WAL_FRAME_ALIGNMENT,
  WAL_FRAME_HEADER_BYTES,
} from './wal-frame-header.ts'
export { decodeWalIndex } from './wal-index.ts'
export {
  encodeSegmentHeader,
  type PreviousSegment,
  readSegmentHeader,
  WAL_SEGMENT_HEADER_BYTES,
  type WalSegmentHeader,
} from './wal-segment.ts'
