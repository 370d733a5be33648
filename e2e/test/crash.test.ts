import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type Broker, brokersUnderTest } from '../src/broker.ts'
import { type LoadResult, startLoad } from '../src/durability/load.ts'
import { javaTools, missing } from '../src/toolchain.ts'

/** Thirty seconds by default; a shorter run with the same five kills says less. */
const loadSeconds = Number(process.env['E2E_CRASH_SECONDS'] ?? 30)
const kills = 5
const java = !(await missing(javaTools))

let broker: Broker | undefined
afterEach(async () => {
  await broker?.close()
  broker = undefined
})

describe.each(brokersUnderTest(['pico', 'pico-shared-wal']))('$name, killed under load', ({ start }) => {
  it(`keeps every acknowledged record through ${kills} kills in ${loadSeconds} s`, async () => {
    broker = await start()
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
    expectKept(await load.finish())
  }, 240_000)
})

function expectKept(result: LoadResult): void {
  console.log(`${result.acknowledgedRecords} records acknowledged, ${result.seenRecords} seen by readers`)
  expect(result.refusals.slice(0, 20)).toEqual([])
  expect(result.breaches.slice(0, 20)).toEqual([])
  expect(result.acknowledgedRecords).toBeGreaterThan(1000)
  expect(result.seenRecords).toBeGreaterThan(1000)
}
