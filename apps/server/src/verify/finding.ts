/** What is wrong with one thing. */
export interface Problem {
  readonly kind: ProblemKind
  /** In words, without naming the thing. */
  readonly what: string
}

export type ProblemKind =
  /** A row needs the object, and the store does not have it, or not all of it. */
  | 'missing'
  | 'short'
  /** No row knows the object, which is older than the bound. */
  | 'stray'
  /** Doomed long ago, and still there, or its row is. */
  | 'overdue'
  /** A row says that extents point into it, and none does. */
  | 'unused'
  /** Sums that a row keeps are not those of the extents. */
  | 'miscounted'
  /** Offsets of a stream that its extents should cover and do not. */
  | 'gap'
  /** An extent that cannot be. */
  | 'malformed'
  /** Rows of a stream that is not there, or not any more. */
  | 'leftover'
  /** Bytes that do not match their checksums, or the rows. */
  | 'damaged'

export interface Finding extends Problem {
  /** The object's key, or the stream's name, or what else names it. */
  readonly subject: string
}

/** Those that were there each time somebody looked, as last seen. */
export function lasting(...looks: readonly (readonly Problem[])[]): Problem[] {
  const [last = [], ...earlier] = looks.toReversed()
  return last.filter(({ kind }) => earlier.every((problems) => problems.some((problem) => problem.kind === kind)))
}
