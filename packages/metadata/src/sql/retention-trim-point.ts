import type { RetentionLimits } from './retention-config.ts'

export interface AgedExtent {
  readonly endOffset: number
  readonly lengthBytes: number
  /** Largest record timestamp, or the commit's time where no record has one. */
  readonly agedFromMs: number
}

/**
 * The offset retention trims a stream to, or null when nothing is due. As a Kafka broker deletes segments: whole extents, oldest first;
 * by age while an extent's youngest record is older than the limit, by size while what stays is at least the limit.
 */
export function trimPoint(extents: readonly AgedExtent[], limits: RetentionLimits, nowMs: number): number | null {
  let remainingBytes = extents.reduce((sum, extent) => sum + extent.lengthBytes, 0)
  let trimTo: number | null = null
  for (const { endOffset, lengthBytes, agedFromMs } of extents) {
    const tooOld = limits.retentionMs !== null && agedFromMs < nowMs - limits.retentionMs
    const tooMuch = limits.retentionBytes !== null && remainingBytes - lengthBytes >= limits.retentionBytes
    if (!tooOld && !tooMuch) break
    trimTo = endOffset
    remainingBytes -= lengthBytes
  }
  return trimTo
}
