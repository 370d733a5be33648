import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../broker.ts'
import { type LoadProducer, startLoadProducer } from '../durability/producer.ts'
import { connectRaw } from '../raw-kafka.ts'
import { createTopic, unlessAway } from '../raw-topics.ts'
import { viewOf } from './group-view.ts'
import { heldAfter } from './member-report.ts'
import { watchOffsets } from './offsets-watch.ts'
import { partitionEnds } from './partition-values.ts'
import type { GroupHistory } from './rolling-judge.ts'
import { type RollingKind, type RollingMember, startRollingMember } from './rolling-member.ts'

/** A group of one kind of client on a topic of its own that is written to all the time. */
export interface RollingGroup {
  readonly kind: RollingKind
  readonly restarts: readonly MemberRestart[]
  /** Restarts its members one after the other, each when the group has come to rest; some by SIGTERM, some by SIGKILL. */
  roll(restarts: number): Promise<void>
  /** What the producers were refused. Must be empty. */
  refusals(): string[]
  /** Ends the writing, waits until everything is processed and committed, and stops the members. */
  finish(): Promise<void>
  history(brokerBackAtMs: readonly number[]): GroupHistory
  /** Whatever is left of it, after a failure. */
  abandon(): Promise<void>
}

export interface MemberRestart {
  readonly how: 'stop' | 'kill'
  readonly before: RollingMember
  readonly after: RollingMember
  /** Of the members that stayed. */
  readonly others: readonly RollingMember[]
  /** The group was seen at rest, before and after. */
  readonly fromMs: number
  readonly untilMs: number
}

export const partitionsOfGroup = 6
const membersOfGroup = 3
/** Between the beginnings of two restarts, at least: so that the restarts of the broker fall among them. */
const paceMs = 5000
/** Much longer than two sessions and a restart of the broker: the machine may be busy with something else. */
const patienceMs = 180_000

export async function startRollingGroup(broker: Broker, kind: RollingKind): Promise<RollingGroup> {
  const { port, bootstrap } = broker
  const topic = `rolling-${kind.name}`
  const groupId = `group-of-${kind.name}`
  await createTopic(port, topic, {}, partitionsOfGroup)
  // A broker that has just made a topic may not lead each of its partitions yet.
  await until(`${topic} is made`, async () => {
    const ends = await unlessAway(() => partitionEnds(port, topic, partitionsOfGroup))
    return ends === undefined ? 'it is not led' : undefined
  })
  const connect = () => connectRaw(port)
  const producers: LoadProducer[] = []
  for (let partition = 0; partition < partitionsOfGroup; partition++) {
    const name = `${topic}-${partition}`
    const load = { recordsPerBatch: 2, pauseMs: 500, idempotent: true }
    producers.push(await startLoadProducer({ connect, topic, partition, name, ...load }))
  }
  const watch = watchOffsets(port, groupId, topic, partitionsOfGroup)
  const start = (place: number) => startRollingMember(kind, { bootstrap, groupId, topic, place })
  const members = await Promise.all(Array.from({ length: membersOfGroup }, (_, place) => start(place)))
  const everMembers = [...members]
  const restarts: MemberRestart[] = []

  /** What keeps the group from being at rest; undefined when nothing does. */
  const unrest = async (): Promise<string | undefined> => {
    for (const member of members) {
      if (member.exit() !== undefined)
        throw new Error(`${member.name} ended by itself:\n${member.output().slice(-4000)}`)
    }
    const view = await unlessAway(() => viewOf(port, groupId))
    if (view === undefined) return 'the broker is away'
    const given = view.partitions.flat()
    const isWhole = new Set(given).size === partitionsOfGroup && given.length === partitionsOfGroup
    if (view.state !== 'Stable' || view.partitions.length !== membersOfGroup || !isWhole) {
      return `the broker says ${JSON.stringify(view)}`
    }
    const held = members.flatMap(({ reports }) => [...heldAfter(reports)])
    const isKnown = held.length === partitionsOfGroup && new Set(held).size === partitionsOfGroup
    return isKnown ? undefined : `members say ${JSON.stringify(members.map(({ reports }) => [...heldAfter(reports)]))}`
  }
  const rest = (what: string) => until(what, unrest, members)

  return {
    kind,
    restarts,
    async roll(count) {
      await rest(`${kind.name} begins`)
      for (let number = 0; number < count; number++) {
        const place = number % membersOfGroup
        const how = number % 4 === 3 ? 'kill' : 'stop'
        const before = members[place]!
        const what = `${kind.name} after restart ${number + 1} (${how} of ${place})`
        const fromMs = Date.now()
        await before[how]()
        const after = await start(place)
        members[place] = after
        everMembers.push(after)
        await rest(what)
        const untilMs = Date.now()
        const others = members.filter((member) => member !== after)
        restarts.push({ how, before, after, others, fromMs, untilMs })
        const hasWorked = () => after.reports.some(({ kind }) => kind === 'processed')
        await until(what, async () => (hasWorked() ? undefined : 'the new member processes nothing'), members)
        await sleep(Math.max(0, fromMs + paceMs - Date.now()))
        await rest(what)
      }
    },
    async finish() {
      await Promise.all(producers.map((producer) => producer.stop(patienceMs)))
      const ends = await partitionEnds(port, topic, partitionsOfGroup)
      const uncommitted = async () => {
        const last = watch.views.at(-1)?.offsets
        return `${last}` === `${ends}` ? undefined : `${last} is committed of ${ends}`
      }
      await until(`${kind.name} at its end`, uncommitted, members)
      await Promise.all(members.map((member) => member.stop()))
      await watch.stop()
    },
    refusals: () => producers.flatMap((producer) => producer.refusals),
    history: (brokerBackAtMs) => ({
      producers: producers.map(({ history }) => history),
      members: everMembers,
      views: watch.views,
      brokerBackAtMs,
    }),
    async abandon() {
      const ends = members.map((member) => member.kill())
      await Promise.allSettled([...ends, ...producers.map((producer) => producer.stop(0)), watch.stop()])
    },
  }
}

async function until(
  what: string,
  obstacle: () => Promise<string | undefined>,
  members: readonly RollingMember[] = [],
): Promise<void> {
  const deadline = Date.now() + patienceMs
  let found = await obstacle()
  while (found !== undefined && Date.now() < deadline) {
    await sleep(200)
    found = await obstacle()
  }
  if (found === undefined) return
  const outputs = members.map(({ name, output }) => `${name}:\n${withoutReports(output()).slice(-2000)}`)
  throw new Error(`${what}: ${found}\n${outputs.join('\n')}`)
}

function withoutReports(output: string): string {
  return output
    .split('\n')
    .filter((line) => !line.startsWith('{"'))
    .join('\n')
}
