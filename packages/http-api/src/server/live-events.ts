import type { PartitionChange, PathStream } from '@pico/streams'
import type { Exchange } from './exchange.ts'
import { keepTouching } from './keep-touching.ts'
import type { HttpObserver } from './observer.ts'
import type { Clock } from './surroundings.ts'

/** A line of nothing but a colon: keeps the connection in use, and no reader sees it (WHATWG HTML, 9.2.6). */
const keepAlive = Buffer.from(':\n\n')

export interface LiveEventsParts {
  readonly clock: Clock
  readonly observer: HttpObserver
  readonly settings: { readonly sseMaxDurationMs: number; readonly sseKeepAliveMs: number }
}

export interface LiveEventsListener {
  changed(change: PartitionChange): void
  /** The time is over, or the server drains. */
  over(): void
}

/**
 * What a response of events (`live=sse`) needs while it lasts, whatever its protocol: it is told of changes, kept alive, keeps its stream
 * alive, and ends in time. Call what it returns once, when it ends; where the client goes first, call it in `Exchange.onClose`.
 */
export function watchForEvents(
  exchange: Exchange,
  stream: PathStream,
  { clock, observer, settings }: LiveEventsParts,
  listener: LiveEventsListener,
): () => void {
  const unwatch = stream.watch((change) => listener.changed(change))
  const cancelEnd = clock.after(settings.sseMaxDurationMs, () => listener.over())
  const ignoreDraining = exchange.onDraining(() => listener.over())
  const stopTouching = keepTouching(stream, clock)
  const beat = () => {
    cancelBeat = clock.after(settings.sseKeepAliveMs, beat)
    if (!exchange.response.writableNeedDrain) exchange.response.write(keepAlive)
  }
  let cancelBeat = clock.after(settings.sseKeepAliveMs, beat)
  observer.liveReaderOpened('sse')
  return () => {
    unwatch()
    cancelEnd()
    ignoreDraining()
    stopTouching()
    cancelBeat()
    observer.liveReaderClosed('sse')
  }
}
