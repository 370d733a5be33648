import { kafkaErrors } from '@pico/kafka-codec'
import type { InternalStreams, Partition, Streams } from '@pico/streams'
import type { Clock } from '../clock.ts'
import type { Operation } from '../operational-errors.ts'
import { loadGroup } from './load-group.ts'
import type { ServedGroup } from './served-group.ts'
import type { GroupHostSettings } from './settings.ts'

/** Something that wants to happen to a group once the group is in memory. */
export interface Visit {
  /** It may bring members or offsets: the group's stream, which says who coordinates the group, is made if there is none. */
  readonly needsStream: boolean
  /** A look at the group for our own sake does not keep it in memory. */
  readonly isUse: boolean
  run(group: ServedGroup): void
  /** The group is not to be had, for this reason. */
  refuse(errorCode: number): void
}

export interface HostedGroupParts {
  readonly groupId: string
  readonly streamName: string
  readonly streams: Streams
  readonly clock: Clock
  readonly settings: GroupHostSettings
  nowMs(): number
  explain(error: unknown, operation: Operation): number
  /** It is in memory no more, and nobody waits for it. */
  gone(): void
}

/** Labels of an unloaded group's stream: what a list of groups, and the search for expired offsets, would else have to load it for. */
export const groupLabels = { protocolType: 'protocol.type', dueMs: 'due.ms' } as const

const longestTimerMs = 86_400_000

/**
 * A group's time in memory: loaded when somebody asks for it, dropped when it is idle or has ceased to be. Whoever comes while it is
 * being loaded or dropped waits in line, so that what happens to a group happens in the order it came.
 */
export class HostedGroup {
  readonly #parts: HostedGroupParts
  #life: 'absent' | 'loading' | 'serving' | 'leaving' = 'absent'
  readonly #line: Visit[] = []
  #served: ServedGroup | null = null
  #unwatch: () => void = () => undefined
  #cancelTimer: () => void = () => undefined
  #timerDueMs = Number.POSITIVE_INFINITY
  #cancelPatience: () => void = () => undefined
  #isSlow = false
  #lastUsedMs = Number.NEGATIVE_INFINITY
  /** After a failed attempt to leave. */
  #stayUntilMs = Number.NEGATIVE_INFINITY
  #shutDownWith: number | null = null

  constructor(parts: HostedGroupParts) {
    this.#parts = parts
  }

  visit(visit: Visit): void {
    if (visit.isUse) this.#lastUsedMs = this.#parts.nowMs()
    if (this.#isSlow) {
      visit.refuse(kafkaErrors.coordinatorLoadInProgress.code)
      return
    }
    this.#line.push(visit)
    if (this.#life === 'serving') this.#serveLine()
    else if (this.#life === 'absent') void this.#load()
  }

  /** Takes nothing any more; writes on their way are waited for, whoever waits for anything else is told `errorCode`. */
  shutDown(errorCode: number): void {
    this.#shutDownWith = errorCode
    this.#refuseLine(errorCode)
    if (this.#life === 'serving') this.#settle()
  }

  async #load(): Promise<void> {
    this.#life = 'loading'
    this.#served = null
    this.#disarm()
    this.#waitPatiently()
    try {
      const { groupId, streams } = this.#parts
      const stream = await this.#openStream(streams.internal)
      if (stream === 'not-owner') {
        this.#end(kafkaErrors.notCoordinator.code)
        return
      }
      const served = await loadGroup({ groupId, stream, streams }, { ...this.#parts, happened: () => this.#settle() })
      this.#serve(served, stream)
    } catch (error) {
      this.#end(this.#parts.explain(error, 'coordinate'))
    }
  }

  async #openStream(internal: InternalStreams): Promise<Partition | 'not-owner' | null> {
    const { streamName } = this.#parts
    if (this.#line.some(({ needsStream }) => needsStream)) return internal.openOrCreate(streamName)
    const found = await internal.open(streamName)
    return found === 'missing' ? null : found
  }

  #serve(served: ServedGroup, stream: Partition | null): void {
    this.#life = 'serving'
    this.#served = served
    this.#stopWaiting()
    // Watched, the stream stays open for as long as the group is in memory.
    if (stream !== null) {
      this.#unwatch = stream.watch((change) => {
        if (change !== 'advanced' && this.#life === 'serving') served.unload(kafkaErrors.notCoordinator.code)
      })
    }
    this.#serveLine()
  }

  #serveLine(): void {
    while (this.#life === 'serving' && this.#served?.isOver === false) {
      const [visit] = this.#line
      if (visit === undefined) break
      if (visit.needsStream && !this.#served.hasLog) {
        void this.#load()
        return
      }
      this.#line.shift()
      visit.run(this.#served)
    }
    this.#settle()
  }

  /** After anything that happened: is it over, may it go, and when is the next look due? */
  #settle(): void {
    const served = this.#served
    if (this.#life !== 'serving' || served === null) return
    if (this.#shutDownWith !== null && !served.isOver && !served.hasWrites) {
      served.unload(this.#shutDownWith) // calls back
      return
    }
    if (served.isOver) {
      this.#end(this.#shutDownWith ?? kafkaErrors.notCoordinator.code)
      return
    }
    if (this.#line.length > 0) return
    if (this.#leaveDueMs(served) <= this.#parts.nowMs()) void this.#leave(served)
    else this.#arm(served)
  }

  #leaveDueMs(served: ServedGroup): number {
    if (served.isForgettable) return this.#stayUntilMs
    if (!served.isIdle) return Number.POSITIVE_INFINITY
    return Math.max(this.#lastUsedMs + this.#parts.settings.idleGroupMs, this.#stayUntilMs)
  }

  /** One timer per group. A deadline that has moved away since is found out when the timer fires. */
  #arm(served: ServedGroup): void {
    const dueMs = Math.min(served.nextDeadlineMs, this.#leaveDueMs(served))
    if (dueMs >= this.#timerDueMs) return
    this.#disarm()
    if (dueMs === Number.POSITIVE_INFINITY) return
    this.#timerDueMs = dueMs
    const delayMs = Math.min(Math.max(0, dueMs - this.#parts.nowMs()), longestTimerMs)
    this.#cancelTimer = this.#parts.clock.after(delayMs, () => {
      this.#timerDueMs = Number.POSITIVE_INFINITY
      if (served.nextDeadlineMs <= this.#parts.nowMs()) served.tick()
      else this.#settle()
    })
  }

  #disarm(): void {
    this.#cancelTimer()
    this.#timerDueMs = Number.POSITIVE_INFINITY
  }

  /** Of a group that has ceased to be, its stream goes too. */
  async #leave(served: ServedGroup): Promise<void> {
    const { streams, streamName } = this.#parts
    this.#life = 'leaving'
    this.#disarm()
    this.#waitPatiently()
    try {
      if (served.isForgettable) {
        if (served.hasLog) await streams.internal.delete(streamName)
      } else {
        await served.recordEmptiness()
        await streams.internal.label(streamName, labelsOf(served))
      }
    } catch (error) {
      this.#parts.explain(error, 'coordinate')
      this.#stayUntilMs = this.#parts.nowMs() + this.#parts.settings.idleGroupMs
      this.#life = 'serving'
      this.#stopWaiting()
      this.#serveLine()
      return
    }
    this.#unwatch()
    this.#served = null
    if (this.#line.length > 0) void this.#load()
    else this.#end(kafkaErrors.notCoordinator.code)
  }

  #end(errorCode: number): void {
    this.#life = 'absent'
    this.#served = null
    this.#disarm()
    this.#unwatch()
    this.#stopWaiting()
    this.#parts.gone()
    this.#refuseLine(errorCode)
  }

  #refuseLine(errorCode: number): void {
    for (const { refuse } of this.#line.splice(0)) refuse(errorCode)
  }

  #waitPatiently(): void {
    this.#cancelPatience()
    this.#cancelPatience = this.#parts.clock.after(this.#parts.settings.loadWaitMs, () => {
      this.#isSlow = true
      this.#refuseLine(kafkaErrors.coordinatorLoadInProgress.code)
    })
  }

  #stopWaiting(): void {
    this.#cancelPatience()
    this.#isSlow = false
  }
}

function labelsOf({ protocolType, nextDeadlineMs }: ServedGroup) {
  return { [groupLabels.protocolType]: protocolType, [groupLabels.dueMs]: String(nextDeadlineMs) }
}
