import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Broker, brokersUnderTest } from '../src/broker.ts'
import type { MemberReport, Ownership } from '../src/groups/member-report.ts'
import { partitionsOfGroup, type RollingGroup, startRollingGroup } from '../src/groups/rolling-group.ts'
import { judgeGroup, repeatedRecords } from '../src/groups/rolling-judge.ts'
import { type RollingKind, rollingKinds } from '../src/groups/rolling-member.ts'
import { percentile } from '../src/percentile.ts'
import { missing } from '../src/toolchain.ts'

/** Of the members of each group, one after the other. The broker is restarted once for every four of them. */
const memberRestarts = Number(process.env['E2E_ROLLING_RESTARTS'] ?? 20)
const brokerRestarts = Math.ceil(memberRestarts / 4)
const brokerPaceMs = 18_000
const kinds = await present()
const flags = ['--kafka-max-partitions', `${partitionsOfGroup}`]

describe.each(brokersUnderTest(['pico']))('groups on $name', ({ start }) => {
  let broker: Broker
  const groups: RollingGroup[] = []
  const failures = new Map<string, unknown>()
  const brokerRestartsMs: { downMs: number; backMs: number }[] = []

  beforeAll(async () => {
    broker = await start(flags)
    const each = async (work: (group: RollingGroup) => Promise<void>) => {
      const working = groups.filter((group) => !failures.has(group.kind.name))
      await Promise.all(
        working.map((group) => work(group).catch((error: unknown) => failures.set(group.kind.name, error))),
      )
    }
    groups.push(...(await Promise.all(kinds.map((kind) => startRollingGroup(broker, kind)))))
    const rolling = each((group) => group.roll(memberRestarts))
    for (let number = 0; number < brokerRestarts; number++) {
      await sleep(brokerPaceMs)
      const downMs = Date.now()
      await broker.restart(number % 2 === 0 ? 'kill' : 'stop')
      brokerRestartsMs.push({ downMs, backMs: Date.now() })
    }
    await rolling
    await each((group) => group.finish())
  }, 3_600_000)
  afterAll(async () => {
    await Promise.all(groups.map((group) => group.abandon()))
    await broker?.close()
  })

  const groupOf = (kind: RollingKind): RollingGroup => {
    const failure = failures.get(kind.name)
    if (failure !== undefined) throw failure
    return groups.find((group) => group.kind === kind)!
  }

  it.each(kinds)(
    `$name: every record is processed and no commit goes back through ${memberRestarts} restarts of members and ${brokerRestarts} of the broker`,
    (kind) => {
      const group = groupOf(kind)
      const history = group.history(brokerRestartsMs.map(({ backMs }) => backMs))
      expect(group.refusals()).toEqual([])
      expect(judgeGroup(history).slice(0, 20)).toEqual([])
      expect(group.restarts.length).toBe(memberRestarts)
      const acknowledged = history.producers.flatMap((producer) => producer.acknowledged)
      const records = acknowledged.reduce((sum, { count }) => sum + count, 0)
      const restMs = group.restarts.map(({ fromMs, untilMs }) => untilMs - fromMs).sort((a, b) => a - b)
      console.log(
        `${kind.name}: ${records} records, ${repeatedRecords(history)} processed again;`,
        `at rest after a restart in ${percentile(restMs, 0.5)} ms, at most ${restMs.at(-1)} ms`,
      )
      expect(records).toBeGreaterThan(memberRestarts * 50)
    },
  )

  it.each(kinds.filter(({ isStatic }) => isStatic))(
    '$name: a member that comes back in its session costs no rebalance, and has what it had',
    (kind) => {
      const undisturbed = groupOf(kind).restarts.filter(({ fromMs, untilMs }) =>
        brokerRestartsMs.every(({ downMs, backMs }) => downMs > untilMs || backMs < fromMs),
      )
      expect(undisturbed.length).toBeGreaterThanOrEqual(memberRestarts / 2)
      for (const { before, after, others, fromMs, untilMs } of undisturbed) {
        const told = others.flatMap(({ reports }) => reports.filter(isOwnership))
        expect(told.filter(({ atMs }) => atMs > fromMs && atMs < untilMs)).toEqual([])
        const had = before.reports.findLast(isOwnership)
        const has = after.reports.find(isOwnership)
        expect(has?.generationId).toBe(had?.generationId)
        expect(has?.partitions.toSorted()).toEqual(had?.partitions.toSorted())
      }
    },
  )
})

function isOwnership(report: MemberReport): report is Ownership {
  return report.kind === 'owns'
}

async function present(): Promise<RollingKind[]> {
  const asked = process.env['E2E_ROLLING_KINDS']?.split(',') ?? rollingKinds.map(({ name }) => name)
  const found = []
  for (const name of asked) {
    const kind = rollingKinds.find((each) => each.name === name)
    if (kind === undefined) throw new Error(`E2E_ROLLING_KINDS: there is no kind "${name}"`)
    if (!(await missing(kind.tool))) found.push(kind)
  }
  return found
}
