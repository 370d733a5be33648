export interface LogSettings {
  /** A flush is sealed at this size. */
  readonly flushBytesMax: number
  /** A flush is sealed this long after the one before, or at once if that is over; 0 = as soon as the WAL has room for one more in flight. */
  readonly flushIntervalMs: number
  /** Flushes on their way at once (shared WAL; the local WAL decides for itself). */
  readonly flushesInFlightMax: number
  /** Bytes waiting to become durable, past which input is not read. */
  readonly unflushedBytesMax: number
  /** Recent entries kept in memory, for readers near the tail, and for packs: a pack, what gathers meanwhile, and a flush fit. */
  readonly logCacheBytes: number
  /** Chunks of data objects kept in memory. */
  readonly blockCacheBytes: number
  readonly readaheadBytesMax: number
  /** Un-packed bytes that start a pack. */
  readonly packBytes: number
  /** Un-packed runs (the entries of one stream in one flush) that start a pack: adopting them, should this node die, is a row for each. */
  readonly packRuns: number
  /** Un-packed bytes past which input is not read until packing has caught up. */
  readonly unpackedBytesMax: number
  /** Age of the oldest un-packed entry that starts a pack. */
  readonly packIntervalMs: number
  readonly segmentBytes: number
  /** A stream neither written nor read for this long, with nothing un-packed, is dropped from memory. */
  readonly idleStreamMs: number
  readonly maintenanceIntervalMs: number
  /** Objects below this size are merged... */
  readonly compactBelowBytes: number
  /** ...when at least so many are, or any of them is a WAL object or segment. */
  readonly compactFanIn: number
  /** How long a doomed object outlives its doom: readers that located it before may still fetch it. */
  readonly doomedGraceMs: number
  /** A call to the store that takes longer has failed. */
  readonly storeDeadlineMs: number
}

const MiB = 1024 * 1024

export const defaultLogSettings: LogSettings = {
  flushBytesMax: 8 * MiB,
  flushIntervalMs: 0,
  flushesInFlightMax: 4,
  unflushedBytesMax: 64 * MiB,
  logCacheBytes: 112 * MiB,
  blockCacheBytes: 100 * MiB,
  readaheadBytesMax: 4 * MiB,
  packBytes: 80 * MiB,
  packRuns: 50_000,
  unpackedBytesMax: 1024 * MiB,
  packIntervalMs: 60_000,
  segmentBytes: 64 * MiB,
  idleStreamMs: 60_000,
  maintenanceIntervalMs: 30_000,
  compactBelowBytes: 64 * MiB,
  compactFanIn: 8,
  doomedGraceMs: 60_000,
  storeDeadlineMs: 30_000,
}
