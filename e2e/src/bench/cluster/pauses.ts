import { percentile } from '../../percentile.ts'
import type { Append, StreamHistory } from './steady-load.ts'

/**
 * Milliseconds from the end of a node until an append was acknowledged that it did not acknowledge itself: what comes within `lastWordsMs`
 * was on its way already, as nobody takes over as early as that. Undefined when none was.
 */
export function resumedAfterMs(
  { appends }: Pick<StreamHistory, 'appends'>,
  endedAtMs: number,
  lastWordsMs: number,
): number | undefined {
  const next = appends.find(({ acknowledgedAtMs }) => acknowledgedAtMs > endedAtMs + lastWordsMs)
  return next && next.acknowledgedAtMs - endedAtMs
}

/** Of the appends that were under way at any time between two moments, how long the longest took. Undefined when none was. */
export function longestAppendMs(
  { appends }: Pick<StreamHistory, 'appends'>,
  fromMs: number,
  toMs: number,
): number | undefined {
  const under = appends.filter(({ askedAtMs, acknowledgedAtMs }) => askedAtMs <= toMs && acknowledgedAtMs >= fromMs)
  return under.length === 0 ? undefined : Math.max(...under.map(durationMs))
}

/** How long each append took that was asked for and acknowledged between two moments, of all histories, ascending. */
export function durationsMs(
  histories: readonly Pick<StreamHistory, 'appends'>[],
  fromMs: number,
  toMs: number,
): number[] {
  return histories
    .flatMap(({ appends }) => appends)
    .filter(({ askedAtMs, acknowledgedAtMs }) => askedAtMs >= fromMs && acknowledgedAtMs <= toMs)
    .map(durationMs)
    .sort((a, b) => a - b)
}

function durationMs({ askedAtMs, acknowledgedAtMs }: Append): number {
  return acknowledgedAtMs - askedAtMs
}

export interface Spread {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export function spreadOf(values: readonly number[]): Spread {
  const ascending = [...values].sort((a, b) => a - b)
  return { p50: percentile(ascending, 0.5), p99: percentile(ascending, 0.99), max: ascending.at(-1) ?? Number.NaN }
}
