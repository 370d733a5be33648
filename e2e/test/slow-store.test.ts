import { describe, expect, it } from 'vitest'
import { walKinds } from '../src/pico.ts'
import { produceToSlowStore } from '../src/slow-store.ts'

const seconds = Number(process.env['E2E_SLOW_STORE_SECONDS'] ?? 60)
const mebibyte = 1024 * 1024

// Both at once: they wait for their stores, not for the machine.
describe.concurrent.each(walKinds)('producing as fast as it goes to a store of 5 MB/s, %s WAL', (wal) => {
  it(`keeps memory below 700 MB for ${seconds} s and loses nothing`, async () => {
    const result = await produceToSlowStore(wal, seconds)
    console.log(`at most ${(result.peakRssBytes / mebibyte).toFixed(0)} MB, ${result.acknowledgedRecords} records`)
    expect(result.refusals).toEqual([])
    expect(result.breaches.slice(0, 20)).toEqual([])
    // Slowed, not stopped: half of what the store could take, at an average of 1 kB a record.
    expect(result.acknowledgedRecords).toBeGreaterThan(2500 * seconds)
    expect(result.peakRssBytes).toBeLessThan(700 * mebibyte)
  }, 360_000)
})
