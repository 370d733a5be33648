import { isSameSchema, type Judgement, type RecordProblem, type TopicSchema } from './topic-schema.ts'

/** Holds the records of one append to a schema. May be called again, when the topic was bound to another one meanwhile. */
export type JudgeRecords = (schema: TopicSchema) => Promise<readonly RecordProblem[]>

/** Judged by the schema that is given; null where there was none to judge by. */
interface Verdict {
  readonly schema: TopicSchema | null
  readonly problems: Promise<readonly RecordProblem[]>
}

interface WaitingAppend {
  readonly bytes: number
  readonly judge: JudgeRecords
  readonly act: (judgement: Judgement | null) => void
  readonly reject: (error: unknown) => void
  verdict: Verdict
}

const nothingFound: Promise<readonly RecordProblem[]> = Promise.resolve([])

/**
 * Appends of one stream that are judged by somebody who answers later. They are judged as they come, several at a time, and appended in the
 * order in which they came, each by the schema that is in force at that moment: one that was judged by another is judged again.
 */
export class JudgedAppends {
  readonly #schemaInForce: () => TopicSchema | null
  readonly #bytesMax: number
  readonly #waiting: WaitingAppend[] = []
  #waitingBytes = 0
  #wakeWhenRoom: (() => void)[] = []

  /** `bytesMax`: more than that should not wait here. */
  constructor(schemaInForce: () => TopicSchema | null, bytesMax: number) {
    this.#schemaInForce = schemaInForce
    this.#bytesMax = bytesMax
  }

  /** Somebody waits: who comes now comes after them. */
  get isBusy(): boolean {
    return this.#waiting.length > 0
  }

  get hasRoom(): boolean {
    return this.#waitingBytes < this.#bytesMax
  }

  whenRoom(): Promise<void> {
    if (this.hasRoom) return Promise.resolve()
    return new Promise((resolve) => this.#wakeWhenRoom.push(resolve))
  }

  /**
   * Calls `act` when it is this append's turn, with what was found by the schema in force then, and does nothing else in that turn of
   * the event loop; resolves with what `act` returns. Rejects, without calling it, when `judge` does; so do those that wait behind it:
   * an append that is to be tried again must not find that a later one of the same producer was taken.
   */
  take<T>(bytes: number, judge: JudgeRecords, act: (judgement: Judgement | null) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        bytes,
        judge,
        act: (judgement) => {
          try {
            resolve(act(judgement))
          } catch (error) {
            reject(error)
          }
        },
        reject,
        verdict: verdictOf(judge, this.#schemaInForce()),
      })
      this.#waitingBytes += bytes
      if (this.#waiting.length === 1) void this.#run()
    })
  }

  async #run(): Promise<void> {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const { verdict, judge, act } = first
      try {
        const problems = await verdict.problems
        const schema = this.#schemaInForce()
        if (schema === null) {
          this.#leave(1)
          act(null)
        } else if (verdict.schema !== null && isSameSchema(schema, verdict.schema)) {
          this.#leave(1)
          act({ schema, problems })
        } else {
          first.verdict = verdictOf(judge, schema)
        }
      } catch (error) {
        for (const { reject } of this.#leave(this.#waiting.length)) reject(error)
      }
    }
  }

  #leave(count: number): WaitingAppend[] {
    const left = this.#waiting.splice(0, count)
    for (const { bytes } of left) this.#waitingBytes -= bytes
    if (this.hasRoom) for (const wake of this.#wakeWhenRoom.splice(0)) wake()
    return left
  }
}

function verdictOf(judge: JudgeRecords, schema: TopicSchema | null): Verdict {
  if (schema === null) return { schema, problems: nothingFound }
  const problems = judge(schema)
  problems.catch(() => undefined) // looked at when its turn comes
  return { schema, problems }
}
