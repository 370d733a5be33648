import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFailed, onTestFinished } from 'vitest'
import { type S3Fault, type S3FaultProxy, startS3FaultProxy } from '../src/cluster/s3-fault-proxy.ts'
import { newPrefix, type S3Service, startS3, storageUri } from '../src/cluster/s3-service.ts'
import { expectKept } from '../src/durability/expect-kept.ts'
import { type Load, startLoad } from '../src/durability/load.ts'
import { type PicoServer, packingFlags, startPico } from '../src/pico.ts'
import { javaTools, missing } from '../src/toolchain.ts'

const java = !(await missing(javaTools))
let service: S3Service
let proxy: S3FaultProxy

beforeAll(async () => {
  service = await startS3()
  proxy = await startS3FaultProxy(service.endpoint ?? `https://s3.${service.region}.amazonaws.com`)
})

afterAll(async () => {
  await proxy.close()
  await service.close()
})

async function startOnS3(flags: readonly string[] = []): Promise<PicoServer> {
  const storage = storageUri(service, newPrefix(service), proxy.endpoint)
  const pico = await startPico({ storage, env: service.env, flags })
  onTestFailed(() => console.log(`the server:\n${pico.process.output().slice(-4000)}`))
  onTestFinished(async () => {
    proxy.fault = null
    await pico.close()
  })
  return pico
}

describe('pico serve on SQLite and S3', () => {
  it('says what that promises, and loses nothing when it is killed under load', async () => {
    const pico = await startOnS3(packingFlags)
    expect(pico.process.output()).toMatch(/which object holds which of them is in .*meta\.db alone/)
    const load = await startLoad({ port: pico.port, name: 's3', topics: 2, java, pauseMs: 0 })
    for (let kill = 0; kill < 2; kill++) {
      await progress(load)
      await pico.restart('kill')
    }
    await progress(load)
    await load.stop()
    expectKept(await load.verify(), 300)
    // Nothing is in memory now: all of it comes from S3.
    await pico.restart('stop')
    expectKept(await load.verify(), 300)
  }, 180_000)

  const faults: readonly { fault: S3Fault; seconds: number }[] = [
    { fault: 'stall', seconds: 5 },
    { fault: 'slow-down', seconds: 5 },
    { fault: 'reset', seconds: 5 },
    { fault: 'lose-answer', seconds: 2 },
  ]

  it.each(faults)(
    'loses nothing, and goes on by itself, when S3 does $fault for $seconds s',
    async ({ fault, seconds }) => {
      const pico = await startOnS3(packingFlags)
      const load = await startLoad({ port: pico.port, name: `s3-${fault}`, topics: 1, java: false, pauseMs: 0 })
      await progress(load)
      proxy.fault = fault
      await sleep(seconds * 1000)
      proxy.fault = null
      await progress(load)
      await load.stop()
      expectKept(await load.verify(), 100)
      expect(pico.process.exit(), 'still running').toBeUndefined()
    },
    120_000,
  )
})

/** The load gets on: two seconds of it, after the first acknowledgement from now on. */
async function progress(load: Load): Promise<void> {
  const before = load.acknowledgedRecords()
  await expect.poll(load.acknowledgedRecords, { timeout: 60_000 }).toBeGreaterThan(before)
  await sleep(2000)
}
