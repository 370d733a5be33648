import type { SchemaSource } from '../schema.ts'
import type { Work } from './work-messages.ts'
import type { Deadlines, ThreadOwner, WorkEnd, WorkerThread } from './worker-thread.ts'

export interface LoadedSchema {
  readonly schemaId: number
  readonly source: SchemaSource
}

/** As many compiled schemas a worker keeps; which are the least recently used, its lane knows. */
const schemasMax = 256

/**
 * A place where one worker works at a time. A worker that is gone is followed by another; one that cannot even start is not,
 * until there is work again.
 */
export class Lane {
  readonly #takeThread: (owner: ThreadOwner) => WorkerThread
  readonly #onFree: () => void
  readonly #onBroken: (cause: unknown) => void
  #thread: WorkerThread | null = null
  /** What the thread has compiled, least recently used first. */
  readonly #schemas = new Set<number>()
  #isClosed = false

  /** `onFree` is called when a worker gets ready; `onBroken` when one could not start, or is gone while it had nothing to do. */
  constructor(
    takeThread: (owner: ThreadOwner) => WorkerThread,
    onFree: () => void,
    onBroken: (cause: unknown) => void,
  ) {
    this.#takeThread = takeThread
    this.#onFree = onFree
    this.#onBroken = onBroken
  }

  /** Whether it has a worker that works or could. */
  get isUp(): boolean {
    return this.#thread?.isUp ?? false
  }

  get isFree(): boolean {
    return this.#thread?.isFree ?? false
  }

  /** Starts a worker if there is none. */
  open(): void {
    if (this.#thread !== null || this.#isClosed) return
    this.#schemas.clear()
    const thread: WorkerThread = this.#takeThread({
      ready: this.#onFree,
      gone: (cause) => {
        if (this.#thread !== thread) return
        this.#thread = null
        if (!this.#isClosed) this.#onBroken(cause)
      },
    })
    this.#thread = thread
  }

  /** What the worker has to be told of a schema before it can be held to it: see `JudgeWork`. */
  prepare({ schemaId, source }: LoadedSchema): {
    readonly source: SchemaSource | null
    readonly forget: readonly number[]
  } {
    const isKnown = this.#schemas.delete(schemaId)
    this.#schemas.add(schemaId)
    const forget: number[] = []
    for (const oldest of this.#schemas) {
      if (this.#schemas.size <= schemasMax) break
      this.#schemas.delete(oldest)
      forget.push(oldest)
    }
    return { source: isKnown ? null : source, forget }
  }

  /** Only while it is free. */
  async run(work: Work, transfer: readonly ArrayBuffer[], deadlines: Deadlines): Promise<WorkEnd> {
    const thread = this.#thread
    if (thread === null) throw new Error('a lane without a worker was given work')
    const end = await thread.run(work, transfer, deadlines)
    // What did not compile is not there to be judged by.
    if (end.kind === 'failed' && work.kind === 'judge') this.#schemas.delete(work.schemaId)
    if (end.kind === 'late' || end.kind === 'outOfMemory' || end.kind === 'lost') {
      this.#thread = null
      this.open()
    }
    return end
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread?.close()
  }
}
