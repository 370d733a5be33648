import type { PathStream } from '@pico/streams'
import type { Clock } from '../server/surroundings.ts'

export type WaitOutcome = 'changed' | 'deleted' | 'lost' | 'timeout' | 'aborted'

/** Offsets and ends as a reader saw them last. */
export interface Seen {
  readonly tail: number
  readonly isClosed: boolean
}

/**
 * Until the stream is not as `seen` any more: by an event, at most `timeoutMs`, or until `signal` says that nobody waits. Whoever waits
 * keeps a stream alive whose end comes when nobody uses it.
 */
export function waitForChange(
  stream: PathStream,
  seen: Seen,
  timeoutMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<WaitOutcome> {
  const isChanged = () => stream.highWatermark > seen.tail || stream.closed !== seen.isClosed
  if (signal.aborted) return Promise.resolve('aborted')
  return new Promise((resolve) => {
    const end = (outcome: WaitOutcome) => {
      unwatch()
      cancelTimeout()
      stopTouching()
      signal.removeEventListener('abort', onAbort)
      resolve(outcome)
    }
    const onAbort = () => end('aborted')
    const unwatch = stream.watch((change) => {
      if (change !== 'advanced') end(change)
      else if (isChanged()) end('changed')
    })
    const cancelTimeout = clock.after(timeoutMs, () => end('timeout'))
    const stopTouching = keepTouching(stream, clock)
    signal.addEventListener('abort', onAbort)
    if (isChanged()) end('changed')
  })
}

/** At once, and four times within the idle time, so that one late timer does not end the stream. */
function keepTouching(stream: PathStream, clock: Clock): () => void {
  if (stream.expiry.kind !== 'idle') return () => {}
  stream.touch()
  const everyMs = Math.min(Math.max(stream.expiry.ttlSeconds * 250, 50), 60_000)
  let cancel = clock.after(everyMs, touch)
  function touch() {
    stream.touch()
    cancel = clock.after(everyMs, touch)
  }
  return () => cancel()
}
