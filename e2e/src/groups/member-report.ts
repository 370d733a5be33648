import { senderOf } from '../durability/history.ts'

/**
 * What a member of a group says of itself while it runs, by the clock of this machine, in the words of the programs in
 * e2e/java, e2e/python, e2e/go and of kafkajs-member.ts: one JSON object a line, about one topic.
 */
export type MemberReport = Ownership | Release | Processed | Committed

/** The client was given partitions; said before it asks where to begin. `partitions` are all that it has now. */
export interface Ownership {
  readonly atMs: number
  readonly kind: 'owns'
  /** Where the client lets its user see it. */
  readonly generationId?: number
  readonly partitions: readonly number[]
}

/** Partitions were revoked or lost. */
export interface Release {
  readonly atMs: number
  readonly kind: 'gaveUp'
  readonly partitions: readonly number[]
}

export interface Processed {
  readonly atMs: number
  readonly kind: 'processed'
  readonly partition: number
  readonly offset: number
  /** Who sent it; undefined when nobody can have sent this value. */
  readonly sender: ReturnType<typeof senderOf>
}

/** The broker acknowledged a commit. */
export interface Committed {
  readonly atMs: number
  readonly kind: 'committed'
  /** Pairs of a partition and the offset of its next record. */
  readonly offsets: readonly (readonly [partition: number, offset: number])[]
}

type Printed = Ownership | Release | Committed | (Omit<Processed, 'sender'> & { readonly value: string })

/** One line of a member. A value is as long as it was sent: only who sent it is kept. */
export function parseReport(line: string): MemberReport {
  const printed: Printed = JSON.parse(line)
  if (printed.kind !== 'processed') return printed
  const { value, ...record } = printed
  return { ...record, sender: senderOf(value) }
}

/** The value that a line says was processed. */
export function processedValue(line: string): string | undefined {
  const printed: Printed = JSON.parse(line)
  return printed.kind === 'processed' ? printed.value : undefined
}

/** Partitions that the member has, by its own word. */
export function heldAfter(reports: readonly MemberReport[]): Set<number> {
  let held = new Set<number>()
  for (const report of reports) {
    if (report.kind === 'owns') held = new Set(report.partitions)
    else if (report.kind === 'gaveUp') for (const partition of report.partitions) held.delete(partition)
  }
  return held
}
