const largest = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * An int64 of the wire as a number. What a number cannot hold exactly becomes the nearest that it can: still far outside every real
 * offset and time, so that comparisons give the answer they would have given.
 */
export function nearestSafeInteger(value: bigint): number {
  if (value > largest) return Number.MAX_SAFE_INTEGER
  if (value < -largest) return -Number.MAX_SAFE_INTEGER
  return Number(value)
}
