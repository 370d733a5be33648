import type { LeftoverRows, StreamAudit } from '@pico/metadata'
import { type Finding, lasting } from './finding.ts'
import { streamProblems } from './stream-problems.ts'
import { pageSize, type VerifiedSystem, type VerifyCounts, type VerifySettings } from './verified-system.ts'

/** What the rows of every stream say of one another. Each answer is of one moment; what is wrong in it is looked at again all the same. */
export async function* verifyStreams(
  { metadata: { audit } }: VerifiedSystem,
  { signal, findingsMax }: VerifySettings,
  counts: VerifyCounts,
): AsyncGenerator<Finding> {
  for (let afterStreamId: number | undefined = 0; afterStreamId !== undefined; ) {
    signal.throwIfAborted()
    const page: StreamAudit[] = await audit.streams({ afterStreamId, limit: pageSize })
    for (const stream of page) {
      counts.streams += 1
      counts.extents += stream.extents
      const problems = streamProblems(stream)
      if (problems.length === 0) continue
      const [again] = await audit.streams({ afterStreamId: stream.streamId - 1, limit: 1 })
      if (again?.streamId !== stream.streamId) continue
      const subject = `stream ${stream.name}`
      for (const problem of lasting(problems, streamProblems(again))) yield { ...problem, subject }
    }
    afterStreamId = page.at(-1)?.streamId
  }
  const leftovers = await audit.leftovers(findingsMax)
  if (leftovers.length === 0) return
  const again = await audit.leftovers(findingsMax)
  for (const left of again) if (leftovers.some((it) => isSame(it, left))) yield leftoverFinding(left)
}

function isSame(a: LeftoverRows, b: LeftoverRows): boolean {
  return a.table === b.table && a.streamId === b.streamId
}

function leftoverFinding({ table, streamId, rows }: LeftoverRows): Finding {
  return {
    kind: 'leftover',
    subject: `stream id ${streamId}`,
    what: `no such stream, and ${table} has ${rows} rows of it`,
  }
}
