import type { Attempt } from './attempts.ts'
import { type CrossRecord, contentOf, type StoredRecord } from './cross-record.ts'

/**
 * What is wrong with a log, given all that was tried: in words, none when it is right. Right is:
 *
 * - every request that was acknowledged is there once, whole, where the answer said;
 * - one that was refused is not there; one that was never answered is there once, whole, or not at all;
 * - nothing else is there;
 * - timestamps of Kafka's records are those that the client gave; HTTP's are the given ones, or the time of the request, raised to the
 *   highest that the stream had before.
 */
export function faultsOf(log: readonly StoredRecord[], attempts: readonly Attempt[]): string[] {
  const faults: string[] = []
  const contents = log.map(contentOf)
  /** By offset: the attempt that this record is of, and which of its records. */
  const owners = new Map<number, { of: Attempt; index: number }>()
  const claim = (attempt: Attempt, base: number): boolean => {
    const isThere = attempt.records.every(
      (record, i) => !owners.has(base + i) && contents[base + i] === contentOf(record),
    )
    if (isThere) for (const index of attempt.records.keys()) owners.set(base + index, { of: attempt, index })
    return isThere
  }
  for (const attempt of attempts) {
    const { outcome, what } = attempt
    if (outcome.kind !== 'kept' || outcome.baseOffset === null) continue
    if (!claim(attempt, outcome.baseOffset))
      faults.push(`${what}: acknowledged at ${outcome.baseOffset}, and not there`)
  }
  const placed = new Set<Attempt>()
  const placeless = attempts.filter(({ outcome }) => outcome.kind === 'unknown' || isKeptSomewhere(outcome))
  for (let offset = 0; offset < log.length; offset++) {
    if (owners.has(offset)) continue
    const found = placeless.find(
      (attempt) => !placed.has(attempt) && attempt.records.length > 0 && claim(attempt, offset),
    )
    if (found === undefined)
      faults.push(`${offset}: nobody wrote this, or not in this place: ${ownerByContent(contents[offset], attempts)}`)
    else placed.add(found)
  }
  for (const attempt of placeless) {
    if (isKeptSomewhere(attempt.outcome) && !placed.has(attempt))
      faults.push(`${attempt.what}: acknowledged, and nowhere`)
  }
  return [...faults, ...timestampFaults(log, owners)]
}

function isKeptSomewhere(outcome: Attempt['outcome']): boolean {
  return outcome.kind === 'kept' && outcome.baseOffset === null
}

function ownerByContent(content: string | undefined, attempts: readonly Attempt[]): string {
  const is = (record: CrossRecord) => contentOf(record) === content
  const owner = attempts.find(({ records }) => records.some(is))
  return owner === undefined ? 'unknown content' : `${owner.what} (${JSON.stringify(owner.outcome)})`
}

function timestampFaults(
  log: readonly StoredRecord[],
  owners: ReadonlyMap<number, { of: Attempt; index: number }>,
): string[] {
  const faults: string[] = []
  let highestMs = -1
  for (const [offset, { timestampMs }] of log.entries()) {
    const owner = owners.get(offset)
    const given = owner?.of.records[owner.index]?.timestampMs ?? null
    if (owner !== undefined) {
      const { raisesTimestamps, sentMs, answeredMs, what } = owner.of
      const raised = (ms: number) => (raisesTimestamps ? Math.max(ms, highestMs) : ms)
      const [from, to] = given === null ? [raised(sentMs), raised(answeredMs)] : [raised(given), raised(given)]
      if (timestampMs < from || timestampMs > to) {
        faults.push(`${offset}, ${what}: timestamp ${timestampMs}, not in ${from}-${to}, highest before ${highestMs}`)
      }
    }
    highestMs = Math.max(highestMs, timestampMs)
  }
  return faults
}
