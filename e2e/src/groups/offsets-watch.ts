import { setTimeout as sleep } from 'node:timers/promises'
import { unlessAway } from '../raw-topics.ts'
import { committedOffsets, type Whereabouts } from './group-view.ts'
import type { OffsetsView } from './rolling-judge.ts'

const everyMs = 300

export interface OffsetsWatch {
  readonly views: readonly OffsetsView[]
  /** What ended it before it was stopped. */
  readonly failure: unknown
  /** Asks once more, and ends. */
  stop(): Promise<void>
}

/** Asks over and over what a group has committed of one topic; a broker that is away is asked again. */
export function watchOffsets(at: Whereabouts, groupId: string, topic: string, partitions: number): OffsetsWatch {
  const views: OffsetsView[] = []
  const indexes = Array.from({ length: partitions }, (_, index) => index)
  let stopping = false
  const look = async () => {
    const askedAtMs = Date.now()
    const committed = await unlessAway(() => committedOffsets(at, groupId, [topic], indexes))
    if (committed === undefined) return
    const offsets = indexes.map((index) => committed.get(`${topic}-${index}`) ?? -1)
    views.push({ askedAtMs, answeredAtMs: Date.now(), offsets })
  }
  const run = async () => {
    for (; !stopping; await sleep(everyMs)) await look()
    await look()
  }
  let failure: unknown
  const done = run()
  done.catch((error: unknown) => {
    failure = error
  })
  return {
    views,
    get failure() {
      return failure
    },
    async stop() {
      stopping = true
      await done
    },
  }
}
