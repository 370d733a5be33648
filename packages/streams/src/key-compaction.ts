import type { LogStream, PackedRange } from '@pico/log'
import { type BatchView, batches, emptyBatch, retainRecords } from '@pico/record-batch'
import { LatestOffsets } from './latest-offsets.ts'
import type { TopicConfig } from './topic-config.ts'

export interface KeyCompactionSettings {
  /** Keys remembered in one pass; more are left to the next one. About 100 bytes each. */
  readonly keysMax: number
  /** Ranges are rewritten into new objects of about this size. */
  readonly objectBytes: number
}

export interface KeyCompactionTerms {
  readonly config: Pick<TopicConfig, 'deleteRetentionMs' | 'minCompactionLagMs' | 'minCleanableDirtyRatio'>
  /** Below it every key has one record, but for those that came again since. */
  readonly cleanedTo: number
  /** Something has been new for longer than `max.compaction.lag.ms`: how much it is does not matter then. */
  readonly isOverdue: boolean
  readonly nowMs: number
  readonly signal: AbortSignal
}

const maxDecompressedBytes = 128 * 1024 * 1024

/**
 * One pass over a stream whose topic has the policy "compact", by the rules of Kafka's log cleaner: what is new since the last pass says
 * which offset is each key's last one; everything up to there is written anew without records that a later one has taken the place of.
 * Offsets stay, what is not packed is not touched, and a tombstone goes once its batch's delete horizon has passed: that is the first pass
 * that saw it, and `delete.retention.ms` after it (KIP-534). Returns up to where the stream is clean.
 *
 * Each group of ranges is replaced by itself, all or nothing: a pass that is cut short has only done less, and the next one does it again.
 */
export async function compactByKey(
  stream: LogStream,
  terms: KeyCompactionTerms,
  settings: KeyCompactionSettings,
): Promise<number> {
  const { cleanedTo, signal } = terms
  const packed = stream.packed
  const dirty = dirtyRanges(packed, terms)
  if (!isWorthIt(packed, dirty, terms)) return cleanedTo
  const latest = new LatestOffsets(settings.keysMax)
  const end = await rememberLatest(stream, dirty, latest, terms)
  const rules: CleaningRules = { latest, end, terms }
  for (const group of groupsOf(
    packed.filter(({ baseOffset }) => baseOffset < end),
    settings.objectBytes,
  )) {
    if (signal.aborted) return cleanedTo
    if (!(await wouldChange(stream, group, rules))) continue
    // Somebody trimmed or merged: what has become of the ranges is for the next pass.
    if (!(await stream.replacePacked(group, cleaned(stream, group, rules), signal))) return cleanedTo
  }
  return end
}

interface CleaningRules {
  readonly latest: LatestOffsets
  /** Records from there on are as they were. */
  readonly end: number
  readonly terms: KeyCompactionTerms
}

/** What is new since the last pass, up to the first range with a record that is too young. */
function dirtyRanges(packed: readonly PackedRange[], { cleanedTo, config, nowMs }: KeyCompactionTerms): PackedRange[] {
  const dirty: PackedRange[] = []
  for (const range of packed) {
    if (range.endOffset <= cleanedTo) continue
    if (config.minCompactionLagMs > 0 && range.maxTimestampMs > nowMs - config.minCompactionLagMs) break
    dirty.push(range)
  }
  return dirty
}

function isWorthIt(
  packed: readonly PackedRange[],
  dirty: readonly PackedRange[],
  { config, isOverdue }: KeyCompactionTerms,
): boolean {
  const [first] = dirty
  if (first === undefined) return false
  if (isOverdue) return true
  const clean = packed.filter(({ endOffset }) => endOffset <= first.baseOffset)
  const dirtyBytes = bytesOf(dirty)
  return dirtyBytes / (bytesOf(clean) + dirtyBytes) >= config.minCleanableDirtyRatio
}

/** Fills `latest`, and says up to where: the end of what is dirty, or the batch whose keys have no room any more. */
async function rememberLatest(
  stream: LogStream,
  dirty: readonly PackedRange[],
  latest: LatestOffsets,
  { cleanedTo, signal }: KeyCompactionTerms,
): Promise<number> {
  let end = cleanedTo
  for (const range of dirty) {
    for await (const bytes of stream.readPacked(range, signal)) {
      for (const batch of batches(bytes)) {
        if (batch.lastOffset < cleanedTo) continue
        // One batch fits always, or nothing would ever be done.
        if (!latest.hasRoomFor(batch.count) && !latest.isEmpty) return batch.baseOffset
        rememberBatch(batch, latest)
      }
    }
    end = range.endOffset
  }
  return end
}

function rememberBatch(batch: BatchView, latest: LatestOffsets): void {
  retainRecords(batch, {
    keep({ key, offset }) {
      if (key !== null) latest.set(key, offset)
      return true
    },
    deleteHorizonMs: null,
    maxDecompressedBytes,
  })
}

function* groupsOf(ranges: readonly PackedRange[], objectBytes: number): Generator<PackedRange[]> {
  let group: PackedRange[] = []
  for (const range of ranges) {
    if (group.length > 0 && bytesOf(group) + range.lengthBytes > objectBytes) {
      yield group
      group = []
    }
    group.push(range)
  }
  if (group.length > 0) yield group
}

/** Reads until something would change, which in a group that has to be rewritten is soon. */
async function wouldChange(stream: LogStream, group: readonly PackedRange[], rules: CleaningRules): Promise<boolean> {
  for (const range of group) {
    for await (const bytes of stream.readPacked(range, rules.terms.signal)) {
      for (const batch of batches(bytes)) {
        const kept = cleanBatch(batch, rules)
        const isLastOfGroup = batch.lastOffset + 1 === group.at(-1)?.endOffset
        const isGone = kept === null && (batch.count > 0 || !isLastOfGroup)
        if (isGone || (kept !== null && !isViewOf(batch, kept))) return true
      }
    }
  }
  return false
}

/** The entries of a group that stay. Something always does: when the last batch is left without a record, it says so itself. */
async function* cleaned(
  stream: LogStream,
  group: readonly PackedRange[],
  rules: CleaningRules,
): AsyncGenerator<Uint8Array> {
  let removedLast: Uint8Array | null = null
  for (const range of group) {
    for await (const bytes of stream.readPacked(range, rules.terms.signal)) {
      const kept: Uint8Array[] = []
      for (const batch of batches(bytes)) {
        const rest = cleanBatch(batch, rules)
        removedLast = rest === null ? emptyBatch(batch) : null
        if (rest !== null) kept.push(rest)
      }
      if (kept.length > 0) yield Buffer.concat(kept)
    }
  }
  if (removedLast !== null) yield removedLast
}

/** Null when no record is left. */
function cleanBatch(batch: BatchView, { latest, end, terms }: CleaningRules): Uint8Array | null {
  if (batch.baseOffset >= end) return batch.batchBytes()
  const { config, nowMs } = terms
  const isPastHorizon = batch.hasDeleteHorizon && batch.baseTimestamp <= nowMs
  return retainRecords(batch, {
    keep({ key, offset, isTombstone }) {
      if (offset >= end) return true
      // A record without a key has no successor; Kafka's cleaner takes it for one that should not be there.
      if (key === null || latest.get(key) > offset) return false
      return !(isTombstone && isPastHorizon)
    },
    deleteHorizonMs: nowMs + config.deleteRetentionMs,
    maxDecompressedBytes,
  })
}

function isViewOf(batch: BatchView, bytes: Uint8Array): boolean {
  const own = batch.batchBytes()
  return own.buffer === bytes.buffer && own.byteOffset === bytes.byteOffset && own.length === bytes.length
}

function bytesOf(ranges: readonly PackedRange[]): number {
  return ranges.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
}
