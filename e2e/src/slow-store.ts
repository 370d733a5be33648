import { setTimeout as sleep } from 'node:timers/promises'
import { startLoad } from './durability/load.ts'
import { type PicoServer, startPico, type WalKind } from './pico.ts'
import { peakRssBytes } from './process-usage.ts'

export interface SlowStoreResult {
  readonly peakRssBytes: number
  readonly acknowledgedRecords: number
  /** Of what was promised for the records acknowledged, see durability/checker.ts. */
  readonly breaches: readonly string[]
  readonly refusals: readonly string[]
}

/**
 * Produces as fast as pico takes it while its store, WAL and objects together, moves 5 MB/s; then reads everything back.
 */
export async function produceToSlowStore(wal: WalKind, seconds: number): Promise<SlowStoreResult> {
  const pico: PicoServer = await startPico({ wal, fault: 'slow-store=5MBps' })
  try {
    const load = await startLoad({
      port: pico.port,
      name: 'slow',
      topics: 2,
      java: false,
      recordsPerBatch: 200,
      pauseMs: 0,
      readers: false, // a reader's copy of everything would be our memory, not pico's, but takes a core
    })
    await sleep(seconds * 1000)
    await load.stop()
    const result = await load.verify()
    return { ...result, peakRssBytes: peakRssBytes(pico.process.pid) }
  } finally {
    await pico.close()
  }
}
