import { performance } from 'node:perf_hooks'
import { SchemaUnavailableError } from '../errors.ts'
import { FairQueue } from './fair-queue.ts'
import { Lane } from './lane.ts'
import { SlowSchemas } from './slow-schemas.ts'
import type { Work } from './work-messages.ts'
import { type Deadlines, type ThreadOwner, type ThreadSettings, type WorkEnd, WorkerThread } from './worker-thread.ts'

export interface GroupSettings {
  readonly lanes: number
  readonly deadlines: Deadlines
  readonly thread: ThreadSettings
  /** Whether a worker is kept ready to take the place of one that had to be ended: it takes a while to start one. */
  readonly hasSpare: boolean
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
const waitingBytesMax = 256 * 1024 * 1024

/**
 * Lanes that share a queue. No key has all lanes: whether its work is slow is known only when some of it is done, and who comes with
 * another key meanwhile must not wait for that. Work whose key was slow of late is on one lane at most, and only while another is
 * up: however many such keys there are, and however often one is the end of its worker, the rest has a lane to go to.
 */
export class LaneGroup {
  readonly #lanes: readonly Lane[]
  readonly #deadlines: Deadlines
  readonly #waiting = new FairQueue<Waiting>(waitingMax)
  readonly #slow: SlowSchemas
  readonly #thread: ThreadSettings
  readonly #hasSpare: boolean
  #spare: WorkerThread | null = null
  /** Keys whose work is being done, and on how many lanes. */
  readonly #underWay = new Map<number, number>()
  #slowUnderWay = 0
  #waitingBytes = 0
  #isClosed = false

  constructor({ lanes, deadlines, thread, hasSpare }: GroupSettings) {
    this.#deadlines = deadlines
    this.#thread = thread
    this.#hasSpare = hasSpare
    this.#slow = new SlowSchemas(deadlines.judgeMs / 4)
    const onFree = () => this.#dispatch()
    const onBroken = (cause: unknown) => this.#refuseWaiting('no worker starts', cause)
    this.#lanes = Array.from({ length: lanes }, () => new Lane((owner) => this.#takeThread(owner), onFree, onBroken))
  }

  /** Throws `SchemaUnavailableError`. */
  run(work: GroupWork): Promise<WorkEnd> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new SchemaUnavailableError('closed'))
      const waitingBytes = this.#waitingBytes + bytesOf(work)
      const isTaken = waitingBytes <= waitingBytesMax && this.#waiting.add(work.key, { ...work, resolve, reject })
      if (!isTaken) return reject(new SchemaUnavailableError('too much is waiting for a worker'))
      this.#waitingBytes = waitingBytes
      for (const lane of this.#lanes) lane.open()
      this.#dispatch()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#refuseWaiting('closed', null)
    await Promise.all([...this.#lanes.map((lane) => lane.close()), this.#spare?.close()])
  }

  #takeThread(owner: ThreadOwner): WorkerThread {
    const spare = this.#spare
    this.#spare = null
    if (spare === null) return new WorkerThread(this.#thread, owner)
    spare.belongTo(owner)
    return spare
  }

  /** Once work has been done: nobody waits for it, so it does not hold up what somebody waits for. */
  #keepSpare(): void {
    if (!this.#hasSpare || this.#spare !== null || this.#isClosed) return
    const spare: WorkerThread = new WorkerThread(this.#thread, {
      ready: () => {},
      gone: () => {
        if (this.#spare === spare) this.#spare = null
      },
    })
    this.#spare = spare
  }

  #dispatch(): void {
    for (const lane of this.#lanes) {
      if (this.#isClosed || this.#waiting.length === 0) return
      if (!lane.isFree) continue
      const nowMs = performance.now()
      const isSlow = (key: number) => this.#slow.has(key, nowMs)
      const next = this.#waiting.take((key) => this.#leavesOne(key) && (!isSlow(key) || this.#mayBeSlow(lane)))
      if (next === null) continue
      this.#waitingBytes -= bytesOf(next)
      void this.#runOn(lane, next, isSlow(next.key))
    }
  }

  #leavesOne(key: number): boolean {
    return this.#lanes.length === 1 || (this.#underWay.get(key) ?? 0) < this.#lanes.length - 1
  }

  #mayBeSlow(lane: Lane): boolean {
    if (this.#lanes.length === 1) return true
    return this.#slowUnderWay === 0 && this.#lanes.some((other) => other !== lane && other.isUp)
  }

  async #runOn(lane: Lane, { key, workFor, transfer, resolve }: Waiting, isSlow: boolean): Promise<void> {
    this.#isUnderWay(key, isSlow, 1)
    const end = await lane.run(workFor(lane), transfer, this.#deadlines)
    this.#isUnderWay(key, isSlow, -1)
    const isFatal = end.kind === 'late' || end.kind === 'outOfMemory'
    this.#slow.took(key, end.kind === 'done' ? end.tookMs : 0, isFatal, performance.now())
    resolve(end)
    this.#dispatch()
    this.#keepSpare()
  }

  #isUnderWay(key: number, isSlow: boolean, lanesMore: 1 | -1): void {
    const lanes = (this.#underWay.get(key) ?? 0) + lanesMore
    if (lanes === 0) this.#underWay.delete(key)
    else this.#underWay.set(key, lanes)
    if (isSlow) this.#slowUnderWay += lanesMore
  }

  #refuseWaiting(why: string, cause: unknown): void {
    this.#waitingBytes = 0
    for (const { reject } of this.#waiting.takeAll()) reject(new SchemaUnavailableError(why, { cause }))
  }
}

function bytesOf({ transfer }: GroupWork): number {
  return transfer.reduce((sum, buffer) => sum + buffer.byteLength, 0)
}
