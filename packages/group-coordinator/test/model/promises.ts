/**
 * What the protocol promises, said plainly and checked from outside: at every request, step and answer.
 * Breaking one throws `BrokenPromise`, which ends the run.
 */
import type { GroupEvent, GroupRecord, GroupRequest, GroupState, Reply } from '../../src/index.ts'
import { CommitPromises } from './commit-promises.ts'
import { GenerationPromises } from './generation-promises.ts'
import { MemberPromises } from './member-promises.ts'

export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise'
}

export function promise(isKept: boolean, what: string): asserts isKept {
  if (!isKept) throw new BrokenPromise(what)
}

/** One life of a coordinator, from its load to its end; what must hold beyond it is the business of commits alone. */
interface Life {
  readonly outstanding: Map<number, GroupRequest>
  readonly generations: GenerationPromises
  readonly members: MemberPromises
}

export class Promises {
  readonly commits = new CommitPromises()
  readonly #nowMs: () => number
  #life: Life | null = null

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  coordinatorLoaded(state: GroupState): void {
    this.#life = { outstanding: new Map(), generations: new GenerationPromises(), members: new MemberPromises() }
    this.commits.loaded(state)
  }

  coordinatorDied(): void {
    this.#life = null
  }

  coordinatorUnloaded(): void {
    promise(this.#life?.outstanding.size === 0, 'a coordinator that moves away answers every request')
    this.#life = null
  }

  becameDurable(records: readonly GroupRecord[]): void {
    this.commits.becameDurable(records)
  }

  before(state: GroupState, event: GroupEvent): void {
    const life = this.#life
    if (life === null) return
    if ('requestToken' in event) {
      promise(!life.outstanding.has(event.requestToken), 'request tokens are unique')
      life.outstanding.set(event.requestToken, event)
      if (event.kind === 'offsetFetch') this.commits.fetchArrived(event.requestToken)
    }
    life.members.before(state, event)
    life.generations.before(state)
  }

  after(state: GroupState, event: GroupEvent, replies: readonly Reply[]): void {
    const life = this.#life
    if (life === null) return
    const replaced = life.members.replacedBy(state, event)
    if (replaced !== null) life.generations.replaced(replaced.formerId, replaced.memberId)
    if (event.kind !== 'unload') {
      life.generations.after(state, event)
      life.members.after(state, event, replies, this.#nowMs())
    }
    for (const reply of replies) {
      const request = life.outstanding.get(reply.requestToken)
      promise(request !== undefined, `every request gets one answer: ${reply.requestToken} (${reply.kind}) got another`)
      promise(request.kind === reply.kind, 'a request is answered in its own kind')
      life.outstanding.delete(reply.requestToken)
      life.generations.replied(state, request, reply)
      life.members.replied(request, reply)
      this.commits.replied(request, reply)
    }
    if (replaced !== null) fencedAtOnce(life.outstanding, event, replaced.instanceId)
  }

  /** To be asked when the dust has settled. */
  nobodyWaits(): boolean {
    return this.#life !== null && this.#life.outstanding.size === 0
  }
}

/** What the former self of a static member had parked is answered in the step that replaces it. */
function fencedAtOnce(outstanding: ReadonlyMap<number, GroupRequest>, event: GroupEvent, instanceId: string): void {
  for (const request of outstanding.values()) {
    const isParked = request.kind === 'join' || request.kind === 'sync'
    promise(
      request === event || !isParked || request.groupInstanceId !== instanceId,
      `what the former self of ${instanceId} had parked is answered`,
    )
  }
}
