import { setTimeout as sleep } from 'node:timers/promises'
import { openS3Store } from '@pico/storage/s3'
import { afterAll, beforeAll, describe, expect, it, onTestFailed, onTestFinished } from 'vitest'
import { adminVerify } from '../src/cluster/admin-verify.ts'
import { startPostgres } from '../src/cluster/postgres.ts'
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
    // Said before it listens; our end of the pipe may hear of it later.
    await expect.poll(() => pico.process.output()).toMatch(/which object holds which of them is in .*meta\.db alone/)
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

describe('pico admin verify on Postgres and S3', () => {
  it('proves what nodes serve, and what a kill left, and finds what was done to it by hand', async () => {
    const database = await startPostgres()
    onTestFinished(() => database.close())
    const metaUrl = await database.createDatabase()
    const prefix = newPrefix(service)
    const storage = storageUri(service, prefix)
    const pico = await startPico({ metaUrl, storage, env: service.env, flags: packingFlags })
    onTestFailed(() => console.log(`the server:\n${pico.process.output().slice(-4000)}`))
    onTestFinished(async () => {
      await pico.close()
    })
    const verified = (...flags: string[]) => adminVerify({ metaUrl, storage, env: service.env, flags })
    const load = await startLoad({ port: pico.port, name: 'verify', topics: 2, java: false, pauseMs: 0 })
    await progress(load)
    for (const flags of [[], ['--deep']]) {
      await progress(load)
      expect(await verified(...flags)).toMatchObject({ code: 0, findings: [], verdict: { proven: true } })
    }
    await pico.process.kill()
    const left = await verified('--deep')
    expect(left).toMatchObject({ code: 0, findings: [] })
    expect(left.verdict.counts['verifiedBytes']).toBeGreaterThan(10_000)

    Object.assign(process.env, service.env)
    const { bucket, region, endpoint } = service
    const store = await openS3Store({
      bucket,
      prefix: `${prefix}/`,
      region,
      ...(endpoint !== undefined && { endpoint }),
    })
    onTestFinished(() => store.close())
    const referenced: string[] = []
    for await (const { key } of store.list('data/')) referenced.push(key)
    await store.delete(referenced)
    await store.put('data/stray', [Buffer.from('x')])
    const found = await verified()
    expect(found.code).toBe(1)
    expect(new Set(found.findings.map(({ kind }) => kind))).toEqual(new Set(['missing']))
    // To the second, by the store's clock.
    await expect
      .poll(async () => (await verified('--bound-sec', '0')).findings, { timeout: 10_000 })
      .toContainEqual(expect.objectContaining({ kind: 'stray', subject: 'data/stray' }))
  }, 120_000)
})

const mebibyte = 1024 * 1024
/** More than a part of an upload, so that a pack takes several. */
const packThreshold = ['--wal-upload-threshold', '72MiB']
const producedMib = Number(process.env['E2E_S3_MIB'] ?? 80)

describe('what S3 is asked for', () => {
  it(`is at most a PUT for each flush and for each 32 MiB packed, over ${producedMib} MiB`, async () => {
    const pico = await startOnS3(packThreshold)
    const load = await startLoad({
      ...{ port: pico.port, name: 's3-cost', topics: 1, java: false, readers: false },
      ...{ recordsPerBatch: 500, pauseMs: 0 },
    })
    proxy.requests.length = 0
    const startedMs = performance.now()
    const flushedMib = async () => (await metric(pico, 'pico_log_flushed_bytes_total')) / mebibyte
    await expect.poll(flushedMib, { timeout: 240_000, interval: 500 }).toBeGreaterThan(producedMib)
    const seconds = (performance.now() - startedMs) / 1000
    await load.stop()
    await expect.poll(() => metric(pico, 'pico_log_packs_total'), { timeout: 60_000 }).toBeGreaterThan(0)
    const flushes = await metric(pico, 'pico_log_flushes_total')
    const flushed = await flushedMib()
    const all = [...proxy.requests]
    const puts = (kind: string) =>
      all.filter(({ operation, path }) => /^(put|upload-part)$/.test(operation) && path.includes(kind))
    const packedMib = puts('/data/').reduce((sum, { bytes }) => sum + bytes, 0) / mebibyte
    const perGib = (all.length * 1024) / flushed
    console.log(
      `${flushed.toFixed(0)} MiB in ${seconds.toFixed(0)} s: ${flushes} flushes with ${puts('/wal/').length} PUTs; ` +
        `${packedMib.toFixed(0)} MiB packed with ${puts('/data/').length}; ${all.length} requests (${JSON.stringify(countsOf(all))}), ${perGib.toFixed(0)} a GiB`,
    )
    expect(puts('/wal/').length).toBeLessThanOrEqual(flushes)
    expect(puts('/data/').length).toBeLessThanOrEqual(Math.ceil(packedMib / 32))

    await pico.restart('stop')
    proxy.requests.length = 0
    const readMs = performance.now()
    const result = await load.verify()
    console.log(
      `all of it read back from S3 in ${((performance.now() - readMs) / 1000).toFixed(0)} s with ${JSON.stringify(countsOf(proxy.requests))}`,
    )
    expect(result.breaches.slice(0, 20)).toEqual([])
    expect(result.refusals).toEqual([])
  }, 360_000)
})

function countsOf(requests: readonly { readonly operation: string }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { operation } of requests) counts[operation] = (counts[operation] ?? 0) + 1
  return counts
}

async function metric(pico: PicoServer, name: string): Promise<number> {
  const text = await (await fetch(`${pico.adminUrl}/metrics`)).text()
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
  if (value === undefined) throw new Error(`no metric ${name}`)
  return Number(value)
}

/** The load gets on: two seconds of it, after the first acknowledgement from now on. */
async function progress(load: Load): Promise<void> {
  const before = load.acknowledgedRecords()
  await expect.poll(load.acknowledgedRecords, { timeout: 60_000 }).toBeGreaterThan(before)
  await sleep(2000)
}
