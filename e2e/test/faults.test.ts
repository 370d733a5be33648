import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from '../src/durability/expect-kept.ts'
import { type Load, startLoad } from '../src/durability/load.ts'
import { type PicoServer, packingFlags, startPico, type WalKind } from '../src/pico.ts'

let pico: PicoServer | undefined
afterEach(async () => {
  await pico?.close()
  pico = undefined
})

const deaths: readonly { wal: WalKind; fault: string; moment: string }[] = [
  { wal: 'local', fault: 'kill-in-frame@1', moment: 'inside its first frame' },
  { wal: 'local', fault: 'kill-in-frame@100', moment: 'inside a frame' },
  { wal: 'local', fault: 'kill-after-commit@100', moment: 'between a synced frame and its answers' },
  { wal: 'local', fault: 'kill-after-upload@3', moment: 'between a data object and its row' },
  { wal: 'shared', fault: 'kill-after-upload@1', moment: 'between its first object and its row' },
  { wal: 'shared', fault: 'kill-after-upload@100', moment: 'between an object and its row' },
  { wal: 'shared', fault: 'kill-after-commit@100', moment: 'between the commit and its answers' },
]

describe.each(deaths)('killed $moment, $wal WAL ($fault)', ({ wal, fault }) => {
  it('loses nothing acknowledged and repeats nothing', async () => {
    pico = await startPico({ wal, fault, flags: packingFlags })
    const load = await startLoad({ port: pico.port, name: 'fault', topics: 2, java: false })
    const { signal } = await within(60_000, pico.process.exited, `${fault} did not strike`)
    expect(signal).toBe('SIGKILL')
    await pico.start()
    await progress(load)
    await load.stop()
    expectKept(await load.verify())
  }, 180_000)
})

const refusals: readonly { wal: WalKind; fault: string; code: string }[] = [
  { wal: 'local', fault: 'sync-eio@100', code: 'EIO' },
  { wal: 'local', fault: 'sync-eio@100-110', code: 'EIO' },
  { wal: 'local', fault: 'sync-enospc@100-130', code: 'ENOSPC' },
  { wal: 'shared', fault: 'sync-eio@100', code: 'EIO' },
  { wal: 'shared', fault: 'sync-enospc@100-130', code: 'ENOSPC' },
]

describe.each(refusals)('a disk that says $code, $wal WAL ($fault)', ({ wal, fault, code }) => {
  it('acknowledges nothing that is not durable, loses nothing, and serves again when the disk does', async () => {
    pico = await startPico({ wal, fault, flags: packingFlags })
    const load = await startLoad({ port: pico.port, name: 'disk', topics: 2, java: false })
    await expect.poll(load.retriedErrors, { timeout: 60_000, message: 'a retriable error' }).not.toEqual([])
    await progress(load)
    expect(pico.process.exit(), 'still running').toBeUndefined()
    expect.soft(pico.process.output(), 'the operator is told').toContain(code)
    // What the failed writes left on disk must not come back.
    await pico.restart('kill')
    await progress(load)
    await load.stop()
    expectKept(await load.verify())
  }, 180_000)
})

/** The load gets on: two seconds of it, after the first acknowledgement from now on. */
async function progress(load: Load): Promise<void> {
  const before = load.acknowledgedRecords()
  await expect.poll(load.acknowledgedRecords, { timeout: 30_000 }).toBeGreaterThan(before)
  await sleep(2000)
}

async function within<T>(timeoutMs: number, promise: Promise<T>, message: string): Promise<T> {
  const late = new AbortController()
  const timeout = sleep(timeoutMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(message)
  })
  return Promise.race([promise, timeout]).finally(() => {
    timeout.catch(() => undefined) // aborted: the promise was in time
    late.abort()
  })
}
