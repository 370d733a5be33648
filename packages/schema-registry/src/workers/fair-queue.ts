/**
 * Waiting jobs by key, taken in turns over the keys and in order within one: whoever has many waiting does not push the others
 * back. Holds no more than `lengthMax` jobs.
 */
export class FairQueue<Job> {
  /** In the order of their turns; no list is empty. */
  readonly #waiting = new Map<number, Job[]>()
  readonly #lengthMax: number
  #length = 0

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax
  }

  get length(): number {
    return this.#length
  }

  /** False if the queue is full. */
  add(key: number, job: Job): boolean {
    if (this.#length === this.#lengthMax) return false
    this.#length++
    const jobs = this.#waiting.get(key)
    if (jobs === undefined) this.#waiting.set(key, [job])
    else jobs.push(job)
    return true
  }

  /** The next job whose key is accepted; null if there is none. */
  take(accepts: (key: number) => boolean): Job | null {
    for (const [key, jobs] of this.#waiting) {
      if (!accepts(key)) continue
      const job = jobs.shift()
      this.#waiting.delete(key)
      if (job === undefined) continue
      this.#length--
      if (jobs.length > 0) this.#waiting.set(key, jobs)
      return job
    }
    return null
  }

  takeAll(): Job[] {
    const all = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    this.#length = 0
    return all
  }
}
