/** The protocol's epoch of cursors. */
const cursorEpochMs = Date.UTC(2024, 9, 9)
const intervalMs = 20_000
const jitterSecondsMax = 3600

/**
 * What a live reader sends along with its next request, so that caches in between tell that request from the last one: the number of
 * the 20 s interval that it is now. A reader that is there already, or beyond, gets one further on, by chance up to an hour; never one further back.
 *
 * @param random at least 0, below 1
 */
export function nextCursor(clientCursor: string | null, nowMs: number, random: () => number): string {
  const current = intervalAt(nowMs)
  const given = clientCursor !== null && /^\d{1,15}$/.test(clientCursor) ? Number(clientCursor) : -1
  if (given < current) return String(current)
  const jitterSeconds = 1 + Math.floor(random() * jitterSecondsMax)
  return String(given + Math.ceil(jitterSeconds / (intervalMs / 1000)))
}

/** For the next event of a reader whose last one had `cursor`. */
export function laterCursor(cursor: string, nowMs: number): string {
  return String(Math.max(Number(cursor), intervalAt(nowMs)))
}

function intervalAt(nowMs: number): number {
  return Math.floor((nowMs - cursorEpochMs) / intervalMs)
}
