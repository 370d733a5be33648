import type { PartitionChange } from './partition.ts'

type Watcher = (change: PartitionChange) => void

/** Those who wait for something to happen to a partition. A watcher must not throw. */
export class Watchers {
  /** Wrapped, so that one function may watch twice. */
  readonly #watching = new Set<{ readonly call: Watcher }>()

  get size(): number {
    return this.#watching.size
  }

  add(watcher: Watcher): () => void {
    const entry = { call: watcher }
    this.#watching.add(entry)
    return () => {
      this.#watching.delete(entry)
    }
  }

  /** Calls everybody who watches now: not who begins to while they are called, nor who has stopped by then. */
  notify(change: PartitionChange): void {
    if (this.#watching.size === 0) return
    for (const entry of [...this.#watching]) {
      if (this.#watching.has(entry)) entry.call(change)
    }
  }
}
