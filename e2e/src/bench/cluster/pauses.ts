import { percentile } from '../../percentile.ts'
import type { Append, StreamHistory } from './steady-load.ts'

/**
 * Milliseconds from a moment until the next append was acknowledged that was not on its way to be at that moment: the first that was asked
 * for at or after it, or had been asked for before and was acknowledged after it. Undefined when none was.
 */
export function resumedAfterMs({ appends }: Pick<StreamHistory, 'appends'>, momentMs: number): number | undefined {
  const next = appends.find(({ acknowledgedAtMs }) => acknowledgedAtMs > momentMs)
  return next && next.acknowledgedAtMs - momentMs
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
