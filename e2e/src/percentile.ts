/** The smallest of these numbers, in ascending order, that so large a share of them does not exceed. */
export function percentile(ascending: readonly number[], share: number): number {
  const rank = Math.ceil(ascending.length * share)
  return ascending[Math.max(0, rank - 1)] ?? Number.NaN
}
