/** Whether a server is going down, and who wants to know when it begins to. */
export class Draining {
  readonly #waiting = new Set<() => void>()
  #hasBegun = false

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Calls back once, when it begins, unless the returned function was called before. */
  onBegin(callback: () => void): () => void {
    // Wrapped, so that one function may wait twice.
    const entry = () => callback()
    this.#waiting.add(entry)
    return () => {
      this.#waiting.delete(entry)
    }
  }

  begin(): void {
    this.#hasBegun = true
    for (const callback of [...this.#waiting]) callback()
    this.#waiting.clear()
  }
}
