import type { PartitionChange } from './partition.ts'

type Watcher = (change: PartitionChange) => void

/** Those who wait for something to happen to a partition. A watcher must not throw. */
export class Watchers {
  /** Wrapped, so that one function may watch twice. */
  /** Null until there is one: most partitions are never watched. */
  #watching: Set<{ readonly call: Watcher }> | null = null

  get size(): number {
    return this.#watching?.size ?? 0
  }

  add(watcher: Watcher): () => void {
    const entry = { call: watcher }
    this.#watching ??= new Set()
    const watching = this.#watching.add(entry)
    return () => {
      watching.delete(entry)
    }
  }

  /** Calls everybody who watches now: not who begins to while they are called, nor who has stopped by then. */
  notify(change: PartitionChange): void {
    const watching = this.#watching
    if (watching === null) return
    for (const entry of [...watching]) {
      if (watching.has(entry)) entry.call(change)
    }
  }
}
