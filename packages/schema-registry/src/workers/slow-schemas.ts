/** For how long a schema is remembered: one that was slow, and one that was the end of a worker. */
const slowForMs = 10_000
const fatalForMs = 600_000
/** A schema that is slow again is remembered again, so it does no harm to forget some. */
const schemasMax = 1000

/** The schemas whose records took long of late. */
export class SlowSchemas {
  readonly #slowMs: number
  readonly #untilMs = new Map<number, number>()

  /** `slowMs`: how long is long, for one batch. */
  constructor(slowMs: number) {
    this.#slowMs = slowMs
  }

  took(schemaId: number, durationMs: number, isFatal: boolean, nowMs: number): void {
    if (!isFatal && durationMs < this.#slowMs) return
    const untilMs = Math.max(this.#untilMs.get(schemaId) ?? 0, nowMs + (isFatal ? fatalForMs : slowForMs))
    this.#untilMs.delete(schemaId)
    this.#untilMs.set(schemaId, untilMs)
    const [oldest] = this.#untilMs.keys()
    if (this.#untilMs.size > schemasMax && oldest !== undefined) this.#untilMs.delete(oldest)
  }

  has(schemaId: number, nowMs: number): boolean {
    const untilMs = this.#untilMs.get(schemaId)
    if (untilMs === undefined) return false
    if (untilMs > nowMs) return true
    this.#untilMs.delete(schemaId)
    return false
  }
}
