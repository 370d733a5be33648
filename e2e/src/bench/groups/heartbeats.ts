import assert from 'node:assert'
import { setTimeout as sleep } from 'node:timers/promises'
import { Meter, type Metered } from '../meter.ts'
import { whenCoordinated } from './coordinated.ts'
import type { HeartbeatLoad } from './load.ts'
import { connectAll, formGroup, Member } from './member.ts'

const groupsFormedAtOnce = 200

/** Rejects when a member is told to join again: stable groups stay stable. */
export async function heartbeats(load: HeartbeatLoad): Promise<Metered> {
  const { port, groups, membersPerGroup, intervalMs } = load
  const groupIds = Array.from({ length: groups }, (_, index) => `${load.prefix}-${index}`)
  await whenCoordinated(port, groupIds[0] ?? '')
  const members: Member[] = []
  const beats = new Beats(load, members, await connectAll(port, load.connections))
  for (let at = 0; at < groups; at += groupsFormedAtOnce) {
    const formed = groupIds
      .slice(at, at + groupsFormedAtOnce)
      .map((groupId) => Array.from({ length: membersPerGroup }, () => new Member(groupId, 'topic')))
    const connections = await connectAll(port, formed.length * membersPerGroup)
    await Promise.race([
      beats.failed,
      Promise.all(
        formed.map((group, index) =>
          formGroup(group, connections.slice(index * membersPerGroup, (index + 1) * membersPerGroup)),
        ),
      ),
    ])
    for (const connection of connections) connection.close()
    members.push(...formed.flat())
  }
  await Promise.race([beats.failed, sleep(intervalMs)])
  beats.meter.begin()
  await Promise.race([beats.failed, sleep(load.measuredMs)])
  const metered = beats.meter.end()
  const expected = (members.length * load.measuredMs) / intervalMs
  assert(metered.completed > expected * 0.9, `${metered.completed} heartbeats were answered where ${expected} were due`)
  return metered
}

/** Every member beats once an interval, evenly spread over it; members that come later join in. */
class Beats {
  readonly meter: Meter
  /** Rejects when something went wrong, and never resolves. */
  readonly failed: Promise<never>

  constructor(
    { serverPid, intervalMs }: HeartbeatLoad,
    members: readonly Member[],
    connections: Awaited<ReturnType<typeof connectAll>>,
  ) {
    this.meter = new Meter(serverPid)
    const { promise, reject } = Promise.withResolvers<never>()
    this.failed = promise
    promise.catch(() => undefined) // whoever races against it is told
    const beat = async (index: number) => {
      const member = members[index]!
      const sentAt = performance.now()
      const isToJoin = await member.beat(connections[index % connections.length]!)
      this.meter.note(sentAt)
      assert(!isToJoin, `group ${member.groupId} began a rebalance by itself`)
    }
    let next = 0
    let lastAt = performance.now()
    let owed = 0
    setInterval(() => {
      const now = performance.now()
      owed += ((now - lastAt) * members.length) / intervalMs
      lastAt = now
      for (; owed >= 1 && members.length > 0; owed -= 1) {
        beat(next % members.length).catch(reject)
        next += 1
      }
    }, 1)
  }
}
