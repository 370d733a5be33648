import { Turns } from './turns.ts'

interface Call<I, O> {
  readonly input: I
  resolve(output: O): void
  reject(error: unknown): void
}

/** Calls made while others are under way are made together: a transaction is what they cost. */
export class Together<I, O> {
  readonly #work: (inputs: readonly I[]) => Promise<readonly O[]>
  readonly #togetherMax: number
  readonly #turns = new Turns()
  #waiting: Call<I, O>[] = []

  /** `work` answers in the order of its inputs. When it rejects, all of them are told. */
  constructor(work: (inputs: readonly I[]) => Promise<readonly O[]>, togetherMax: number) {
    this.#work = work
    this.#togetherMax = togetherMax
  }

  call(input: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject })
      if (this.#waiting.length === 1) void this.#turns.take(() => this.#round())
    })
  }

  async #round(): Promise<void> {
    const calls = this.#waiting.splice(0, this.#togetherMax)
    if (this.#waiting.length > 0) void this.#turns.take(() => this.#round())
    try {
      const outputs = await this.#work(calls.map(({ input }) => input))
      for (const [index, { resolve }] of calls.entries()) resolve(outputs[index] as O)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
  }
}
