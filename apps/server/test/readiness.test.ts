import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { serveDefaults, serverConfig, startServer } from '../src/index.ts'
import { accepts, PicoProcess } from './pico-process.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pico-ready-'))
})
afterEach(async () => {
  await PicoProcess.endAll()
  rmSync(folder, { recursive: true, force: true })
})

const anyPort = ['kafka-listen', 'listen', 'admin-listen'].flatMap((flag) => [`--${flag}`, '127.0.0.1:0'])

/** Probes stand for two seconds, and the machine may be busy. */
const eventually = { timeout: 20_000, interval: 100 }

interface Ready {
  readonly ready: boolean
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly problem: string | null }[]
}

async function readyOf(port: number): Promise<{ status: number; body: Ready }> {
  const answer = await fetch(`http://127.0.0.1:${port}/ready`)
  return { status: answer.status, body: (await answer.json()) as Ready }
}

describe('/ready', { timeout: 60_000 }, () => {
  it('fails while storage does, says so, and is well again when storage is', async () => {
    const objects = join(folder, 'objects')
    const config = serverConfig({
      ...serveDefaults(),
      'no-kafka': true,
      listen: '127.0.0.1:0',
      'admin-listen': '127.0.0.1:0',
      'meta-url': 'sqlite::memory:',
      storage: `-2@file://${objects}`,
      wal: `-3@file://${join(folder, 'wal')}`,
    })
    const server = await startServer(config, { log: pino({ level: 'silent' }) })
    const port = server.admin?.port ?? 0
    expect(await readyOf(port)).toMatchObject({
      status: 200,
      body: { checks: ['serving', 'storage', 'wal', 'metadata'].map((name) => ({ name, ok: true, problem: null })) },
    })
    renameSync(objects, join(folder, 'elsewhere'))
    await vi.waitFor(async () => expect((await readyOf(port)).status).toBe(503), eventually)
    expect((await readyOf(port)).body.checks).toMatchObject([
      { name: 'serving', ok: true },
      { name: 'storage', ok: false, problem: expect.stringMatching(/probe\/node-1/) },
      { name: 'wal', ok: true },
      { name: 'metadata', ok: true },
    ])
    renameSync(join(folder, 'elsewhere'), objects)
    await vi.waitFor(async () => expect((await readyOf(port)).status).toBe(200), eventually)
    await server.close()
  })

  it('fails from SIGTERM on, while everything is served until the drain time is up; who waits at a tail is answered', async () => {
    const server = new PicoProcess(['serve', ...anyPort, '--shutdown-drain-sec', '6'], { cwd: folder })
    const [kafka, http, admin] = [await server.kafkaPort(), await server.httpPort(), await server.adminPort()]
    const url = `http://127.0.0.1:${http}/orders`
    expect((await fetch(url, { method: 'PUT' })).status).toBe(201)
    await vi.waitFor(async () => expect((await readyOf(admin)).status).toBe(200), eventually)
    const parked = fetch(`${url}?seq=now&live=long-poll`)
    server.signal('SIGTERM')
    await vi.waitFor(async () => expect((await readyOf(admin)).status).toBe(503), eventually)
    expect((await readyOf(admin)).body.checks[0]).toMatchObject({
      name: 'serving',
      problem: expect.stringMatching(/^draining/),
    })
    expect(await accepts(kafka)).toBe(true)
    expect((await fetch(url, { method: 'POST', body: 'late' })).status).toBe(200)
    expect((await parked).status).toBe(200)
    const lastParked = fetch(`${url}?seq=now&live=long-poll`)
    expect((await lastParked).status).toBe(204)
    const { code } = await server.ended
    expect(code).toBe(0)
    expect(await accepts(http)).toBe(false)
  })

  it('is not to be had with --no-admin', async () => {
    const args = ['serve', '--listen', '127.0.0.1:0', '--no-kafka', '--no-admin', '--admin-listen', '127.0.0.1:0']
    const server = new PicoProcess(args, { cwd: folder })
    await server.httpPort()
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(server.stderr).not.toContain('admin')
    expect((await server.kill('SIGTERM')).code).toBe(0)
  })
})
