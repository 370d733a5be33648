import { expect } from 'vitest'
import type { LoadResult } from './load.ts'

/** Every promise kept, and enough done for that to mean something. */
export function expectKept(result: LoadResult, leastRecords = 1000): void {
  console.log(`${result.acknowledgedRecords} records acknowledged, ${result.seenRecords} seen by readers`)
  expect(result.refusals.slice(0, 20), 'refusals that no client retries').toEqual([])
  expect(result.breaches.slice(0, 20), 'broken promises').toEqual([])
  expect(result.acknowledgedRecords, 'records acknowledged').toBeGreaterThan(leastRecords)
  expect(result.seenRecords, 'records seen by readers').toBeGreaterThan(leastRecords)
}
