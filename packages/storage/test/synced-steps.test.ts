import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SyncedSteps } from '../src/file/synced-steps.ts'

const MiB = 1024 * 1024

/** A file whose syncs take so long, and after how many written bytes each came. */
function slowFile(syncMs: number) {
  const syncedAt: number[] = []
  const file = { written: 0, datasync: () => sleep(syncMs).then(() => void syncedAt.push(file.written)) }
  return { file, syncedAt }
}

async function write(file: { written: number }, steps: SyncedSteps, bytes: number): Promise<void> {
  for (const end = file.written + bytes; file.written < end; ) {
    file.written += MiB / 4
    await steps.wrote(MiB / 4)
  }
}

test('a write that is waited for is synced every 8 MiB, and what follows the last sync is left to its owner', async () => {
  const { file, syncedAt } = slowFile(0)
  await write(file, new SyncedSteps(file, {}), 20 * MiB)
  expect(syncedAt).toEqual([8 * MiB, 16 * MiB])
})

test('one that nobody waits for is synced every half MiB, and rests twice as long after each as it took', async () => {
  const { file, syncedAt } = slowFile(10)
  const beganMs = performance.now()
  await write(file, new SyncedSteps(file, { unhurried: () => true }), 5 * MiB)
  expect(syncedAt).toEqual(Array.from({ length: 10 }, (_, i) => ((i + 1) * MiB) / 2))
  // Timers of Node may be a millisecond early.
  expect(performance.now() - beganMs).toBeGreaterThan(10 * (3 * 10 - 4))
})

test('it hurries as soon as somebody waits, and takes its time again when nobody does', async () => {
  const { file, syncedAt } = slowFile(0)
  let isAwaited = false
  const steps = new SyncedSteps(file, { unhurried: () => !isAwaited })
  await write(file, steps, MiB)
  isAwaited = true
  await write(file, steps, 10 * MiB)
  isAwaited = false
  await write(file, steps, MiB)
  expect(syncedAt.map((bytes) => bytes / MiB)).toEqual([0.5, 1, 9, 11.25, 11.75])
})
