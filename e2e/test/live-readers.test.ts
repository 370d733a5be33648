import { loadavg } from 'node:os'
import { expect, it } from 'vitest'
import { describeLiveReport, fullLiveLoad, measureLiveReaders } from '../src/live/live-readers.ts'

const mebibyte = 1024 * 1024
const goalMs = 100
/** On a machine that others use, how long a process waits for its turn says nothing of pico. */
const quietLoad = 1.5

it('2,000 readers of 100 streams have what is appended at once, and one that is stuck slows only itself', async () => {
  const load = loadavg()[0] ?? 0
  const isQuiet = load < quietLoad
  const report = await measureLiveReaders(fullLiveLoad)
  console.log(`load average before ${load.toFixed(1)}; ${describeLiveReport(report)}`)

  // That nobody missed a record, was given one twice or out of order, the readers themselves assert.
  const readersOfOne = fullLiveLoad.readers / fullLiveLoad.streams
  for (const { appends, received } of [report.delivery, report.besideStuck]) {
    expect(appends).toBeGreaterThan(0)
    expect(received).toBe(appends * readersOfOne)
  }
  expect(report.delivery.appends).toBeGreaterThan(0.9 * fullLiveLoad.appendsPerSecond * fullLiveLoad.seconds)

  const limitMs = isQuiet ? goalMs : 50 * goalMs
  expect(report.delivery.fromSent.p99).toBeLessThan(limitMs)
  expect(report.besideStuck.fromAcknowledged.p99).toBeLessThan(limitMs)
  expect(report.idleReaderBytes).toBeLessThan(20 * 1024)
  // Were it kept for the stuck reader, it would be all that was appended, 64 MiB.
  expect(report.stuckGrowthBytes / mebibyte).toBeLessThan(48)
}, 360_000)
