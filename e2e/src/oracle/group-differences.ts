import { expect } from 'vitest'
import type { LawfulDifference } from './lawful-differences.ts'

const tooFar = 'No log of ours has such an offset; what cannot be kept exactly is refused, not rounded.'
const committed = (committedOffset: string): unknown => ({
  error: 'NONE',
  topics: [{ topic: 'own', partitions: [expect.objectContaining({ committedOffset })] }],
})

/** Where we answer about groups otherwise than Kafka on purpose: as `lawfulDifferences`. */
export const groupDifferences: readonly LawfulDifference[] = [
  {
    scenario: 'finding coordinators',
    step: /key type 1$/,
    kafka: expect.anything(), // found, or not yet
    pico: [['TRANSACTIONAL_ID_AUTHORIZATION_FAILED', -1, false]],
    why: 'We have no transactions. Every client gives up at once on this error.',
  },
  {
    scenario: 'what a commit may say',
    step: 'an offset past what a double holds',
    kafka: ['0: NONE'],
    pico: ['0: OFFSET_OUT_OF_RANGE'],
    why: tooFar,
  },
  {
    scenario: 'what a commit may say',
    step: 'an offset past what a double holds, read',
    kafka: committed('9007199254740993'),
    pico: committed('4503599627370496'),
    why: tooFar,
  },
]
