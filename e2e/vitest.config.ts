import { mergeConfig } from 'vitest/config'
import shared from '../vitest.shared.ts'

/** One file at a time: every file starts brokers and measures time, and the machine may have two cores. */
export default mergeConfig(shared, {
  test: { fileParallelism: false, testTimeout: 60_000, hookTimeout: 900_000 },
})
