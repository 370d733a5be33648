import type { S3Limits } from './s3-settings.ts'

/** A store that says it is asked too much is left alone for longer. */
const throttledFactor = 4

/**
 * The pause before the next try, in ms: doubling, and drawn from the upper half, so that callers who failed together do not come back
 * together.
 * @param failures tries that failed so far, from 1
 * @param random of [0, 1)
 */
export function retryDelayMs(
  failures: number,
  throttled: boolean,
  random: number,
  limits: Pick<S3Limits, 'retryDelayMsMin' | 'retryDelayMsMax'>,
): number {
  const first = limits.retryDelayMsMin * (throttled ? throttledFactor : 1)
  const delayMs = Math.min(limits.retryDelayMsMax, first * 2 ** (failures - 1))
  return delayMs / 2 + (delayMs / 2) * random
}
