import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../src/child-process.ts'
import { type PostgresServer, startPostgres } from '../src/cluster/postgres.ts'
import { expectKept } from '../src/durability/expect-kept.ts'
import { startLoad } from '../src/durability/load.ts'
import { type PicoServer, packingFlags, startPico } from '../src/pico.ts'
import { kcatTool, missing } from '../src/toolchain.ts'

/** How long there is a load before, between and after what is done to the database and the server. */
const stepMs = Number(process.env['E2E_POSTGRES_STEP_SECONDS'] ?? 3) * 1000
const withoutKcat = await missing(kcatTool)

describe('a server whose metadata is in Postgres', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres({ durable: true })
  })
  afterAll(() => server.close())

  async function start(): Promise<{ pico: PicoServer; url: string }> {
    const url = await server.createDatabase()
    return { url, pico: await startPico({ wal: 'shared', metaUrl: url, flags: packingFlags }) }
  }

  it.skipIf(withoutKcat)('serves kcat, and after a kill what kcat wrote is there', async ({ onTestFinished }) => {
    const { pico } = await start()
    onTestFinished(async () => {
      await pico.close()
    })
    const kcat = ['-b', pico.bootstrap, '-t', 'letters']
    await run('kcat', [...kcat, '-P'], { input: 'alpha\nbeta\ngamma\n' })
    await pico.restart('kill')
    const { stdout } = await run('kcat', [...kcat, '-C', '-e', '-q', '-o', 'beginning'])
    expect(stdout.toString()).toBe('alpha\nbeta\ngamma\n')
  })

  it('keeps every acknowledged record while the database restarts, crashes and cuts connections, and it is killed itself', async ({
    onTestFailed,
    onTestFinished,
  }) => {
    const { pico, url } = await start()
    onTestFailed(() => console.log(`the server:\n${pico.process.output().slice(-6000)}`))
    onTestFinished(async () => {
      await pico.close()
    })
    const load = await startLoad({ port: pico.port, name: 'postgres', topics: 2, java: false })
    const progress = async () => {
      const before = load.acknowledgedRecords()
      await expect.poll(load.acknowledgedRecords, { timeout: 30_000 }).toBeGreaterThan(before)
      await sleep(stepMs)
    }
    await progress()
    const blows = [
      () => server.restart('stop'),
      () => server.restart('kill', 500),
      // Connections that die at any moment, in a commit among others.
      async () => {
        for (let cut = 0; cut < 20; cut++) {
          await server.disconnect(url)
          await sleep(100)
        }
      },
      () => pico.restart('kill'),
      () => server.restart('stop', 2000),
    ]
    for (const blow of blows) {
      await blow()
      await progress()
    }
    await load.stop()
    expectKept(await load.verify())
    await pico.restart('stop')
    expectKept(await load.verify())
  }, 240_000)
})
