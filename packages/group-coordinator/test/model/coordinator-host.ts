import {
  defaultGroupSettings,
  type GroupEvent,
  type GroupRecord,
  type GroupRequest,
  type GroupState,
  groupErrorCodes,
  newGroup,
  type Reply,
  refusal,
  snapshot,
} from '../../src/index.ts'
import type { Engine } from './engine.ts'
import type { Promises } from './promises.ts'
import type { Random } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

/** null = the connection broke, or the answer never came. */
export type Answer = (reply: Reply | null) => void

interface InFlight {
  /** null = a snapshot, after which the log before it is trimmed. */
  readonly writeToken: number | null
  readonly records: readonly GroupRecord[]
}

/**
 * The process around the state machine: takes requests, appends writes to the log, ticks; dies, moves, fails writes.
 * The log outlives it. A write that fails takes all that follow it along, as in the real log.
 */
export class CoordinatorHost {
  state: GroupState | null = null
  readonly log: GroupRecord[] = []
  readonly #time: VirtualTime
  readonly #random: Random
  readonly #promises: Promises
  readonly #engine: Engine
  #life = 0
  #isLoading = false
  #tickAtMs = Number.POSITIVE_INFINITY
  #inFlight: InFlight[] = []
  #failsNext = false
  readonly #answers = new Map<number, Answer>()

  constructor(time: VirtualTime, random: Random, promises: Promises, engine: Engine) {
    this.#time = time
    this.#random = random
    this.#promises = promises
    this.#engine = engine
    this.#load()
  }

  request(request: GroupRequest, answer: Answer): void {
    if (this.state === null) {
      answer(this.#isLoading ? refusal(request, groupErrorCodes.coordinatorLoadInProgress) : null)
      return
    }
    this.#answers.set(request.requestToken, answer)
    this.#step(request)
  }

  /** The process dies: what waits gets no answer, and of the writes under way the first few may have made it. */
  crash(): void {
    if (this.state === null) return
    this.#promises.coordinatorDied()
    this.#end()
    for (const answer of this.#answers.values()) answer(null)
    this.#answers.clear()
    this.#restartLater()
  }

  /** The group is handed over: everybody is told. */
  move(): void {
    if (this.state === null) return
    this.#step({ kind: 'unload', errorCode: groupErrorCodes.notCoordinator })
    this.#promises.coordinatorUnloaded()
    this.#end()
    this.#restartLater()
  }

  /** The next write fails, and so does all that is under way behind it. */
  failNextWrite(): void {
    this.#failsNext = true
  }

  compactLog(): void {
    if (this.state !== null) this.#append({ writeToken: null, records: snapshot(this.state) })
  }

  #load(): void {
    this.#life++
    this.#isLoading = false
    let state = newGroup('g', {
      ...defaultGroupSettings,
      groupInitialRebalanceDelayMs: this.#random.pick([0, 500, 3_000]) ?? 0,
    })
    for (const record of this.log) state = this.#engine.replay(state, record)
    this.state = state
    this.#promises.coordinatorLoaded(state)
    this.#scheduleTick(state.nextDeadlineMs)
  }

  #end(): void {
    this.state = null
    this.#tickAtMs = Number.POSITIVE_INFINITY
    const survivors = this.#random.int(0, this.#inFlight.length)
    for (const write of this.#inFlight.slice(0, survivors)) this.#becomeDurable(write)
    this.#inFlight = []
  }

  #restartLater(): void {
    this.#time.after(this.#random.int(0, 5_000), () => {
      this.#isLoading = true
      this.#time.after(this.#random.int(0, 1_000), () => this.#load())
    })
  }

  #step(event: GroupEvent): void {
    if (this.state === null) return
    const nowMs = this.#time.nowMs
    this.#promises.before(this.state, event)
    const { state, replies, writes, nextDeadlineMs } = this.#engine.step(this.state, event, nowMs)
    this.state = state
    this.#promises.after(state, event, replies)
    for (const reply of replies) {
      const answer = this.#answers.get(reply.requestToken)
      this.#answers.delete(reply.requestToken)
      answer?.(reply)
    }
    for (const write of writes) this.#append(write)
    this.#scheduleTick(nextDeadlineMs)
  }

  #scheduleTick(deadlineMs: number): void {
    if (deadlineMs >= this.#tickAtMs) return
    this.#tickAtMs = deadlineMs
    const life = this.#life
    this.#time.at(deadlineMs + this.#random.int(0, 20), () => {
      if (life !== this.#life || this.#tickAtMs > this.#time.nowMs) return
      this.#tickAtMs = Number.POSITIVE_INFINITY
      this.#step({ kind: 'tick' })
    })
  }

  /** Writes become durable in order; that they have is reported a little later, and not always in order. */
  #append(write: InFlight): void {
    const life = this.#life
    this.#inFlight.push(write)
    this.#time.after(this.#random.chance(0.02) ? 2_000 : this.#random.int(1, 60), () => {
      const at = this.#inFlight.indexOf(write)
      if (life !== this.#life || at < 0) return
      if (this.#failsNext) {
        this.#failWrites()
        return
      }
      for (const durable of this.#inFlight.splice(0, at + 1)) {
        this.#becomeDurable(durable)
        const { writeToken } = durable
        if (writeToken === null) continue
        this.#time.after(this.#random.int(0, 3), () => {
          if (life === this.#life) this.#step({ kind: 'writeCompleted', writeToken })
        })
      }
    })
  }

  #failWrites(): void {
    this.#failsNext = false
    const failed = this.#inFlight
    this.#inFlight = []
    for (const { writeToken } of failed) {
      if (writeToken === null) continue
      this.#step({ kind: 'writeFailed', writeToken, errorCode: groupErrorCodes.coordinatorNotAvailable })
    }
  }

  #becomeDurable({ writeToken, records }: InFlight): void {
    if (writeToken === null) this.log.length = 0
    this.log.push(...records)
    if (writeToken !== null) this.#promises.becameDurable(records)
  }
}
