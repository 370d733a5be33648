import { Consumer, type ConsumerTraits, type Surroundings } from './consumer.ts'
import { CoordinatorHost } from './coordinator-host.ts'
import { type Engine, realEngine } from './engine.ts'
import { Promises, promise } from './promises.ts'
import { Random } from './random.ts'
import { VirtualTime } from './virtual-time.ts'

const unkindMs = 180_000
/** Sessions, rebalances and pauses are at most a minute long: after a few of them everybody must have found together. */
const settleWithinMs = 600_000

export interface RunSummary {
  readonly commits: number
  readonly events: number
  readonly lives: number
}

/** One group and its consumers: some minutes of everything that can go wrong, then calm, in which all must be well. */
export function runWorld(seed: number, engine: Engine = realEngine): RunSummary {
  const time = new VirtualTime()
  const random = new Random(seed)
  const promises = new Promises(() => time.nowMs)
  const host = new CoordinatorHost(time, random, promises, engine)
  const world: Surroundings = { time, random, host, partitionCount: random.int(1, 6), isCalm: false, nextToken: 1 }
  const consumers: Consumer[] = []
  let events = 0
  let lives = 1

  const start = (traits: ConsumerTraits) => {
    consumers.push(new Consumer(world, traits))
  }
  for (let i = random.int(1, 5); i > 0; i--)
    time.after(random.int(0, 20_000), () => start(traitsOf(random, consumers.length)))

  const somethingHappens = () => {
    if (world.isCalm) return
    const consumer = random.pick(consumers.filter(({ state }) => state === 'running'))
    const die = random.next()
    if (consumer === undefined || die < 0.2) {
      if (consumers.length < 10) start(traitsOf(random, consumers.length))
    } else if (die < 0.35) {
      consumer.die()
    } else if (die < 0.5) {
      consumer.leave()
    } else if (die < 0.7) {
      // A new process of the same static member; the old one is dead, or does not know yet that it is replaced.
      if (consumer.traits.instanceId === null || random.chance(0.6)) consumer.die()
      start({ ...consumer.traits, name: `${consumer.traits.name}+` })
    } else if (die < 0.8) {
      host.failNextWrite()
    } else if (die < 0.87) {
      host.compactLog()
    } else {
      lives++
      if (random.chance(0.5)) host.crash()
      else host.move()
    }
    time.after(random.int(1_000, 25_000), somethingHappens)
  }
  time.after(5_000, somethingHappens)

  const endMs = time.nowMs + unkindMs
  while (time.runNext(endMs)) events++
  world.isCalm = true
  // One that is surely alive: of those that seem to run, some may yet learn that they have been replaced.
  start(traitsOf(random, consumers.length))

  const giveUpMs = time.nowMs + settleWithinMs
  let settledMs: number | null = null
  while (settledMs === null || time.nowMs < settledMs + 20_000) {
    const isSettled = settled(host, promises, consumers, world.partitionCount)
    settledMs = isSettled ? (settledMs ?? time.nowMs) : null
    promise(time.nowMs < giveUpMs, `nobody is stuck for ever: ${picture(host, consumers)}`)
    const untilMs = time.nowMs + 5_000
    while (time.runNext(untilMs)) events++
  }
  return { commits: promises.commits.commits, events, lives }
}

/** A stable group of exactly those that run, every partition with exactly one of them, and nobody waiting. */
function settled(
  host: CoordinatorHost,
  promises: Promises,
  consumers: readonly Consumer[],
  partitionCount: number,
): boolean {
  const running = consumers.filter(({ state }) => state === 'running')
  const owned = running.flatMap((consumer) => consumer.owned).sort((a, b) => a - b)
  return (
    promises.nobodyWaits() &&
    host.state?.phase === 'Stable' &&
    host.state.members.size === running.length &&
    running.every(({ isConsuming, memberId }) => isConsuming && host.state?.members.has(memberId)) &&
    owned.length === partitionCount &&
    owned.every((partition, i) => partition === i)
  )
}

function picture({ state }: CoordinatorHost, consumers: readonly Consumer[]): string {
  const members = state === null ? 'no coordinator' : `${state.phase} with ${[...state.members.keys()].join(' ')}`
  const running = consumers.filter((consumer) => consumer.state === 'running')
  return `${members}; running: ${running.map((one) => `${one.traits.name} as ${one.memberId} with ${one.owned}`).join(', ')}`
}

function traitsOf(random: Random, index: number): ConsumerTraits {
  const isStatic = random.chance(0.4)
  return {
    name: `c${index}`,
    instanceId: isStatic ? `i${index}` : null,
    sessionTimeoutMs: random.pick([6_000, 10_000, 30_000, 45_000]) ?? 10_000,
    rebalanceTimeoutMs: random.pick([-1, 5_000, 20_000, 60_000]) ?? 20_000,
    requireKnownMemberId: random.chance(0.7),
    supportsSkippingAssignment: random.chance(0.5),
    slowness: random.pick([0, 0, 0.005, 0.03]) ?? 0,
  }
}
