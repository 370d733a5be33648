import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { problemsByOpenApi } from '../src/admin/openapi.ts'
import { type PostgresServer, startPostgres } from '../src/cluster/postgres.ts'
import { cliOf, type PicoServer, startPico } from '../src/pico.ts'

const folder = mkdtempSync(join(tmpdir(), 'pico-admin-cluster-'))
const patient = { timeout: 30_000, interval: 200 }

let postgres: PostgresServer
const nodes: PicoServer[] = []
beforeAll(async () => {
  postgres = await startPostgres()
  const metaUrl = await postgres.createDatabase()
  const storage = `-2@file://${join(folder, 'objects')}`
  for (const nodeId of [1, 2]) {
    const flags = ['--node-id', `${nodeId}`, `--wal=${storage}?kind=object`, '--heartbeat-ms', '500']
    nodes.push(await startPico({ metaUrl, storage, flags }))
  }
}, 120_000)
afterAll(async () => {
  for (const node of nodes) await node.close()
  await postgres?.close()
  rmSync(folder, { recursive: true, force: true })
})

const nodeOf = (nodeId: number) => nodes[nodeId - 1] as PicoServer
const otherThan = (nodeId: number) => (nodeId === 1 ? 2 : 1)

interface StreamView {
  readonly ownerNodeId: number
  readonly endOffset: number
}

async function streamAt(nodeId: number, name: string): Promise<StreamView> {
  const answer = await fetch(`${nodeOf(nodeId).adminUrl}/admin/streams/${name}`)
  const body = (await answer.json()) as StreamView
  expect([answer.status, body]).toMatchObject([200, {}])
  expect(await problemsByOpenApi(nodeOf(nodeId).adminUrl, '/admin/streams/{name}', body)).toBeNull()
  return body
}

/** By whichever node, which may send us to the other one. */
async function append(name: string, body: string): Promise<void> {
  const answer = await fetch(`${nodeOf(1).httpUrl}/${name}`, { method: 'POST', body })
  expect(answer.status).toBe(200)
  await answer.body?.cancel()
}

async function bodiesAt(nodeId: number, name: string): Promise<string[]> {
  const answer = await fetch(`${nodeOf(nodeId).httpUrl}/${name}`, { redirect: 'manual' })
  expect([nodeId, answer.status]).toEqual([nodeId, 200])
  return ((await answer.json()) as { body: string }[]).map(({ body }) => body)
}

async function picoAdmin(nodeId: number, ...words: string[]): Promise<string> {
  const argv = [...cliOf(), 'admin', ...words, '--admin-endpoint', nodeOf(nodeId).adminUrl]
  const { stdout } = await promisify(execFile)(process.execPath, argv, { encoding: 'utf8' })
  return stdout
}

/** `nodes --json`, by node id. */
async function nodesAt(nodeId: number) {
  const lines = (await picoAdmin(nodeId, 'nodes', '--json')).trim().split('\n')
  return lines.map((line) => JSON.parse(line) as { nodeId: number; streams: number; slots: number })
}

async function makeStream(name: string, records: readonly string[]): Promise<number> {
  const made = await fetch(`${nodeOf(1).httpUrl}/${name}`, { method: 'PUT', headers: { 'content-type': 'text/plain' } })
  expect(made.status).toBe(201)
  for (const record of records) await append(name, record)
  return (await streamAt(1, name)).ownerNodeId
}

describe('two nodes', () => {
  it('show each other, and who does the maintenance', async () => {
    for (const nodeId of [1, 2]) {
      await vi.waitFor(async () => {
        expect(await nodesAt(nodeId)).toMatchObject([
          { nodeId: 1, nodeEpoch: 1, httpAddress: nodeOf(1).httpUrl, kafkaAddress: nodeOf(1).bootstrap, fenced: false },
          { nodeId: 2, nodeEpoch: 1, httpAddress: nodeOf(2).httpUrl, kafkaAddress: nodeOf(2).bootstrap, fenced: false },
        ])
      }, patient)
      for (const path of ['/admin/nodes', '/admin/cluster', '/admin/streams']) {
        const body = await (await fetch(nodeOf(nodeId).adminUrl + path)).json()
        expect(await problemsByOpenApi(nodeOf(nodeId).adminUrl, path, body)).toBeNull()
      }
      const cluster = JSON.parse(await picoAdmin(nodeId, 'cluster', '--json'))
      expect(cluster).toMatchObject({ nodeId, registered: true, leaseHolder: 1 })
    }
  })

  it('move a stream by pico admin transfer, from whichever it is asked of, and the other one says where it is', async () => {
    const first = await makeStream('moved', ['a', 'b', 'c'])
    const second = otherThan(first)
    for (const [to, asked] of [
      [second, first],
      [first, first],
      [second, second],
    ] as const) {
      const transfer = JSON.parse(await picoAdmin(asked, 'transfer', 'moved', '--to-node', `${to}`, '--wait', '--json'))
      expect(transfer).toMatchObject({ stream: '/moved', toNode: to, state: 'done' })
      expect(await bodiesAt(to, 'moved')).toEqual(['a', 'b', 'c'])
      const ownerAdvertisedAddress = nodeOf(to).httpUrl
      const shared = { ownerNodeId: to, ownerAdvertisedAddress, state: 'assigned', pendingTransfer: null, endOffset: 3 }
      expect(await streamAt(to, 'moved')).toMatchObject({ ...shared, ownerLocal: true, offsetsMayLag: false })
      await vi.waitFor(async () => {
        const seen = await streamAt(otherThan(to), 'moved')
        expect(seen).toMatchObject({ ...shared, ownerLocal: false, offsetsMayLag: true })
      }, patient)
      expect(await picoAdmin(asked, 'transfer', 'moved', '--to-node', `${to}`)).toBe(`node ${to} has /moved already\n`)
    }
    // What the owner has not packed yet, the other one cannot know of.
    await append('moved', 'd')
    expect((await streamAt(second, 'moved')).endOffset).toBe(4)
    expect((await streamAt(first, 'moved')).endOffset).toBeLessThanOrEqual(4)
  })

  it('answer what the document of either says', async () => {
    const first = await makeStream('described', ['x'])
    const { adminUrl } = nodeOf(first)
    const post = (path: string, body: object, type = 'application/json') =>
      fetch(adminUrl + path, { method: 'POST', headers: { 'content-type': type }, body: JSON.stringify(body) })
    const move = { stream: 'described', toNode: otherThan(first) }
    const asked: [path: string, answer: Promise<Response>, status: number][] = [
      ['/admin/transfer', post('/admin/transfer', move, 'text/plain'), 415],
      ['/admin/transfer', post('/admin/transfer', { stream: 'nothing', toNode: 1 }), 404],
      ['/admin/transfer', post('/admin/transfer', { stream: 'described', toNode: 9 }), 404],
      ['/admin/transfer', post('/admin/transfer', { stream: 'described', toNode: first }), 200],
      ['/admin/nodes/{id}', post('/admin/nodes/9', { slots: 1 }), 404],
      ['/admin/nodes/{id}', post('/admin/nodes/1', { slots: -1 }), 400],
      ['/admin/nodes/{id}', post('/admin/nodes/1', { slots: 1 }), 200],
    ]
    for (const [path, answering, status] of asked) {
      const answer = await answering
      expect([path, answer.status]).toEqual([path, status])
      expect(await problemsByOpenApi(adminUrl, path, await answer.json(), { method: 'post', status })).toBeNull()
    }
    const taken = await post('/admin/transfer', move)
    const transfer = (await taken.json()) as { transferId: number }
    expect(taken.status).toBe(202)
    expect(await problemsByOpenApi(adminUrl, '/admin/transfer', transfer, { method: 'post', status: 202 })).toBeNull()
    await vi.waitFor(async () => {
      const now = await (await fetch(`${adminUrl}/admin/transfers/${transfer.transferId}`)).json()
      expect(await problemsByOpenApi(adminUrl, '/admin/transfers/{id}', now)).toBeNull()
      expect(now).toMatchObject({ ...transfer, state: 'done', endedAtMs: expect.any(Number) })
    }, patient)
  })

  it('empty one of them that is given no slots, and lose nothing', async () => {
    const names = Array.from({ length: 10 }, (_, at) => `emptied/${at}`)
    for (const name of names) await makeStream(name, [name])
    expect((await nodesAt(1)).every(({ streams }) => streams > 0)).toBe(true)
    await picoAdmin(1, 'set-slots', '2', '0')
    await vi.waitFor(async () => {
      expect((await nodesAt(1))[1]).toMatchObject({ nodeId: 2, slots: 0, streams: 0 })
    }, patient)
    for (const name of names) {
      // Whoever is asked first takes what nobody has.
      await append(name, 'more')
      expect(await bodiesAt(1, name)).toEqual([name, 'more'])
    }
    expect((await nodesAt(2))[1]).toMatchObject({ streams: 0 })
    await picoAdmin(2, 'set-slots', '2', '1')
  })
})
