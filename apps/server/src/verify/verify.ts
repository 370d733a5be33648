import type { Finding } from './finding.ts'
import type { VerifiedSystem, VerifyCounts, VerifySettings } from './verified-system.ts'
import { verifyBytes } from './verify-bytes.ts'
import { verifyObjects } from './verify-objects.ts'
import { verifyStreams } from './verify-streams.ts'
import { verifyUnpacked } from './verify-unpacked.ts'

export interface Verdict {
  readonly counts: VerifyCounts
  readonly findings: number
  /** It ended before it was through, as there were too many findings. */
  readonly isCutShort: boolean
}

/**
 * Proves that a database and its stores agree: every object that is needed is there, nothing else is there for longer than the bound, and the
 * extents of every stream are whole. Reads only, and of a system at work too: what is wrong has been so twice.
 */
export async function verify(
  system: VerifiedSystem,
  settings: VerifySettings,
  onFinding: (finding: Finding) => Promise<void>,
): Promise<Verdict> {
  const counts: VerifyCounts = {
    streams: 0,
    extents: 0,
    referencedObjects: 0,
    doomedObjects: 0,
    announcedUploads: 0,
    storedObjects: 0,
    storedBytes: 0,
    verifiedBytes: 0,
  }
  const found = new Set<string>()
  let findings = 0
  for await (const finding of allFindings(system, settings, counts, found)) {
    if (findings === settings.findingsMax) return { counts, findings, isCutShort: true }
    findings += 1
    found.add(finding.subject)
    await onFinding(finding)
  }
  return { counts, findings, isCutShort: false }
}

async function* allFindings(
  system: VerifiedSystem,
  settings: VerifySettings,
  counts: VerifyCounts,
  found: ReadonlySet<string>,
): AsyncGenerator<Finding> {
  yield* verifyStreams(system, settings, counts)
  yield* verifyUnpacked(system, settings)
  for (const place of system.places) yield* verifyObjects(system, place, settings, counts)
  if (settings.deep) yield* verifyBytes({ system, settings, counts, known: found })
}
