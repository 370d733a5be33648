import { performance } from 'node:perf_hooks'
import { SchemaUnavailableError } from '../errors.ts'
import { FairQueue } from './fair-queue.ts'
import { Lane } from './lane.ts'
import { SlowSchemas } from './slow-schemas.ts'
import type { Work } from './work-messages.ts'
import type { Deadlines, ThreadSettings, WorkEnd } from './worker-thread.ts'

export interface GroupSettings {
  readonly lanes: number
  readonly deadlines: Deadlines
  /** Each lane's number is put after the name. */
  readonly thread: ThreadSettings
}

export interface GroupWork {
  /** Work of one key is done in order of its coming, as far as it is given to one lane; the keys take turns. */
  readonly key: number
  /** What to send to the lane that it goes to. */
  readonly workFor: (lane: Lane) => Work
  /** Buffers that the work gives away. */
  readonly transfer: readonly ArrayBuffer[]
}

interface Waiting extends GroupWork {
  readonly resolve: (end: WorkEnd) => void
  readonly reject: (error: SchemaUnavailableError) => void
}

/** One batch of each of as many producers; what comes when so much waits is told to come again. */
const waitingMax = 10_000

/**
 * Lanes that share a queue. No key has all lanes: whether its work is slow is known only when some of it is done, and who comes with
 * another key meanwhile must not wait for that. Work whose key was slow of late goes to the first lane only: however many such keys
 * there are, the others stay free for the rest.
 */
export class LaneGroup {
  readonly #lanes: readonly Lane[]
  readonly #deadlines: Deadlines
  readonly #waiting = new FairQueue<Waiting>(waitingMax)
  readonly #slow: SlowSchemas
  /** Keys whose work is being done, and on how many lanes. */
  readonly #underWay = new Map<number, number>()
  #isClosed = false

  constructor({ lanes, deadlines, thread }: GroupSettings) {
    this.#deadlines = deadlines
    this.#slow = new SlowSchemas(deadlines.judgeMs / 4)
    this.#lanes = Array.from({ length: lanes }, (_, number) => {
      const settings = { ...thread, name: `${thread.name}-${number}` }
      return new Lane(
        settings,
        () => this.#dispatch(),
        (cause) => this.#refuseWaiting('no worker starts', cause),
      )
    })
  }

  /** Throws `SchemaUnavailableError`. */
  run(work: GroupWork): Promise<WorkEnd> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new SchemaUnavailableError('closed'))
      const isTaken = this.#waiting.add(work.key, { ...work, resolve, reject })
      if (!isTaken) return reject(new SchemaUnavailableError(`${waitingMax} batches are waiting for a worker`))
      for (const lane of this.#lanes) lane.open()
      this.#dispatch()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#refuseWaiting('closed', null)
    await Promise.all(this.#lanes.map((lane) => lane.close()))
  }

  #dispatch(): void {
    this.#lanes.forEach((lane, number) => {
      if (this.#isClosed || !lane.isFree) return
      const next = this.#next(number)
      if (next !== null) void this.#runOn(lane, next)
    })
  }

  #next(laneNumber: number): Waiting | null {
    if (this.#waiting.length === 0) return null
    const nowMs = performance.now()
    const isSlow = (key: number) => this.#slow.has(key, nowMs)
    if (this.#lanes.length === 1) return this.#waiting.take(() => true)
    const leavesOne = (key: number) => (this.#underWay.get(key) ?? 0) < this.#lanes.length - 1
    if (laneNumber > 0) return this.#waiting.take((key) => leavesOne(key) && !isSlow(key))
    return this.#waiting.take((key) => leavesOne(key) && isSlow(key)) ?? this.#waiting.take(leavesOne)
  }

  #isUnderWay(key: number, lanesMore: 1 | -1): void {
    const lanes = (this.#underWay.get(key) ?? 0) + lanesMore
    if (lanes === 0) this.#underWay.delete(key)
    else this.#underWay.set(key, lanes)
  }

  async #runOn(lane: Lane, { key, workFor, transfer, resolve }: Waiting): Promise<void> {
    const startMs = performance.now()
    this.#isUnderWay(key, 1)
    const work = workFor(lane)
    const end = await lane.run(work, transfer, this.#deadlines)
    this.#isUnderWay(key, -1)
    const nowMs = performance.now()
    // A schema that was new to its worker was compiled, which says nothing of how long records take.
    const isOfRecords = end.kind !== 'done' || work.kind !== 'judge' || work.source === null
    if (isOfRecords) this.#slow.took(key, nowMs - startMs, nowMs)
    resolve(end)
    this.#dispatch()
  }

  #refuseWaiting(why: string, cause: unknown): void {
    for (const { reject } of this.#waiting.takeAll()) reject(new SchemaUnavailableError(why, { cause }))
  }
}
