import assert from 'node:assert'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RawConnection } from '../../raw-kafka.ts'
import { whenCoordinated } from './coordinated.ts'
import type { RebalanceLoad, RebalanceReport } from './load.ts'
import { connectAll, formGroup, Member } from './member.ts'

export async function rebalance({ port, prefix, members: count, intervalMs }: RebalanceLoad): Promise<RebalanceReport> {
  await whenCoordinated(port, prefix)
  const members = Array.from({ length: count }, () => new Member(prefix, 'topic'))
  const connections = await connectAll(port, count)
  const [newcomer, ...present] = members
  const [ofNewcomer, ...ofPresent] = connections
  await formGroup(present, ofPresent)
  const before = present[0]?.generationId ?? 0

  const rejoined = present.map((member, index) =>
    rejoinWhenTold(member, ofPresent[index]!, { intervalMs, firstMs: (intervalMs * index) / count }),
  )
  await sleep(intervalMs)
  const from = performance.now()
  await Promise.all([newcomer!.enter(ofNewcomer!), ...rejoined])
  const until = performance.now()
  const generations = new Set(members.map(({ generationId }) => generationId))
  assert(generations.size === 1 && !generations.has(before), `members ended in generations ${[...generations]}`)
  const lastJoinAt = Math.max(...members.map(({ joinSentAt }) => joinSentAt))
  return { seconds: (until - from) / 1000, brokerSeconds: (until - lastJoinAt) / 1000 }
}

async function rejoinWhenTold(
  member: Member,
  connection: RawConnection,
  { intervalMs, firstMs }: { readonly intervalMs: number; readonly firstMs: number },
): Promise<void> {
  await sleep(firstMs)
  while (!(await member.beat(connection))) await sleep(intervalMs)
  await member.enter(connection)
}
