import type { ProducerHistory, ReaderHistory } from './history.ts'

/**
 * A log only grows: who asks for its end after somebody was told one, or was acknowledged a record, is told no earlier one, whichever
 * node either of them asks. What was under way at the same time may be told either.
 *
 * @param length What is in the log at the last.
 */
export function findSetsBack(
  log: string,
  producers: readonly ProducerHistory[],
  readers: readonly ReaderHistory[],
  length: number,
): string[] {
  const views = readers.flatMap(({ name, ends }) => ends.map((end) => ({ ...end, by: name })))
  const acknowledged = producers.flatMap(({ name, acknowledged }) =>
    acknowledged.flatMap(({ offset, count, answeredAtMs }) =>
      answeredAtMs === undefined ? [] : [{ answeredAtMs, offset: offset + count, by: name }],
    ),
  )
  const told = [...views, ...acknowledged].sort((a, b) => a.answeredAtMs - b.answeredAtMs)
  const asked = views.toSorted((a, b) => a.askedAtMs - b.askedAtMs)
  const breaches: string[] = []
  let furthest = { offset: 0, by: 'nobody', answeredAtMs: 0 }
  let next = 0
  for (const view of asked) {
    for (let known = told[next]; known !== undefined && known.answeredAtMs < view.askedAtMs; known = told[++next]) {
      if (known.offset > furthest.offset) furthest = known
    }
    if (view.offset < furthest.offset) {
      const asked = `asked ${view.of ?? 'the broker'} at ${timeOf(view.askedAtMs)} and was told that it ends at ${view.offset}`
      const heard = `${furthest.by} had heard of ${furthest.offset} at ${timeOf(furthest.answeredAtMs)}`
      breaches.push(`${log}: ${view.by} ${asked}, though ${heard}`)
    }
    if (view.offset > length)
      breaches.push(`${log}: ${view.by} was told that it ends at ${view.offset}, and it has ${length} records`)
  }
  return breaches
}

function timeOf(ms: number): string {
  return new Date(performance.timeOrigin + ms).toISOString().slice(11, -1)
}
