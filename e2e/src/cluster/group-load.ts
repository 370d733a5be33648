import { setTimeout as sleep } from 'node:timers/promises'
import type { ProducerHistory } from '../durability/history.ts'
import { watchOffsets } from '../groups/offsets-watch.ts'
import { judgeGroup } from '../groups/rolling-judge.ts'
import { type RollingKind, type RollingMember, startRollingMember } from '../groups/rolling-member.ts'
import type { KafkaRoutes } from './kafka-routes.ts'

export interface GroupLoadSettings {
  readonly kind: RollingKind
  readonly members: number
  readonly topic: string
  readonly bootstrap: string
  readonly routes: KafkaRoutes
  /** Who writes to each partition, by its index. */
  readonly producers: readonly ProducerHistory[]
}

/** A consumer group that reads a topic, and a stranger who asks all the time what it has committed. */
export interface GroupLoad {
  readonly groupId: string
  /** Waits until everything that was acknowledged is committed, then ends the members. */
  finish(timeoutMs: number): Promise<void>
  /** Every breach of a promise, in words. */
  breaches(): string[]
  processedRecords(): number
  abandon(): Promise<void>
}

export async function startGroupLoad(settings: GroupLoadSettings): Promise<GroupLoad> {
  const { kind, topic, bootstrap, routes, producers } = settings
  const groupId = `${kind.name}-of-${topic}`
  const watch = watchOffsets(() => routes.toCoordinator(groupId), groupId, topic, producers.length)
  const places = Array.from({ length: settings.members }, (_, place) => place)
  const members: RollingMember[] = await Promise.all(
    places.map((place) => startRollingMember(kind, { bootstrap, groupId, topic, place })),
  )
  const endOf = ({ acknowledged }: ProducerHistory) =>
    acknowledged.reduce((end, { offset, count }) => Math.max(end, offset + count), 0)

  return {
    groupId,
    async finish(timeoutMs) {
      const deadline = Date.now() + timeoutMs
      const isBehind = () =>
        producers.some((producer, partition) => (watch.views.at(-1)?.offsets[partition] ?? -1) < endOf(producer))
      while (isBehind()) {
        if (watch.failure !== undefined) throw watch.failure
        for (const member of members) {
          if (member.exit() !== undefined)
            throw new Error(`${groupId}: ${member.name} ended by itself:\n${saidBy(member)}`)
        }
        if (Date.now() > deadline) {
          const committed = watch.views.at(-1)?.offsets
          const ends = producers.map(endOf)
          throw new Error(`${groupId}: ${committed} is committed of ${ends}\n${members.map(saidBy).join('\n')}`)
        }
        await sleep(200)
      }
      await Promise.all(members.map((member) => member.stop()))
      await watch.stop()
    },
    breaches() {
      const history = { producers, members, views: watch.views, brokerBackAtMs: null }
      return judgeGroup(history).map((breach) => `${groupId}, partition ${breach}`)
    },
    processedRecords: () => members.flatMap(({ reports }) => reports).filter(({ kind }) => kind === 'processed').length,
    async abandon() {
      await Promise.allSettled([...members.map((member) => member.kill()), watch.stop()])
    },
  }
}

/** The end of what it printed, without its reports. */
function saidBy(member: RollingMember): string {
  const lines = member.output().split('\n')
  return lines
    .filter((line) => !line.startsWith('{"'))
    .join('\n')
    .slice(-2000)
}
