import type { Ready, ReadyCheck } from '@pico/http-contract'
import type { Clock } from '../server/surroundings.ts'

/** Where a server is in its life. */
export type ServingState = 'starting' | 'serving' | 'draining' | 'fenced'

const stateProblems: Readonly<Record<ServingState, string | null>> = {
  serving: null,
  starting: 'starting',
  draining: 'draining: the server is going down',
  fenced: 'fenced: another epoch of this node has taken over',
}

/** Something the server depends on. */
export interface Probe {
  /** `storage`, `metadata`. */
  readonly name: string
  /** Resolves when it does its work. */
  run(signal: AbortSignal): Promise<void>
}

export interface ReadinessSettings {
  /** A probe that takes longer has failed. */
  readonly probeDeadlineMs: number
  /** What a probe found stands for so long: whoever asks often asks no more of the store. */
  readonly probeFreshMs: number
}

export const defaultReadinessSettings: ReadinessSettings = { probeDeadlineMs: 2_000, probeFreshMs: 2_000 }

/** Whether requests are served, and if not, why. */
export class Readiness {
  readonly #clock: Clock
  readonly #settings: ReadinessSettings
  readonly #probes: WatchedProbe[] = []
  #state: ServingState = 'starting'

  constructor(clock: Clock, settings: Partial<ReadinessSettings> = {}) {
    this.#clock = clock
    this.#settings = { ...defaultReadinessSettings, ...settings }
  }

  get state(): ServingState {
    return this.#state
  }

  /** A server that is fenced stays so, whatever is done to it. */
  become(state: ServingState): void {
    if (this.#state !== 'fenced') this.#state = state
  }

  watch(probe: Probe): void {
    this.#probes.push(new WatchedProbe(probe, this.#clock, this.#settings))
  }

  async check(): Promise<Ready> {
    const problem = stateProblems[this.#state]
    const serving: ReadyCheck = { name: 'serving', ok: problem === null, problem }
    const checks = [serving, ...(await Promise.all(this.#probes.map((probe) => probe.check())))]
    return { ready: checks.every(({ ok }) => ok), checks }
  }
}

/** A probe that runs once at a time, however many ask. */
class WatchedProbe {
  readonly #probe: Probe
  readonly #clock: Clock
  readonly #settings: ReadinessSettings
  #found: { readonly check: ReadyCheck; readonly atMs: number } | null = null
  #running: Promise<ReadyCheck> | null = null
  /** The last run was given up and has not come back. */
  #isStuck = false

  constructor(probe: Probe, clock: Clock, settings: ReadinessSettings) {
    this.#probe = probe
    this.#clock = clock
    this.#settings = settings
  }

  check(): Promise<ReadyCheck> {
    const { probeFreshMs } = this.#settings
    if (this.#found !== null && (this.#isStuck || this.#clock.nowMs() - this.#found.atMs < probeFreshMs)) {
      return Promise.resolve(this.#found.check)
    }
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #run(): Promise<ReadyCheck> {
    const problem = await this.#problem()
    const check = { name: this.#probe.name, ok: problem === null, problem }
    this.#found = { check, atMs: this.#clock.nowMs() }
    return check
  }

  #problem(): Promise<string | null> {
    const { probeDeadlineMs } = this.#settings
    const giveUp = new AbortController()
    return new Promise((resolve) => {
      const cancel = this.#clock.after(probeDeadlineMs, () => {
        this.#isStuck = true
        resolve(`no answer within ${probeDeadlineMs} ms`)
        giveUp.abort()
      })
      const settle = (problem: string | null) => {
        cancel()
        this.#isStuck = false
        resolve(problem)
      }
      this.#probe.run(giveUp.signal).then(
        () => settle(null),
        (error: unknown) => settle(error instanceof Error ? error.message : String(error)),
      )
    })
  }
}
