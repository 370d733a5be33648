import type { Clock, LogStream } from '@pico/log'
import { FencedError } from '@pico/metadata'
import { compactByKey, type KeyCompactionSettings } from './key-compaction.ts'
import type { TopicConfig } from './topic-config.ts'

export interface CompactedStream {
  readonly stream: LogStream
  readonly config: TopicConfig
}

/** Streams whose clean part is remembered: of any other, the next pass looks at everything. */
const rememberedMax = 10_000

/** Compacts the open streams whose topics have the policy "compact", one after the other, in the rounds of the log's maintenance. */
export class KeyCompactor {
  readonly #clock: Clock
  readonly #settings: KeyCompactionSettings
  readonly #onProblem: (message: string, error: unknown) => void
  readonly #cleanedTo = new Map<number, number>()

  constructor(clock: Clock, settings: KeyCompactionSettings, onProblem: (message: string, error: unknown) => void) {
    this.#clock = clock
    this.#onProblem = onProblem
    this.#settings = settings
  }

  /** A stream that cannot be compacted now does not keep the others from it. @throws FencedError */
  async run(streams: Iterable<CompactedStream>, signal: AbortSignal): Promise<void> {
    for (const { stream, config } of streams) {
      if (signal.aborted) return
      const terms = { config, cleanedTo: this.#cleanedTo.get(stream.streamId) ?? 0, nowMs: this.#clock.nowMs(), signal }
      try {
        this.#remember(stream.streamId, await compactByKey(stream, terms, this.#settings))
      } catch (error) {
        if (error instanceof FencedError || signal.aborted) throw error
        this.#onProblem(`stream ${stream.streamId} could not be compacted, and will be tried again`, error)
      }
    }
  }

  #remember(streamId: number, cleanedTo: number): void {
    this.#cleanedTo.delete(streamId)
    this.#cleanedTo.set(streamId, cleanedTo)
    for (const oldest of this.#cleanedTo.keys()) {
      if (this.#cleanedTo.size <= rememberedMax) break
      this.#cleanedTo.delete(oldest)
    }
  }
}
