/** Hedges saved up at most while none was needed. */
const savedMax = 8

/** Keeps second requests to a share of all, so that a store that is slow altogether is not asked twice for everything. */
export class HedgeBudget {
  readonly #share: number
  #saved = 0

  constructor(share: number) {
    this.#share = share
  }

  /** One more first request. */
  earn(): void {
    this.#saved = Math.min(savedMax, this.#saved + this.#share)
  }

  spend(): boolean {
    if (this.#saved < 1) return false
    this.#saved -= 1
    return true
  }
}

export interface Hedging<T> {
  readonly send: (signal: AbortSignal) => Promise<T>
  /** Ends both. */
  readonly signal: AbortSignal
  readonly afterMs: number
  /** Asked when the first one is late: null for no second one, else what is called when that one is over. */
  readonly maySendAgain: () => (() => void) | null
  /** Whether an error is an answer (there is no such object) rather than a failure that the other request may be spared. */
  readonly isAnswer: (error: unknown) => boolean
}

/** Sends, and sends again when there is no answer in time; the first answer counts, and the other request is aborted. */
export async function hedged<T>({ send, signal, afterMs, maySendAgain, isAnswer }: Hedging<T>): Promise<T> {
  const over = new AbortController()
  const onAbort = () => over.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  let underWay = 0
  const start = (onOver: () => void) => {
    underWay += 1
    send(over.signal)
      .finally(() => {
        underWay -= 1
        onOver()
      })
      .then(resolve, (error: unknown) => {
        // The error of the last one standing counts; an earlier failure only leaves the other one to wait for.
        if (underWay === 0 || isAnswer(error)) reject(error)
      })
  }
  const timer = setTimeout(() => {
    const onOver = maySendAgain()
    if (onOver !== null) start(onOver)
  }, afterMs)
  try {
    start(() => undefined)
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    over.abort(new DOMException('the other request was answered first', 'AbortError'))
  }
}
