import type { NodeIdentity, StreamRecord, WalObjectRow } from '@pico/metadata'
import { decodeWalIndex, MalformedError, type WalRun } from '@pico/storage'
import { type Finding, lasting, type Problem } from './finding.ts'
import type { VerifiedSystem, VerifySettings } from './verified-system.ts'

/**
 * What was acknowledged and is not packed yet: the entries in the WAL objects of a stream's owner go on from where it is packed, without
 * a gap. By the rows alone, each of which has the index of its object. Rows are read before streams, which are only ever packed further:
 * so what has been packed in between is left out, and what came since is not looked at. (Of segments, no row knows what is in them.)
 */
export async function* verifyUnpacked(system: VerifiedSystem, { signal }: VerifySettings): AsyncGenerator<Finding> {
  for (const { nodeId } of await system.metadata.nodes.list()) {
    signal.throwIfAborted()
    const first = await unpackedProblems(system, nodeId)
    if (first.size === 0) continue
    const again = await unpackedProblems(system, nodeId)
    for (const [subject, problems] of first) {
      for (const problem of lasting(problems, again.get(subject) ?? [])) yield { ...problem, subject }
    }
  }
}

/** By what has them. */
async function unpackedProblems({ metadata }: VerifiedSystem, nodeId: number): Promise<Map<string, Problem[]>> {
  const problems = new Map<string, Problem[]>()
  const runs = new Map<number, UnpackedRun[]>()
  for (const row of await metadata.log.walObjects(nodeId)) {
    const decoded = runsOf(row)
    if ('kind' in decoded) {
      problems.set(row.key, [decoded])
      continue
    }
    for (const run of decoded) {
      const ofStream = runs.get(run.streamId)
      if (ofStream === undefined) runs.set(run.streamId, [{ ...run, node: row.node }])
      else ofStream.push({ ...run, node: row.node })
    }
  }
  for (const stream of await metadata.streams.byStreamId([...runs.keys()])) {
    const gap = firstGap(stream, runs.get(stream.streamId) ?? [])
    if (gap !== null) problems.set(`stream ${stream.name}`, [{ kind: 'gap', what: gap }])
  }
  return problems
}

type UnpackedRun = Pick<WalRun, 'baseOffset' | 'endOffset'> & { readonly node: NodeIdentity }

function runsOf({ index }: WalObjectRow): WalRun[] | Problem {
  try {
    return decodeWalIndex(index)
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error
    return { kind: 'malformed', what: error.message }
  }
}

/** Entries of other node epochs than the owner's count no more: the stream was taken over without them, for they were never its. */
function firstGap(
  { owner, life, packedOffset, startOffset }: StreamRecord,
  runs: readonly UnpackedRun[],
): string | null {
  if (life === 'gone' || owner === null) return null
  const own = runs.filter(({ node }) => node.nodeId === owner.nodeId && node.nodeEpoch === owner.nodeEpoch)
  // Trimmed entries need not be there.
  let end = Math.max(packedOffset, startOffset)
  for (const { baseOffset, endOffset } of own) {
    if (endOffset <= end) continue
    if (baseOffset > end) return `offsets ${end} to ${baseOffset} are neither packed nor in the write-ahead log`
    end = endOffset
  }
  return null
}
