import type { Registry } from 'prom-client'

/** Upper ends of the buckets. */
const boundsSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export type Labels = Readonly<Record<string, string>>

/** One line of a histogram: an observation is two additions, and a search through fifteen numbers. */
export class Durations {
  readonly labels: Labels
  readonly counts: number[] = new Array<number>(boundsSeconds.length + 1).fill(0)
  sumSeconds = 0

  constructor(labels: Labels) {
    this.labels = labels
  }

  observe(latencyMs: number): void {
    const seconds = latencyMs / 1000
    let bucket = 0
    while (bucket < boundsSeconds.length && seconds > boundsSeconds[bucket]!) bucket++
    this.counts[bucket]!++
    this.sumSeconds += seconds
  }
}

interface Sample {
  readonly metricName: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/**
 * A histogram that keeps its lines at hand. prom-client's own builds a key from the labels at every observation, about a microsecond,
 * which is a twentieth of what a request may cost; when it is read, this one looks to the registry like one of those.
 */
export class DurationHistogram {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #lines: Durations[] = []

  constructor(registry: Registry, name: string, help: string) {
    this.name = name
    this.help = help
    // The registry asks a metric for its name and for what `get` gives, and for nothing else that its type says.
    registry.registerMetric(this as unknown as Parameters<Registry['registerMetric']>[0])
  }

  line(labels: Labels): Durations {
    const line = new Durations(labels)
    this.#lines.push(line)
    return line
  }

  async get() {
    return { ...this, values: this.#lines.flatMap((line) => this.#samplesOf(line)) }
  }

  #samplesOf({ labels, counts, sumSeconds }: Durations): Sample[] {
    let below = 0
    const buckets = counts.map((count, at) => {
      below += count
      return { metricName: `${this.name}_bucket`, labels: { ...labels, le: boundsSeconds[at] ?? '+Inf' }, value: below }
    })
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sumSeconds },
      { metricName: `${this.name}_count`, labels, value: below },
    ]
  }
}

/** What is made for a key when it is first asked for, such as the line of a histogram. */
export class ByKey<T> {
  readonly #made = new Map<string, T>()
  readonly #make: (key: string) => T

  constructor(make: (key: string) => T) {
    this.#make = make
  }

  get(key: string): T {
    let found = this.#made.get(key)
    if (found === undefined) {
      found = this.#make(key)
      this.#made.set(key, found)
    }
    return found
  }
}
