import { FencedError, StreamNotOwnedError } from '@pico/metadata'
import { compactOnce } from './compaction.ts'
import type { LogComponents } from './log.ts'
import type { OpenStream } from './open-stream.ts'
import type { LogSettings } from './settings.ts'
import { isWalKey, type StoredEntries } from './stored-entries.ts'
import { dropStrays } from './stray-wal.ts'
import { walPrefix } from './wal-key.ts'

/** How much one round does at most of each kind: the next round goes on. */
const trimsPerRound = 1000
const deletionsPerRound = 1000
const compactionsPerRound = 16
/**
 * An upload to the WAL is committed within a minute, or given up for good: one that no row knows after so long is a dead node's. With
 * the time between looks, no such object lives longer than two hours.
 */
const strayAfterMs = 60 * 60 * 1000
const strayLookMs = 30 * 60 * 1000

interface MaintenanceParts {
  readonly stored: StoredEntries
  readonly streams: ReadonlyMap<number, OpenStream>
  readonly trim: (streamId: number, offset: number) => Promise<void>
  readonly onMaintenance: (signal: AbortSignal) => Promise<void>
  readonly dropIdle: () => void
  readonly onFenced: (error: FencedError) => void
}

export interface Maintenance {
  /** One round: retention, compaction, deletion of doomed objects, idle streams. Concurrent calls share one. */
  run(): Promise<void>
  stop(): Promise<void>
  readonly counts: { compactions: number; deletedObjects: number }
}

/** Runs a round at every interval, until stopped. */
export function startMaintenance(
  components: LogComponents,
  settings: LogSettings,
  parts: MaintenanceParts,
): Maintenance {
  const { clock, leads = () => true } = components
  const counts = { compactions: 0, deletedObjects: 0 }
  const stopping = new AbortController()
  let running: Promise<void> | null = null
  let cancelTimer = () => {}
  let looksForStraysAtMs = clock.nowMs() + strayLookMs

  const round = async () => {
    const nowMs = clock.nowMs()
    const own = { node: components.node, unowned: leads() }
    for (const { streamId, trimTo } of await components.metadata.streams.retentionDue(own, nowMs, trimsPerRound)) {
      if (stopping.signal.aborted) return
      await trimOwn(parts, streamId, trimTo)
    }
    for (let i = 0; i < compactionsPerRound && leads() && !stopping.signal.aborted; i += 1) {
      if (!(await compactOnce(components, settings, parts, stopping.signal))) break
      counts.compactions += 1
    }
    if (!stopping.signal.aborted) await parts.onMaintenance(stopping.signal)
    if (leads())
      counts.deletedObjects += await deleteDoomed(
        components,
        parts.stored,
        nowMs - settings.doomedGraceMs,
        stopping.signal,
      )
    // Of a local WAL only one process writes segments, which keeps files whose rows have ended for the next ones.
    if (leads() && components.wal.kind === 'shared' && nowMs >= looksForStraysAtMs) {
      looksForStraysAtMs = nowMs + strayLookMs
      counts.deletedObjects += await dropStrays(components, walPrefix, nowMs - strayAfterMs, stopping.signal)
    }
    parts.dropIdle()
  }
  const run = () => {
    running ??= round().finally(() => {
      running = null
    })
    return running
  }
  const schedule = () => {
    cancelTimer = clock.after(settings.maintenanceIntervalMs, () => {
      run()
        .catch((error: unknown) => {
          if (stopping.signal.aborted) return
          if (error instanceof FencedError) parts.onFenced(error)
          else components.onProblem?.('maintenance failed and will be tried again', error)
        })
        .finally(() => {
          if (!stopping.signal.aborted) schedule()
        })
    })
  }
  schedule()
  return {
    run,
    counts,
    async stop() {
      stopping.abort(new Error('the log is closing'))
      cancelTimer()
      await running?.catch(() => undefined) // cut short on purpose; what it had not finished, the next start finds in SQL
    },
  }
}

/** Retention of a stream; none of our business any more where another node has it by now. */
async function trimOwn(parts: MaintenanceParts, streamId: number, trimTo: number): Promise<void> {
  try {
    await parts.trim(streamId, trimTo)
  } catch (error) {
    if (!(error instanceof StreamNotOwnedError)) throw error
  }
}

/** Two phases: the objects' bytes first, their rows after, so that a crash in between only means deleting once more. */
async function deleteDoomed(
  { metadata, store, wal }: LogComponents,
  stored: StoredEntries,
  beforeMs: number,
  signal: AbortSignal,
): Promise<number> {
  const doomed = await metadata.log.doomed(beforeMs, deletionsPerRound)
  const keys = doomed.map(({ key }) => key).filter((key) => !stored.isRead(key))
  if (keys.length === 0) return 0
  for (const key of keys) stored.drop(key)
  const walKeys = keys.filter(isWalKey)
  const dataKeys = keys.filter((key) => !isWalKey(key))
  if (walKeys.length > 0) await wal.store.delete(walKeys, { signal })
  if (dataKeys.length > 0) await store.delete(dataKeys, { signal })
  await metadata.log.forgetDoomed(keys)
  return keys.length
}
