import { Worker } from 'node:worker_threads'
import { type DoneWork, type FromWorker, Progress, type Work, type WorkerSettings } from './work-messages.ts'

export interface ThreadSettings {
  readonly workerUrl: URL
  /** Of objects and strings; buffers are not in it. A worker that needs more is ended. */
  readonly heapMb: number
  readonly maxJsonValueBytes: number
  readonly name: string
}

/** How a piece of work ended. After `late`, `outOfMemory` and `lost` the thread is gone. */
export type WorkEnd =
  | { readonly kind: 'done'; readonly done: DoneWork[keyof DoneWork]; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'late' | 'outOfMemory'; readonly isJudging: boolean; readonly recordIndex: number }
  | { readonly kind: 'lost'; readonly cause: unknown }

export interface Deadlines {
  /** For compiling: the schema of a judgement that the worker does not know yet, or all there is to do. */
  readonly compileMs: number
  /** For holding records to a schema. */
  readonly judgeMs: number
}

/** How often a worker that was not let run is given the time that it did not have. */
const extensionsMax = 20

/** Who is told what becomes of a worker. */
export interface ThreadOwner {
  /** The worker can work. */
  ready(): void
  /** The worker is gone, with no work running; also if it never got ready. */
  gone(cause: unknown): void
}

interface Running {
  readonly jobId: number
  readonly deadlines: Deadlines
  readonly end: (end: WorkEnd) => void
  isJudging: boolean
  timer: NodeJS.Timeout
}

/** One worker thread, which does one piece of work at a time and is ended when that takes too long. Nothing restarts it. */
export class WorkerThread {
  readonly #worker: Worker
  readonly #progress = new Progress()
  #owner: ThreadOwner
  #running: Running | null = null
  #jobs = 0
  #isReady = false
  #isGone = false
  #failure: unknown = null

  constructor(settings: ThreadSettings, owner: ThreadOwner) {
    this.#owner = owner
    const workerData: WorkerSettings = {
      maxJsonValueBytes: settings.maxJsonValueBytes,
      progress: this.#progress.shared,
    }
    this.#worker = new Worker(settings.workerUrl, {
      workerData,
      name: settings.name,
      env: {},
      // As its neighbours in the workspace, a worker that runs from its source finds theirs.
      execArgv: settings.workerUrl.pathname.endsWith('.ts') ? ['--conditions=@pico/source'] : [],
      resourceLimits: { maxOldGenerationSizeMb: settings.heapMb, stackSizeMb: 4 },
    })
    this.#worker.on('message', (message: FromWorker) => this.#onMessage(message))
    this.#worker.on('error', (error) => {
      this.#failure = error
    })
    this.#worker.on('exit', () => this.#onExit())
  }

  get isUp(): boolean {
    return this.#isReady && !this.#isGone
  }

  get isFree(): boolean {
    return this.isUp && this.#running === null
  }

  /** From now on it is told to another, who has to look for himself whether it is free already. */
  belongTo(owner: ThreadOwner): void {
    this.#owner = owner
  }

  /** Only while it is free. `transfer` are buffers that the work gives away. */
  run(work: Work, transfer: readonly ArrayBuffer[], deadlines: Deadlines): Promise<WorkEnd> {
    const jobId = ++this.#jobs | 0
    const isJudging = work.kind === 'judge' && work.source === null
    return new Promise((end) => {
      const timer = this.#deadline(jobId, isJudging ? deadlines.judgeMs : deadlines.compileMs)
      this.#running = { jobId, isJudging, timer, deadlines, end }
      this.#worker.ref()
      this.#worker.postMessage({ jobId, work }, [...transfer])
    })
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  /** `ms` of processor time: a worker that a busy machine does not let run has not taken long. */
  #deadline(jobId: number, ms: number, delayMs = ms, extensions = 0): NodeJS.Timeout {
    const timer = setTimeout(async () => {
      // When it is this thread that is late, the answer is there already.
      const isOver = () => this.#running?.timer !== timer || this.#progress.doneJobId === jobId
      if (isOver()) return
      const takenMs = await this.#takenMs()
      const running = this.#running
      if (isOver() || running === null) return
      const leftMs = takenMs === null ? 0 : ms - takenMs
      if (leftMs > ms / 10 && extensions < extensionsMax) {
        running.timer = this.#deadline(jobId, ms, leftMs, extensions + 1)
        return
      }
      this.#end({ kind: 'late', isJudging: running.isJudging, recordIndex: this.#progress.recordIndex })
      this.#isGone = true
      void this.#worker.terminate()
    }, delayMs)
    return timer
  }

  /** Null where Node does not tell, or the worker is about to be gone. */
  async #takenMs(): Promise<number | null> {
    if (this.#worker.cpuUsage === undefined) return null
    try {
      const { user, system } = await this.#worker.cpuUsage()
      return (user + system) / 1000 - this.#progress.startedMs
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'ERR_WORKER_NOT_RUNNING') throw error
      return null
    }
  }

  #onMessage(message: FromWorker): void {
    if (message.kind === 'ready') {
      if (this.#isGone) return
      this.#isReady = true
      this.#owner.ready()
      // A worker keeps the process alive while it starts, which is when there is work for it, and while it works.
      if (this.#running === null) this.#worker.unref()
      return
    }
    const running = this.#running
    if (running === null || running.jobId !== message.jobId) return
    switch (message.kind) {
      case 'judging':
        clearTimeout(running.timer)
        running.isJudging = true
        running.timer = this.#deadline(running.jobId, running.deadlines.judgeMs)
        break
      case 'done':
        this.#end({ kind: 'done', done: message.done, tookMs: message.tookMs })
        break
      case 'failed':
        this.#end({ kind: 'failed', error: message.error })
        break
    }
  }

  #onExit(): void {
    const isKnown = this.#isGone
    this.#isGone = true
    if (isKnown) return
    const { code } = (this.#failure ?? {}) as { readonly code?: unknown }
    const running = this.#running
    if (running === null) this.#owner.gone(this.#failure)
    else if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
      this.#end({ kind: 'outOfMemory', isJudging: running.isJudging, recordIndex: this.#progress.recordIndex })
    } else {
      this.#end({ kind: 'lost', cause: this.#failure })
    }
  }

  #end(end: WorkEnd): void {
    const running = this.#running
    if (running === null) return
    clearTimeout(running.timer)
    this.#running = null
    if (!this.#isGone) this.#worker.unref()
    running.end(end)
  }
}
