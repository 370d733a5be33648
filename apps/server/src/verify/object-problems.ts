import type { KnownObject } from '@pico/metadata'
import type { ObjectInfo } from '@pico/storage'
import type { Problem } from './finding.ts'

export interface ObjectLimits {
  readonly nowMs: number
  /** What is unknown, or should be gone, may be there for so long. */
  readonly boundMs: number
  /** How long a doomed object outlives its doom on purpose. */
  readonly graceMs: number
}

/** What is wrong with an object that the database knows, or the store has. */
export function objectProblems(
  known: KnownObject | null,
  stored: ObjectInfo | null,
  { nowMs, boundMs, graceMs }: ObjectLimits,
): Problem[] {
  if (known === null) {
    const ageMs = stored === null ? 0 : nowMs - stored.modifiedAtMs
    if (stored === null || ageMs <= boundMs) return []
    return [{ kind: 'stray', what: `no row knows it, and it was put ${duration(ageMs)} ago` }]
  }
  if (known.data === null && known.wal === null) {
    const overdueMs = nowMs - graceMs - boundMs - (known.doomedAtMs ?? nowMs)
    if (overdueMs <= 0) return []
    const there = stored === null ? 'its row is still there' : 'it is still there'
    return [{ kind: 'overdue', what: `doomed ${duration(overdueMs + graceMs + boundMs)} ago, and ${there}` }]
  }
  return [...bytesProblems(known, stored), ...rowProblems(known)]
}

/** Whether the row of a segment may be there without a file: it comes first, and a segment that was never written to is deleted. */
export function isUnwrittenSegment({ data, wal }: KnownObject): boolean {
  return data === null && wal?.kind === 'segment' && (wal.committedBytes ?? 0) === 0
}

function bytesProblems(known: KnownObject, stored: ObjectInfo | null): Problem[] {
  const { data, wal } = known
  const walBytes = wal?.kind === 'segment' ? wal.sizeBytes : (wal?.lengthBytes ?? 0)
  const neededBytes = Math.max(data?.lengthBytes ?? 0, walBytes)
  if (stored === null) {
    if (isUnwrittenSegment(known)) return []
    return [{ kind: 'missing', what: `${neededBytes} bytes are needed ${reason(known)}, and it is not in the store` }]
  }
  if (stored.sizeBytes >= neededBytes) return []
  return [
    { kind: 'short', what: `${neededBytes} bytes are needed ${reason(known)}, and the store has ${stored.sizeBytes}` },
  ]
}

function reason({ data, wal }: KnownObject): string {
  const reasons = [
    ...(data === null ? [] : [`by ${data.extents} extents`]),
    ...(wal === null ? [] : [`by the write-ahead log of node ${wal.node.nodeId}, epoch ${wal.node.nodeEpoch}`]),
  ]
  return reasons.join(' and ')
}

function rowProblems({ data }: KnownObject): Problem[] {
  if (data === null) return []
  if (data.extents === 0) return [{ kind: 'unused', what: 'no extent points into it, and it is not doomed' }]
  const { counted, extents, liveBytes } = data
  if (counted.extents === extents && counted.bytes === liveBytes) return []
  const what = `its row counts ${counted.extents} extents of ${counted.bytes} bytes, and there are ${extents} of ${liveBytes}`
  return [{ kind: 'miscounted', what }]
}

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 120) return minutes < 2 ? `${Math.floor(ms / 1000)} s` : `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} days`
}
