import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type RunningServer, serveDefaults, serverConfig, startServer } from '../src/index.ts'
import { runPico } from './run-pico.ts'

const folder = mkdtempSync(join(tmpdir(), 'pico-admin-'))
let server: RunningServer

beforeAll(async () => {
  const config = serverConfig({
    ...serveDefaults(),
    listen: '127.0.0.1:0',
    'kafka-listen': '127.0.0.1:0',
    'admin-listen': '127.0.0.1:0',
    'meta-url': 'sqlite::memory:',
    storage: `-2@file://${join(folder, 'objects')}`,
  })
  server = await startServer(config, { log: pino({ level: 'silent' }) })
  for (const name of ['orders/eu', 'orders/us', 'notes']) {
    await fetch(`${httpUrl()}/${name}`, { method: 'PUT', headers: { 'content-type': 'text/plain' } })
  }
  await fetch(`${httpUrl()}/orders/eu`, { method: 'POST', body: 'hello', headers: { 'pico-closed': 'true' } })
}, 60_000)
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})
afterEach(() => {
  vi.restoreAllMocks()
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error') // a command is a process of its own
})

const httpUrl = () => `http://127.0.0.1:${server.http?.port}`
const adminUrl = () => `http://127.0.0.1:${server.admin?.port}`

/** Runs the command to its end. */
async function pico(argv: readonly string[], endpoint: string | null = adminUrl()) {
  return runPico(endpoint === null ? argv : [...argv, '--admin-endpoint', endpoint])
}

describe('pico admin', () => {
  it('streams shows a table, in the order of names', async () => {
    const { exitCode, stdout } = await pico(['admin', 'streams'])
    expect(exitCode).toBe(0)
    expect(
      stdout.split('\n').map((line) =>
        line
          .split(/ {2,}/)
          .map((cell) => cell.trim())
          .filter(Boolean),
      ),
    ).toEqual([
      ['START', 'END', 'BYTES', 'NODE', 'STATE', 'TOPIC', 'NAME'],
      ['0', '0', '0', '-', 'unassigned', 'notes', '/notes'],
      ['0', '1', expect.stringMatching(/^[1-9]\d*$/), '1', 'closed', 'orders.eu', '/orders/eu'],
      ['0', '0', '0', '-', 'unassigned', 'orders.us', '/orders/us'],
      [],
    ])
  })

  it('streams takes a prefix, and tells in JSON, a line each', async () => {
    const { stdout } = await pico(['admin', 'streams', 'orders/', '--json'])
    const lines = stdout.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).name)).toEqual(['/orders/eu', '/orders/us'])
  })

  it('stream shows one, by its name with or without the first slash', async () => {
    const { stdout } = await pico(['admin', 'stream', 'orders/eu'])
    expect(stdout).toMatch(/^name +\/orders\/eu$/m)
    expect(stdout).toMatch(/^topic +orders\.eu$/m)
    expect(stdout).toMatch(/^endOffset +1$/m)
    expect(stdout).toMatch(/^ttlSeconds +-$/m)
    const json = await pico(['admin', 'stream', '/orders/eu', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ name: '/orders/eu', closed: true, endOffset: 1 })
  })

  it('cluster and nodes show what one node can say', async () => {
    expect((await pico(['admin', 'cluster'])).stdout).toMatch(/^clusterId +picomq$/m)
    expect(JSON.parse((await pico(['admin', 'cluster', '--json'])).stdout)).toMatchObject({
      clusterId: 'picomq',
      nodeId: 1,
      nodeEpoch: 1,
      registered: true,
      advertisedAddress: httpUrl(),
      streamCount: 3,
      leaseHolder: 1,
      pendingTransfers: [],
    })
    expect(JSON.parse((await pico(['admin', 'nodes', '--json'])).stdout)).toEqual({
      nodeId: 1,
      nodeEpoch: 1,
      httpAddress: httpUrl(),
      kafkaAddress: `127.0.0.1:${server.kafka?.port}`,
      slots: 1,
      fenced: false,
      silentMs: null,
      streams: 1,
      local: true,
    })
  })

  it('groups shows the head of its table when there are none', async () => {
    expect(await pico(['admin', 'groups'])).toMatchObject({ exitCode: 0, stdout: 'STATE  PROTOCOL  GROUP\n' })
    expect(await pico(['admin', 'groups', '--json'])).toMatchObject({ exitCode: 0, stdout: '' })
  })
})

describe('pico admin fails in one line', () => {
  it.each([
    ['a stream that is not there', ['stream', 'nothing'], 1, 'pico: there is no stream /nothing\n'],
    ['a name that is none', ['stream', 'a//b'], 1, 'pico: a stream name has no empty segment\n'],
    ['a group that is not there', ['group', 'nobody'], 1, 'pico: there is no group nobody\n'],
    ['no command', [], 2, 'pico: pico admin needs a command, such as: pico admin streams\n'],
    ['an unknown command', ['sing'], 2, 'pico: unknown command or argument sing\n'],
    ['a mistyped flag', ['streams', '--jsn'], 2, 'pico: unknown flag --jsn; did you mean --json?\n'],
  ])('%s', async (_, argv, exitCode, stderr) => {
    expect(await pico(['admin', ...argv])).toEqual({ exitCode, stdout: '', stderr })
  })

  it('nobody listens there, or somebody else does', async () => {
    const other = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const foreign = await pico(['admin', 'cluster'], url)
    expect(foreign).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining(`${url} (--admin-endpoint)`),
    })
    const streams = await pico(['admin', 'cluster'], httpUrl())
    expect(streams.stderr).toBe(
      `pico: ${httpUrl()} (--admin-endpoint) answers 404: is that an admin listener of pico?\n`,
    )
    other.closeAllConnections()
    await new Promise((resolve) => other.close(resolve))
    const closed = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => closed.once('listening', resolve))
    const nowhere = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`
    await new Promise((resolve) => closed.close(resolve))
    expect(await pico(['admin', 'cluster'], nowhere)).toMatchObject({
      exitCode: 1,
      stderr: `pico: cannot reach ${nowhere} (--admin-endpoint): nobody listens there\n`,
    })
    expect(await pico(['admin', 'cluster'], 'localhost')).toMatchObject({
      exitCode: 2,
      stderr: 'pico: --admin-endpoint localhost is not an http: or https: URL\n',
    })
  })
})
