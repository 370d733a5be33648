import type { PathStream } from '@pico/streams'
import { keepTouching } from '../server/keep-touching.ts'
import type { Clock } from '../server/surroundings.ts'

export type WaitOutcome = 'changed' | 'deleted' | 'lost' | 'timeout' | 'over'

export interface WaitTerms {
  readonly clock: Clock
  readonly timeoutMs: number
  /** See DurableRequest. */
  readonly whenOver: (callback: () => void) => () => void
}

/** Until an open stream has records at or after `tail`, or is closed; or until nobody waits any more. Woken by events alone. */
export function waitForChange(stream: PathStream, tail: number, terms: WaitTerms): Promise<WaitOutcome> {
  const { clock, timeoutMs, whenOver } = terms
  const isChanged = () => stream.highWatermark > tail || stream.closed
  if (isChanged()) return Promise.resolve('changed')
  return new Promise((resolve) => {
    const stops: (() => void)[] = []
    const end = (outcome: WaitOutcome) => {
      for (const stop of stops) stop()
      resolve(outcome)
    }
    stops.push(
      stream.watch((change) => {
        if (change !== 'advanced') end(change)
        else if (isChanged()) end('changed')
      }),
      clock.after(timeoutMs, () => end('timeout')),
      keepTouching(stream, clock),
      whenOver(() => end('over')),
    )
  })
}
