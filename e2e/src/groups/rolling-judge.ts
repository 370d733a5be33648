import type { ProducerHistory } from '../durability/history.ts'
import type { MemberReport, Ownership, Processed } from './member-report.ts'

/** What happened to a group of one topic: the input of the judge. All times are of one clock. */
export interface GroupHistory {
  /** Who wrote to each partition, by its index: each has one producer, and nobody else writes. */
  readonly producers: readonly ProducerHistory[]
  /** Everybody who was ever a member. */
  readonly members: readonly { readonly name: string; readonly reports: readonly MemberReport[] }[]
  /** What a stranger was told of the committed offsets, in the order asked. */
  readonly views: readonly OffsetsView[]
  /** When the broker was back from each of its restarts; null where coordinators change, nobody knows when: then generations say nothing. */
  readonly brokerBackAtMs: readonly number[] | null
}

export interface OffsetsView {
  readonly askedAtMs: number
  readonly answeredAtMs: number
  /** By partition; -1 where nothing is committed. */
  readonly offsets: readonly number[]
}

/**
 * The promises of a group, held against its history. Returns every breach, in words.
 *
 * 1. Every acknowledged record was processed, at its offset, and no two members saw another record there.
 * 2. A committed offset never goes back, and what a member was told is committed is there from then on.
 * 3. Nothing is committed before it was processed, nor before all that is in front of it.
 * 4. Who is given a partition begins at or after what was committed by then.
 * 5. In one generation a partition has one owner.
 */
export function judgeGroup(history: GroupHistory): string[] {
  const breaches = history.producers.flatMap((producer, partition) => {
    const firstSeen = firstSeenOf(history, partition)
    const commits = commitsOf(history, partition)
    return [
      ...unprocessed(producer, partition, firstSeen),
      ...altered(history, partition),
      ...stepsBack(history.views, partition, commits),
      ...committedTooEarly(history.views, partition, firstSeen),
      ...begunTooEarly(history, partition, commits),
    ]
  })
  return [...breaches, ...sharedOwnership(history)]
}

/** How often records were processed again by somebody. */
export function repeatedRecords(history: GroupHistory): number {
  return history.producers.reduce((sum, _, partition) => {
    return sum + processedOf(history, partition).length - firstSeenOf(history, partition).size
  }, 0)
}

function processedOf(history: GroupHistory, partition: number): Processed[] {
  const reports = history.members.flatMap((member) => member.reports)
  return reports.filter((report) => report.kind === 'processed' && report.partition === partition) as Processed[]
}

/** The earliest report of each offset. */
function firstSeenOf(history: GroupHistory, partition: number): Map<number, Processed> {
  const seen = new Map<number, Processed>()
  for (const report of processedOf(history, partition)) {
    const earlier = seen.get(report.offset)
    if (earlier === undefined || report.atMs < earlier.atMs) seen.set(report.offset, report)
  }
  return seen
}

function unprocessed(producer: ProducerHistory, partition: number, seen: ReadonlyMap<number, Processed>): string[] {
  const breaches: string[] = []
  for (const { first, count, offset } of producer.acknowledged) {
    for (let index = 0; index < count; index++) {
      if (seen.has(offset + index)) continue
      breaches.push(`${partition}: record ${first + index}, acknowledged at ${offset + index}, was not processed`)
    }
  }
  return breaches
}

/** By the producer's own word of what is where; of what it does not know, by the first who saw it. */
function altered(history: GroupHistory, partition: number): string[] {
  const producer = history.producers[partition]
  const numbers = new Map<number, number>()
  for (const { first, count, offset } of producer?.acknowledged ?? []) {
    for (let index = 0; index < count; index++) numbers.set(offset + index, first + index)
  }
  return processedOf(history, partition).flatMap(({ offset, sender }) => {
    const number = numbers.get(offset) ?? sender?.number
    if (number !== undefined) numbers.set(offset, number)
    if (sender !== undefined && sender.producer === producer?.name && sender.number === number) return []
    const found = sender === undefined ? 'what nobody sent' : `record ${sender.number} of ${sender.producer}`
    return [`${partition}: ${found} was processed at ${offset}, where record ${number} is`]
  })
}

interface Commit {
  readonly atMs: number
  readonly offset: number
}

/** What was known to be committed, by members or by strangers, in the order of time; each the highest so far. */
function commitsOf(history: GroupHistory, partition: number): Commit[] {
  const told = history.members.flatMap(({ reports }) =>
    reports.flatMap((report) =>
      report.kind === 'committed'
        ? report.offsets.filter(([index]) => index === partition).map(([, offset]) => ({ atMs: report.atMs, offset }))
        : [],
    ),
  )
  const viewed = history.views.map(({ answeredAtMs, offsets }) => ({
    atMs: answeredAtMs,
    offset: offsets[partition] ?? -1,
  }))
  let highest = -1
  return [...told, ...viewed]
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, offset }) => {
      highest = Math.max(highest, offset)
      return { atMs, offset: highest }
    })
}

function committedBefore(commits: readonly Commit[], atMs: number): number {
  let [low, high] = [0, commits.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((commits[middle]?.atMs ?? 0) < atMs) low = middle + 1
    else high = middle
  }
  return commits[low - 1]?.offset ?? -1
}

function stepsBack(views: readonly OffsetsView[], partition: number, commits: readonly Commit[]): string[] {
  return views.flatMap(({ askedAtMs, offsets }) => {
    const known = committedBefore(commits, askedAtMs)
    const offset = offsets[partition] ?? -1
    return offset < known ? [`${partition}: offset ${offset} is committed where ${known} was before`] : []
  })
}

function committedTooEarly(
  views: readonly OffsetsView[],
  partition: number,
  seen: ReadonlyMap<number, Processed>,
): string[] {
  const breaches: string[] = []
  let next = 0
  for (const { answeredAtMs, offsets } of views) {
    const committed = offsets[partition] ?? -1
    while (next < committed && (seen.get(next)?.atMs ?? Number.POSITIVE_INFINITY) <= answeredAtMs) next++
    if (next < committed) {
      breaches.push(`${partition}: offset ${committed} is committed, and record ${next} not yet processed`)
    }
  }
  return breaches
}

function begunTooEarly(history: GroupHistory, partition: number, commits: readonly Commit[]): string[] {
  const breaches: string[] = []
  for (const { name, reports } of history.members) {
    let begin = -1
    let isHeld = false
    for (const report of reports) {
      if (report.kind === 'owns') {
        const isGiven = report.partitions.includes(partition)
        if (isGiven && !isHeld) begin = committedBefore(commits, report.atMs)
        isHeld = isGiven
      } else if (report.kind === 'gaveUp' && report.partitions.includes(partition)) {
        isHeld = false
      } else if (report.kind === 'processed' && report.partition === partition && report.offset < begin) {
        breaches.push(`${partition}: ${name} processed ${report.offset}, though ${begin} was committed before it came`)
      }
    }
  }
  return breaches
}

function sharedOwnership({ members, brokerBackAtMs }: GroupHistory): string[] {
  if (brokerBackAtMs === null) return []
  const owners = new Map<string, string>()
  const breaches: string[] = []
  for (const { name, reports } of members) {
    for (const report of reports) {
      if (report.kind !== 'owns' || report.generationId === undefined) continue
      const generation = `generation ${report.generationId} after ${lifeOf(report, brokerBackAtMs)} restarts`
      for (const partition of report.partitions) {
        const what = `${partition}: in ${generation}`
        const owner = owners.get(what)
        if (owner !== undefined && owner !== name) breaches.push(`${what} both ${owner} and ${name} own it`)
        owners.set(what, name)
      }
    }
  }
  return breaches
}

/** A broker that has lost its members with its memory may count generations anew. */
function lifeOf({ atMs }: Ownership, brokerBackAtMs: readonly number[]): number {
  return brokerBackAtMs.filter((backAtMs) => backAtMs <= atMs).length
}
