import { Consumer, type ConsumerTraits, type Surroundings } from './consumer.ts'
import { CoordinatorHost } from './coordinator-host.ts'
import { type Engine, realEngine } from './engine.ts'
import { Promises, promise } from './promises.ts'
import { Random } from './random.ts'
import { VirtualTime } from './virtual-time.ts'

const unkindMs = 150_000
const lastDeathAfterMs = 30_000
/** Sessions, rebalances and pauses are at most a minute long: after a few of them everybody must have found together. */
const settleWithinMs = 600_000
const consumersMax = 10

export interface RunSummary {
  readonly commits: number
  readonly events: number
  readonly lives: number
}

/** One group and its consumers: some minutes of everything that can go wrong, then calm, in which all must be well. */
export function runWorld(seed: number, engine: Engine = realEngine): RunSummary {
  return new World(seed, engine).run()
}

class World {
  readonly #time = new VirtualTime()
  readonly #promises = new Promises(() => this.#time.nowMs)
  readonly #random: Random
  readonly #host: CoordinatorHost
  readonly #surroundings: Surroundings
  readonly #consumers: Consumer[] = []
  #events = 0
  #lives = 1

  constructor(seed: number, engine: Engine) {
    const time = this.#time
    const random = new Random(seed)
    const host = new CoordinatorHost(time, random, this.#promises, engine)
    this.#random = random
    this.#host = host
    const kind = { partitionCount: random.int(1, 6), isCooperative: random.chance(0.5) }
    this.#surroundings = { time, random, host, ...kind, isCalm: false, nextToken: 1 }
  }

  run(): RunSummary {
    for (let i = this.#random.int(1, 5); i > 0; i--)
      this.#time.after(this.#random.int(0, 20_000), () => this.#startAny())
    this.#time.after(5_000, () => this.#happen())
    this.#runFor(unkindMs)
    this.#surroundings.isCalm = true
    this.#settle()
    return { commits: this.#promises.commits.commits, events: this.#events, lives: this.#lives }
  }

  /** Now and then something goes wrong, or somebody comes or goes. */
  #happen(): void {
    if (this.#surroundings.isCalm) return
    const consumer = this.#random.pick(this.#running())
    const die = this.#random.next()
    if (consumer === undefined || die < 0.2) this.#startAny()
    else if (die < 0.35) consumer.die()
    else if (die < 0.5) consumer.leave()
    else if (die < 0.7) this.#startAgain(consumer)
    else if (die < 0.8) this.#host.failNextWrite()
    else if (die < 0.87) this.#host.compactLog()
    else this.#loseCoordinator()
    this.#time.after(this.#random.int(1_000, 25_000), () => this.#happen())
  }

  #startAny(): void {
    if (this.#consumers.length < consumersMax) this.#start(traitsOf(this.#random, this.#consumers.length))
  }

  /** A new process like this one. That of a static member is dead, or does not know yet that it is replaced. */
  #startAgain(consumer: Consumer): void {
    if (consumer.traits.instanceId === null || this.#random.chance(0.6)) consumer.die()
    this.#start({ ...consumer.traits, name: `${consumer.traits.name}+` })
  }

  #start(traits: ConsumerTraits): Consumer {
    const consumer = new Consumer(this.#surroundings, traits)
    this.#consumers.push(consumer)
    return consumer
  }

  #loseCoordinator(): void {
    this.#lives++
    if (this.#random.chance(0.5)) this.#host.crash()
    else this.#host.move()
  }

  #settle(): void {
    // One that is surely alive: of those that seem to run, some may yet learn that they have been replaced.
    const alive = this.#start(traitsOf(this.#random, this.#consumers.length))
    // And a last death, when nothing else makes the group look: only its silence tells.
    this.#runFor(lastDeathAfterMs)
    this.#random.pick(this.#running().filter((consumer) => consumer !== alive))?.die()

    const giveUpMs = this.#time.nowMs + settleWithinMs
    let roundsSettled = 0
    while (roundsSettled < 3) {
      roundsSettled = this.#isSettled() ? roundsSettled + 1 : 0
      promise(this.#time.nowMs < giveUpMs, `nobody is stuck for ever: ${this.#picture()}`)
      this.#runFor(5_000)
    }
  }

  /** A stable group of exactly those that run, every partition with exactly one of them, and nobody waiting. */
  #isSettled(): boolean {
    const { state } = this.#host
    const running = this.#running()
    const owned = running.flatMap((consumer) => consumer.owned).sort((a, b) => a - b)
    return (
      state?.phase === 'Stable' &&
      this.#promises.nobodyWaits() &&
      state.members.size === running.length &&
      running.every(({ isConsuming, memberId }) => isConsuming && state.members.has(memberId)) &&
      owned.length === this.#surroundings.partitionCount &&
      owned.every((partition, i) => partition === i)
    )
  }

  #picture(): string {
    const { state } = this.#host
    const members = state === null ? 'no coordinator' : `${state.phase} with ${[...state.members.keys()].join(' ')}`
    const running = this.#running().map(({ traits, memberId, owned }) => `${traits.name} as ${memberId} with ${owned}`)
    return `${members}; running: ${running.join(', ')}`
  }

  #running(): Consumer[] {
    return this.#consumers.filter(({ state }) => state === 'running')
  }

  #runFor(ms: number): void {
    const endMs = this.#time.nowMs + ms
    while (this.#time.runNext(endMs)) this.#events++
  }
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
