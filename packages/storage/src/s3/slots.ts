type Waiter = (release: () => void) => void

/** So many at once. Who finds none free waits in line: the urgent first, each kind in the order they came. */
export class Slots {
  #free: number
  readonly #urgent = new Set<Waiter>()
  readonly #patient = new Set<Waiter>()

  constructor(max: number) {
    this.#free = max
  }

  /** Gives what gives the slot back; call it once. Rejects with the signal's reason when aborted while in line. */
  take(urgent: boolean, signal: AbortSignal): Promise<() => void> {
    const release = this.takeIfFree()
    if (release !== null) return Promise.resolve(release)
    const line = urgent ? this.#urgent : this.#patient
    return new Promise((resolve, reject) => {
      const leave = () => {
        line.delete(waiter)
        reject(signal.reason)
      }
      const waiter: Waiter = (given) => {
        signal.removeEventListener('abort', leave)
        resolve(given)
      }
      line.add(waiter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** Null when all are taken: there is nobody in line then who could be overtaken. */
  takeIfFree(): (() => void) | null {
    if (this.#free === 0) return null
    this.#free -= 1
    return () => this.#release()
  }

  #release(): void {
    const line = this.#urgent.size > 0 ? this.#urgent : this.#patient
    const [next] = line
    if (next === undefined) {
      this.#free += 1
      return
    }
    line.delete(next)
    next(() => this.#release())
  }
}
