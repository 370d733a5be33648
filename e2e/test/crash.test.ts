import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { brokersUnderTest } from '../src/broker.ts'
import { expectKept } from '../src/durability/expect-kept.ts'
import { startLoad } from '../src/durability/load.ts'
import { javaTools, missing } from '../src/toolchain.ts'

/** Thirty seconds by default; a shorter run with the same five kills says less. */
const loadSeconds = Number(process.env['E2E_CRASH_SECONDS'] ?? 30)
const kills = 5
const java = !(await missing(javaTools))

const standard = ['pico', 'pico-shared-wal', 'pico-packing', 'pico-shared-wal-packing'] as const

// Two at once: a killed broker leaves the machine to the other.
describe.concurrent.each(brokersUnderTest(standard))('$name, killed under load', ({ start }) => {
  it(`keeps every acknowledged record through ${kills} kills in ${loadSeconds} s`, async ({
    onTestFailed,
    onTestFinished,
  }) => {
    const broker = await start()
    onTestFailed(() => console.log(`the broker:\n${broker.process.output().slice(-4000)}`))
    onTestFinished(async () => {
      await broker.close()
    })
    const load = await startLoad({ port: broker.port, name: 'crash', topics: 3, java })
    for (let kill = 1; kill <= kills; kill++) {
      const before = load.acknowledgedRecords()
      await sleep((loadSeconds * 1000) / (kills + 1))
      // On a machine that is busy with something else the load may not even have come back by now.
      await expect
        .poll(load.acknowledgedRecords, { message: `acknowledged before kill ${kill}`, timeout: 30_000 })
        .toBeGreaterThan(before)
      await broker.restart('kill')
    }
    await sleep((loadSeconds * 1000) / (kills + 1))
    await load.stop()
    expectKept(await load.verify())
    await broker.restart('stop')
    expectKept(await load.verify())
  }, 300_000)
})
