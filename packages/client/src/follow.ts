import { PicoError } from './errors.ts'
import { pause, RetrySchedule, type RetrySettings } from './retry-schedule.ts'

/** What one read gives, of either protocol. */
export interface PageOf<Position> {
  /** Where the next read begins. */
  readonly next: Position
  /** Nothing came after it, then. */
  readonly upToDate: boolean
  /** Nothing will ever come after it. */
  readonly closed: boolean
  readonly empty: boolean
}

export type Live = 'long-poll' | 'sse'

export interface PageSource<Position, Page extends PageOf<Position>> {
  /** Tries again by itself. With `live` it waits at the tail, and may come back empty. */
  read(from: Position, live: boolean, signal: AbortSignal): Promise<Page>
  /** Pages over one connection; ends when it does, without trying again. */
  events(from: Position, signal: AbortSignal): AsyncIterable<Page>
}

export interface FollowSettings {
  /** Null: up to the tail as it is then. */
  readonly live: Live | null
  readonly retry: RetrySettings
  readonly signal: AbortSignal | undefined
}

/**
 * Pages from a position on, each record in one of them: after a failure it asks again from the end of the last page that came whole.
 * Ends when the stream is closed and read to its end, or at the tail without `live`.
 */
export async function* follow<Position, Page extends PageOf<Position>>(
  source: PageSource<Position, Page>,
  from: Position,
  settings: FollowSettings,
): AsyncGenerator<Page, void, undefined> {
  const left = new AbortController()
  const signal = settings.signal === undefined ? left.signal : AbortSignal.any([settings.signal, left.signal])
  try {
    if (settings.live === 'sse') yield* byEvents(source, from, signal, settings.retry)
    else yield* byReads(source, from, signal, settings.live !== null)
  } finally {
    left.abort(new PicoError('client_closed', 'the reader left'))
  }
}

/** Asks for the next page while the last one is looked at. */
async function* byReads<Position, Page extends PageOf<Position>>(
  source: PageSource<Position, Page>,
  from: Position,
  signal: AbortSignal,
  live: boolean,
  withEmpty = false,
): AsyncGenerator<Page, void, undefined> {
  let page = await source.read(from, live, signal)
  for (;;) {
    const isLast = page.closed || (page.upToDate && !live)
    const ahead = isLast ? null : outcomeOf(source.read(page.next, live, signal))
    if (withEmpty || !page.empty) yield page
    if (ahead === null) return
    page = (await ahead)()
  }
}

/** Settles without rejecting: nobody may be waiting for it when the reader has left. */
function outcomeOf<T>(promise: Promise<T>): Promise<() => T> {
  return promise.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error
    },
  )
}

/**
 * Reads up to the tail, and lets itself be told from there on: of events, which may be long, no limit can be asked for, and what breaks
 * off in the middle of one comes again from its beginning.
 */
async function* byEvents<Position, Page extends PageOf<Position>>(
  source: PageSource<Position, Page>,
  from: Position,
  signal: AbortSignal,
  retry: RetrySettings,
): AsyncGenerator<Page, void, undefined> {
  const schedule = new RetrySchedule(retry)
  let position = from
  for (;;) {
    let hasEnded = false
    for await (const page of byReads(source, position, signal, false, true)) {
      position = page.next
      if (!page.empty) yield page
      hasEnded = page.closed
    }
    if (hasEnded) return
    let failure = new PicoError('connection_lost', 'the server ends event streams as soon as they begin', {
      retriable: true,
    })
    let came = false
    try {
      for await (const page of source.events(position, signal)) {
        came = true
        schedule.succeeded()
        position = page.next
        if (!page.empty) yield page
        if (page.closed) return
      }
      if (came) continue // the server ends them after a time
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PicoError) || !error.retriable) throw error
      failure = error
    }
    const delayMs = schedule.nextDelayMs(failure.retryAfterMs)
    if (delayMs === null) throw failure
    await pause(delayMs, signal)
  }
}
