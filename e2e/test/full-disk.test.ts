import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { run } from '../src/child-process.ts'
import { expectKept } from '../src/durability/expect-kept.ts'
import { startLoad } from '../src/durability/load.ts'
import { type PicoServer, startPico, walKinds } from '../src/pico.ts'

const mayMount = process.platform === 'linux' && process.getuid?.() === 0
if (!mayMount) console.warn('skipped because a small file system can only be mounted by root, on Linux')

let pico: PicoServer | undefined
let folder: string | undefined
afterEach(async () => {
  await pico?.close()
  if (folder !== undefined) {
    await run('umount', [folder])
    rmdirSync(folder)
  }
  pico = undefined
  folder = undefined
})

/** No fault point here: a real file system that is full, under WAL, objects and database alike. */
describe.skipIf(!mayMount).each(walKinds)('a file system that is full, %s WAL', (wal) => {
  it('refuses so that clients retry, loses nothing, and serves again when there is room', async () => {
    folder = mkdtempSync(join(tmpdir(), 'pico-full-'))
    await run('mount', ['-t', 'tmpfs', '-o', 'size=320m', 'tmpfs', folder])
    pico = await startPico({ wal, folder })
    const load = await startLoad({
      port: pico.port,
      name: 'full',
      topics: 2,
      java: false,
      recordsPerBatch: 200,
      pauseMs: 0,
    })

    await expect.poll(load.retriedErrors, { timeout: 90_000, message: 'a retriable error' }).not.toEqual([])
    await sleep(3000)
    const whenFull = load.acknowledgedRecords()
    expect(pico.process.exit(), 'still running').toBeUndefined()
    expect.soft(pico.process.output(), 'the operator is told').toMatch(/ENOSPC|no space|disk is full|SQLITE_FULL/i)

    await run('mount', ['-o', 'remount,size=2g', folder])
    await expect.poll(load.acknowledgedRecords, { timeout: 60_000, message: 'served again' }).toBeGreaterThan(whenFull)
    await sleep(1000)
    await load.stop()
    expectKept(await load.verify())
    await pico.restart('kill')
    expectKept(await load.verify())
  }, 300_000)
})
