import type { TopicRef } from './streams.ts'
import type { Topic } from './topic.ts'

interface Entry {
  readonly topic: Topic
  /** Asked for since the cache last looked for somebody to evict. */
  used: boolean
}

/**
 * Topics by name and by id, at most so many; those not asked for lately make room. What another node does to a topic has to
 * arrive here as `forget`: a topic that is not here is looked up.
 */
export class TopicCache {
  readonly #capacity: number
  readonly #byName = new Map<string, Entry>()
  readonly #nameOfId = new Map<string, string>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#byName.size
  }

  get(ref: TopicRef): Topic | undefined {
    const name = ref.name ?? this.#nameOfId.get(ref.topicId)
    const entry = name === undefined ? undefined : this.#byName.get(name)
    if (entry === undefined) return undefined
    entry.used = true
    return entry.topic
  }

  put(topic: Topic): void {
    this.forget(topic.name)
    if (this.#byName.size >= this.#capacity) this.#evictOne()
    this.#byName.set(topic.name, { topic, used: false })
    this.#nameOfId.set(topic.topicId, topic.name)
  }

  forget(name: string): void {
    const entry = this.#byName.get(name)
    if (entry === undefined) return
    this.#byName.delete(name)
    this.#nameOfId.delete(entry.topic.topicId)
  }

  clear(): void {
    this.#byName.clear()
    this.#nameOfId.clear()
  }

  /** Second chance: one pass may spare everybody, the next one finds the first unused. */
  #evictOne(): void {
    for (const [name, entry] of this.#byName) {
      if (!entry.used) {
        this.forget(name)
        return
      }
      entry.used = false
      this.#byName.delete(name)
      this.#byName.set(name, entry)
    }
  }
}
