import { setTimeout as sleep } from 'node:timers/promises'
import { createServerMetrics, type HttpListener, listenAdmin, openApiDocument, Readiness } from '@pico/http-api'
import { type Log, openLog, systemClock } from '@pico/log'
import type { Metadata, NodeIdentity } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { openMemoryStore } from '@pico/storage/memory'
import { joinCluster, type Membership, openStreams, recordBatchEntries, type Streams } from '@pico/streams'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { adminBackend } from '../src/admin-listener.ts'
import { runPico } from './run-pico.ts'

/** Node 1 answers the commands; node 2 is registered beside it, and does nothing by itself. */
let metadata: Metadata
let membership: Membership
let log: Log
let streams: Streams
let admin: HttpListener
let two: NodeIdentity

beforeEach(async () => {
  metadata = await openSqliteMetadata({ path: ':memory:' })
  const store = openMemoryStore()
  const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, Date.now())
  const parts = { metadata, node, clock: systemClock }
  membership = await joinCluster(parts, { heartbeatMs: 50, ttlMs: 600_000 })
  log = await openLog({ ...parts, store, wal: { kind: 'shared', store }, format: recordBatchEntries })
  streams = await openStreams({ ...parts, log, membership, clusterId: 'two-nodes' }, { pollMs: 50 })
  const readiness = new Readiness(systemClock)
  const addresses = { httpAddress: 'http://127.0.0.1:4437', kafkaAddress: null }
  const shown = { streams, metadata, membership, isAlone: false, groups: null, readiness, ...addresses }
  admin = await listenAdmin(
    {
      clock: systemClock,
      log: pino({ level: 'silent' }),
      readiness,
      metrics: createServerMetrics({ version: '1.2.3', nodeId: 1, isServing: () => true }),
      backend: () => adminBackend(shown),
      openapi: () => openApiDocument({ version: '1.2.3', adminUrl: adminUrl(), picoUrl: null }),
    },
    { host: '127.0.0.1', port: 0 },
  )
  two = await metadata.nodes.register({ nodeId: 2, addresses: { http: 'http://two.example' }, slots: 3 }, Date.now())
  await vi.waitFor(() => expect(membership.nodes).toHaveLength(2), { timeout: 10_000 })
})
afterEach(async () => {
  vi.restoreAllMocks()
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error') // a command is a process of its own
  await admin.close(0)
  await streams.close()
  await log.close()
  await membership.leave()
  await metadata.close()
})

const adminUrl = () => `http://127.0.0.1:${admin.port}`

/** Runs `pico admin …` to its end. */
async function picoAdmin(...argv: string[]) {
  return runPico(['admin', ...argv, '--admin-endpoint', adminUrl()])
}

/** Makes a stream that the node owns, or nobody. */
async function makeStream(name: string, owner: NodeIdentity | null): Promise<number> {
  const row = { name, topic: null, partition: 0, topicId: crypto.randomUUID(), contentType: 'text/plain', config: {} }
  const [made] = await metadata.streams.create([row], Date.now())
  if (made === undefined) throw new Error('no row')
  if (owner !== null) await metadata.streams.open(owner, [made.streamId])
  return made.streamId
}

/** Cells of the lines of a table. */
function cellsOf(table: string): string[][] {
  const cells = table.split('\n').map((line) => line.split(/ {2,}/).map((cell) => cell.trim()))
  return cells.map((line) => line.filter(Boolean)).filter((line) => line.length > 0)
}

/** Node 2 gives up what was asked of it, as soon as it was asked. */
async function handOverFromTwo(): Promise<void> {
  for (;;) {
    const [asked] = await metadata.transfers.pendingOf(two, 1)
    if (asked !== undefined) {
      await sleep(300)
      await metadata.transfers.handOver(two, [asked.transferId], Date.now())
      return
    }
    await sleep(10)
  }
}

describe('pico admin nodes', () => {
  it('shows who there is, with streams and silence', async () => {
    await makeStream('/a', two)
    const { exitCode, stdout } = await picoAdmin('nodes')
    const silence = expect.stringMatching(/^\d+\.\ds$/)
    expect(exitCode).toBe(0)
    expect(cellsOf(stdout)).toEqual([
      ['NODE', 'EPOCH', 'HTTP', 'KAFKA', 'SLOTS', 'STREAMS', 'SILENT', 'STATE'],
      ['1', '1', 'http://127.0.0.1:4437', '-', '1', '0', silence, 'live, answers'],
      ['2', '1', 'http://two.example', '-', '3', '1', silence, 'live'],
    ])
  })
})

describe('pico admin set-slots', () => {
  it('sets them, and shows the node', async () => {
    const { exitCode, stdout } = await picoAdmin('set-slots', '2', '0')
    expect(exitCode).toBe(0)
    expect(cellsOf(stdout)[1]?.slice(0, 5)).toEqual(['2', '1', 'http://two.example', '-', '0'])
    expect((await metadata.nodes.list()).map(({ slots }) => slots)).toEqual([1, 0])
    const json = await picoAdmin('set-slots', '2', '7', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ nodeId: 2, slots: 7 })
  })

  it.each([
    [['set-slots', '9', '1'], 1, 'pico: there is no node 9\n'],
    [['set-slots', 'two', '1'], 2, 'pico: node two is not a whole number of at least 0\n'],
    [['set-slots', '2', '1.5'], 2, 'pico: slots 1.5 is not a whole number of at least 0\n'],
    [['set-slots', '2'], 2, expect.stringMatching(/^pico: .+\n$/)],
  ])('fails in one line: %j', async (argv, exitCode, stderr) => {
    expect(await picoAdmin(...argv)).toEqual({ exitCode, stdout: '', stderr })
  })
})

describe('pico admin transfer', () => {
  it('says that the stream is on its way, and cluster lists it', async () => {
    await makeStream('/orders', two)
    expect(await picoAdmin('transfer', 'orders', '--to-node', '1')).toEqual({
      exitCode: 0,
      stdout: 'transfer 1: /orders is on its way to node 1\n',
      stderr: '',
    })
    const { stdout } = await picoAdmin('cluster')
    expect(stdout).toMatch(/^pendingTransfers +1$/m)
    expect(cellsOf(stdout).slice(-2)).toEqual([
      ['TRANSFER', 'TO', 'STREAM'],
      ['1', '1', '/orders'],
    ])
    expect((await picoAdmin('stream', 'orders')).stdout).toMatch(/^pendingTransfer +to node 1$/m)
  })

  it('waits until it is done, where that is wanted', async () => {
    const streamId = await makeStream('/orders', two)
    const [waited] = await Promise.all([
      picoAdmin('transfer', '/orders', '--to-node', '1', '--wait', '--timeout-sec', '30'),
      handOverFromTwo(),
    ])
    expect(waited).toEqual({ exitCode: 0, stdout: 'transfer 1: node 1 has /orders\n', stderr: '' })
    expect((await metadata.streams.byStreamId([streamId]))[0]?.owner?.nodeId).toBe(1)
    // And the other way, which node 1 does by itself.
    const back = await picoAdmin('transfer', '/orders', '--to-node', '2', '--wait', '--json')
    expect(back.exitCode).toBe(0)
    expect(JSON.parse(back.stdout)).toMatchObject({ transferId: 2, stream: '/orders', toNode: 2, state: 'done' })
    expect((await metadata.streams.byStreamId([streamId]))[0]?.owner).toEqual(two)
  })

  it('has nothing to wait for when the stream is there, or nobody has it', async () => {
    await makeStream('/there', two)
    await makeStream('/free', null)
    const argv = ['--to-node', '2', '--wait']
    expect(await picoAdmin('transfer', '/there', ...argv)).toEqual({
      exitCode: 0,
      stdout: 'node 2 has /there already\n',
      stderr: '',
    })
    expect((await picoAdmin('transfer', '/free', ...argv)).stdout).toMatch(/^transfer \d+: node 2 has \/free\n$/)
  })

  it('fails when the node has gone by the time that it should take it', async () => {
    await makeStream('/orders', two)
    const three = await metadata.nodes.register({ nodeId: 3, addresses: {}, slots: 1 }, Date.now())
    const argv = ['transfer', '/orders', '--to-node', '3', '--wait']
    const losing = async () => {
      await vi.waitFor(async () => expect(await metadata.transfers.pendingOf(two, 1)).toHaveLength(1))
      await metadata.nodes.fence(three)
      await handOverFromTwo()
    }
    const [failed] = await Promise.all([picoAdmin(...argv), losing()])
    expect(failed).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^pico: transfer 1 failed: node 3 was not there to take \/orders[^\n]*\n$/),
    })
  })

  it('waits no longer than it was told', async () => {
    await makeStream('/orders', two)
    const beganMs = performance.now()
    const { exitCode, stdout, stderr } = await picoAdmin(
      ...['transfer', '/orders', '--to-node', '1', '--wait', '--timeout-sec', '1', '--json'],
    )
    expect(performance.now() - beganMs).toBeGreaterThan(990)
    expect([exitCode, stderr]).toEqual([
      1,
      'pico: transfer 1: /orders is on its way to node 1 and not there after 1 s (--timeout-sec)\n',
    ])
    expect(JSON.parse(stdout)).toMatchObject({ transferId: 1, state: 'pending' })
  })

  it('ends with its stream', async () => {
    const streamId = await makeStream('/orders', two)
    const deleting = async () => {
      await vi.waitFor(async () => expect(await metadata.transfers.pendingOf(two, 1)).toHaveLength(1))
      await metadata.streams.delete([streamId], Date.now())
    }
    const [ended] = await Promise.all([picoAdmin('transfer', '/orders', '--to-node', '1', '--wait'), deleting()])
    expect(ended).toMatchObject({
      exitCode: 1,
      stderr: 'pico: there is no transfer 1: it ended long ago, or its stream was deleted\n',
    })
  })

  it('asks a server again that goes away meanwhile, until its time is over', async () => {
    await makeStream('/orders', two)
    const leaving = async () => {
      await vi.waitFor(async () => expect(await metadata.transfers.pendingOf(two, 1)).toHaveLength(1))
      await sleep(100)
      await admin.close(0)
    }
    const url = adminUrl()
    const [left] = await Promise.all([
      picoAdmin('transfer', '/orders', '--to-node', '1', '--wait', '--timeout-sec', '2'),
      leaving(),
    ])
    expect(left).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `pico: transfer 1: /orders is on its way to node 1 and not there after 2 s (--timeout-sec); cannot reach ${url} (--admin-endpoint): nobody listens there\n`,
    })
  })

  it.each([
    [['transfer', '/nothing', '--to-node', '2'], 1, 'pico: there is no stream /nothing\n'],
    [['transfer', '/orders', '--to-node', '9'], 1, 'pico: there is no node 9\n'],
    [['transfer', '/orders'], 2, 'pico: transfer: --to-node says which node shall have the stream\n'],
    [['transfer', '/orders', '--to-node', 'x'], 2, 'pico: --to-node x is not a whole number of at least 0\n'],
    [['transfer', '/orders', '--to-nod', '2'], 2, 'pico: unknown flag --to-nod; did you mean --to-node?\n'],
    [['transfer'], 2, expect.stringMatching(/^pico: .+\n$/)],
  ])('fails in one line: %j', async (argv, exitCode, stderr) => {
    await makeStream('/orders', two)
    expect(await picoAdmin(...argv)).toEqual({ exitCode, stdout: '', stderr })
  })
})
