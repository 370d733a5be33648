import type { LogIndex, Metadata } from '@pico/metadata'
import type { ObjectStore, SegmentStore } from '@pico/storage'
import {
  type Fault,
  type FaultHook,
  type FaultPlan,
  type FaultRule,
  type StoreOperation,
  withFaults,
} from '@pico/storage/faults'
import { parseByteSize } from './byte-size.ts'
import { UsageError } from './exit-errors.ts'

/*
 * Fault points, for tests that want a server to die or its disk to fail at an exact moment. Off unless PICO_ALLOW_FAULTS=1.
 *
 *   PICO_FAULT=kill-after-upload[@n]   SIGKILL when the n-th object (WAL object or data object) is in the store and no row knows it
 *   PICO_FAULT=kill-after-commit[@n]   SIGKILL when the n-th flush is committed (a synced frame, or a WAL object's row) and not answered
 *   PICO_FAULT=kill-in-frame[@n]       SIGKILL when a part of the n-th frame is in the segment
 *   PICO_FAULT=kill-in-compaction[@n]  SIGKILL when the n-th object that compaction by key has written is in the store and no row knows it
 *   PICO_FAULT=kill-after-compaction[@n]  SIGKILL when the n-th such object is in SQL, in the place of what it replaces
 *   PICO_FAULT=sync-eio[@n[-m]]        writes n to m to the WAL are done and say EIO; every one without a range
 *   PICO_FAULT=sync-enospc[@n[-m]]     writes n to m to the WAL are done in part and say ENOSPC
 *   PICO_FAULT=slow-store=5MBps        everything that the store moves shares so many bytes a second
 */

const killPoints = [
  'kill-after-upload',
  'kill-after-commit',
  'kill-in-frame',
  'kill-in-compaction',
  'kill-after-compaction',
] as const
const syncFaults = { 'sync-eio': 'EIO', 'sync-enospc': 'ENOSPC' } as const

export type FaultPoint =
  | { readonly kind: (typeof killPoints)[number]; readonly nth: number }
  | { readonly kind: keyof typeof syncFaults; readonly from: number; readonly to: number }
  | { readonly kind: 'slow-store'; readonly bytesPerSecond: number }

/** @throws UsageError for a fault that is not understood, or not allowed */
export function parseFaultPoint(environment: Readonly<Record<string, string | undefined>>): FaultPoint | null {
  const text = environment['PICO_FAULT']
  if (text === undefined || text === '') return null
  if (environment['PICO_ALLOW_FAULTS'] !== '1')
    throw new UsageError('PICO_FAULT is set, and PICO_ALLOW_FAULTS=1 is not')
  const slow = /^slow-store=(.+)ps$/i.exec(text)?.[1]
  if (slow !== undefined) return { kind: 'slow-store', bytesPerSecond: parseByteSize(slow, 'PICO_FAULT') }
  const [, kind, first, last] = /^([a-z-]+)(?:@(\d+)(?:-(\d+))?)?$/.exec(text) ?? []
  const killPoint = killPoints.find((point) => point === kind)
  if (killPoint !== undefined && last === undefined) return { kind: killPoint, nth: Number(first ?? 1) }
  if (kind === 'sync-eio' || kind === 'sync-enospc') {
    const from = Number(first ?? 1)
    return { kind, from, to: Number(last ?? first ?? Number.MAX_SAFE_INTEGER) }
  }
  throw new UsageError(`PICO_FAULT: ${JSON.stringify(text)} is not a fault point`)
}

/** The store with that fault, when there is one. */
export function storeWithFault(store: ObjectStore & SegmentStore, fault: FaultPoint | null): ObjectStore & SegmentStore
export function storeWithFault(store: ObjectStore, fault: FaultPoint | null): ObjectStore
export function storeWithFault(store: ObjectStore, fault: FaultPoint | null): ObjectStore {
  return fault === null ? store : withFaults(store, planOf(fault))
}

function planOf(fault: FaultPoint): FaultPlan {
  switch (fault.kind) {
    case 'slow-store':
      return { bytesPerSecond: fault.bytesPerSecond }
    case 'kill-after-upload':
      return { after: killAt(fault.nth, 'put') }
    case 'kill-after-commit':
      return { after: killAt(fault.nth, 'write') }
    case 'kill-in-frame':
      return {
        rules: [{ operation: 'write', nth: fault.nth, fault: { kind: 'torn', keep: 'beginning' } }],
        after: killAt(fault.nth, 'write'),
      }
    case 'kill-in-compaction':
    case 'kill-after-compaction':
      return {} // it strikes at the database
    case 'sync-eio':
      return { rules: failing(fault, { kind: 'fail-after', code: 'EIO' }, { kind: 'fail-after', code: 'EIO' }) }
    case 'sync-enospc':
      return {
        rules: failing(
          fault,
          { kind: 'torn', keep: 'beginning', code: 'ENOSPC' },
          { kind: 'fail-before', code: 'ENOSPC' },
        ),
      }
  }
}

/** Segment writes and puts of WAL objects, from the one to the other. */
function failing({ from, to }: { from: number; to: number }, write: Fault, put: Fault): FaultRule[] {
  const rules: FaultRule[] = [
    { operation: 'write', fault: write },
    { operation: 'put', key: /^wal\//, fault: put },
  ]
  if (to === Number.MAX_SAFE_INTEGER) return rules
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  return rules.flatMap((rule) => numbers.map((nth) => ({ ...rule, nth })))
}

function killAt(nth: number, operation: StoreOperation): FaultHook {
  const strike = strikeAt(nth)
  return (done) => {
    if (done === operation) strike()
  }
}

/** Nothing of ours runs after it: no handler, no flush. */
function killNow(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** Commits that are in SQL: it dies right before or right after the n-th. */
export function metadataWithFault(metadata: Metadata, fault: FaultPoint | null): Metadata {
  if (fault === null || !('nth' in fault)) return metadata
  const log = killingLog(metadata.log, fault)
  return log === null ? metadata : { ...metadata, log }
}

function killingLog(log: LogIndex, { kind, nth }: Extract<FaultPoint, { nth: number }>): LogIndex | null {
  const strike = strikeAt(nth)
  switch (kind) {
    case 'kill-after-commit':
      return intercepted(log, 'commitWalObjects', async (commit) => {
        await commit()
        strike()
      })
    case 'kill-in-compaction':
      return intercepted(log, 'replaceExtents', async (replace) => {
        strike()
        return replace()
      })
    case 'kill-after-compaction':
      return intercepted(log, 'replaceExtents', async (replace) => {
        const isReplaced = await replace()
        strike()
        return isReplaced
      })
    case 'kill-after-upload':
    case 'kill-in-frame':
      return null // the store does it
  }
}

/** The index, but for one of its calls. */
function intercepted<Name extends 'commitWalObjects' | 'replaceExtents'>(
  log: LogIndex,
  name: Name,
  around: (call: () => ReturnType<LogIndex[Name]>) => ReturnType<LogIndex[Name]>,
): LogIndex {
  return new Proxy(log, {
    get(target, asked) {
      const member: unknown = Reflect.get(target, asked)
      if (typeof member !== 'function') return member
      const call = member.bind(target)
      return asked === name ? (...given: unknown[]) => around(() => call(...given)) : call
    },
  })
}

function strikeAt(nth: number): () => void {
  let seen = 0
  return () => {
    if (++seen === nth) killNow()
  }
}
