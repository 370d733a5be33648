/** Runs pieces of work one after the other, in the order they were asked for. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    // Whoever took the turn is told of its failure; the next turn only waits for it to be over.
    this.#last = turn.catch(() => undefined)
    return turn
  }
}
