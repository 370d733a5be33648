import type { PathStream } from '@pico/streams'
import type { Clock } from './surroundings.ts'

const touchesPerTtl = 4
const pauseMsMin = 50
const pauseMsMax = 60_000

/**
 * Whoever waits for a stream uses it: until the returned function is called, a stream whose end comes when nobody uses it does not end. At
 * once, and several times within the idle time, so that one late timer does not end it.
 */
export function keepTouching(stream: PathStream, clock: Clock): () => void {
  if (stream.expiry.kind !== 'idle') return () => {}
  const pauseMs = Math.min(Math.max((stream.expiry.ttlSeconds * 1000) / touchesPerTtl, pauseMsMin), pauseMsMax)
  let cancel = () => {}
  const touch = () => {
    stream.touch()
    cancel = clock.after(pauseMs, touch)
  }
  touch()
  return () => cancel()
}
