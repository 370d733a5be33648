import { mergeConfig } from 'vitest/config'
import shared from '../vitest.shared.ts'

/** One file at a time, and two tests of it at most: every file starts brokers and measures time, and the machine may have two cores. */
export default mergeConfig(shared, {
  test: { fileParallelism: false, maxConcurrency: 2, testTimeout: 60_000, hookTimeout: 900_000 },
})
