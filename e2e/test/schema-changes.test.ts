import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../src/cluster/postgres.ts'
import { type HttpAnswer, httpCall } from '../src/cross/http-call.ts'
import { type PicoServer, startPico } from '../src/pico.ts'
import { alterTopic, createTopic, topicSettings } from '../src/raw-topics.ts'
import { putSchema } from '../src/schemas/put-schema.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Records that say which versions they are good for: version n of the schema wants the word `n` among others. */
const schemaOf = (version: number) =>
  JSON.stringify({
    type: 'object',
    properties: { for: { type: 'array', contains: { const: version } } },
    required: ['for'],
  })
const recordFor = (...versions: number[]) => JSON.stringify({ for: versions })

async function register(url: string, name: string): Promise<void> {
  await httpCall(url, {
    method: 'PUT',
    target: `/_schemas/${name}?kind=json&compatibility=none`,
    body: schemaOf(1),
  })
  await putSchema(url, name, 'json', schemaOf(2))
}

const bound = (name: string, version: number) => ({
  'pico.schema': `${name}:${version}`,
  'pico.schema.validate': 'true',
})

const append = (url: string, topic: string, body: string): Promise<HttpAnswer> =>
  httpCall(url, { method: 'POST', target: `/${topic}`, body })

describe('a binding that changes under load', () => {
  it('leaves no record that was judged by neither of the two, nor by the older one once the change is answered', async () => {
    const server = await startPico()
    closers.push(() => server.close())
    const { httpUrl: url, port } = server
    await register(url, 'race')
    await createTopic(port, 'race', bound('race', 1))
    /** When which version began to be in force, at the earliest, and by when it was for sure. */
    const changes = [{ version: 1, fromMs: 0, byMs: 0 }]
    const taken: { for: number[]; sentMs: number; answeredMs: number }[] = []
    let isOver = false
    const outcomes = { taken: 0, refused: 0 }
    const write = async (versions: number[]) => {
      while (!isOver) {
        const sentMs = performance.now()
        const { status, body } = await append(url, 'race', recordFor(...versions))
        if (status === 200) taken.push({ for: versions, sentMs, answeredMs: performance.now() })
        else expect(status, body.toString()).toBe(422)
        outcomes[status === 200 ? 'taken' : 'refused'] += 1
      }
    }
    const writing = [[1], [1], [2], [2], [1, 2], []].map(write)
    for (const failing of writing) failing.catch(() => (isOver = true))
    for (let round = 0; round < 40 && !isOver; round++) {
      const version = round % 2 === 0 ? 2 : 1
      await sleep(25)
      const fromMs = performance.now()
      await alterTopic(port, 'race', bound('race', version))
      changes.push({ version, fromMs, byMs: performance.now() })
    }
    isOver = true
    await Promise.all(writing)

    const wrong = taken.filter(({ for: versions, sentMs, answeredMs }) => {
      // In force at some moment between being sent and being answered.
      const inForce = changes.filter(
        ({ fromMs }, at) => fromMs <= answeredMs && (changes[at + 1]?.byMs ?? Infinity) >= sentMs,
      )
      return !inForce.some(({ version }) => versions.includes(version))
    })
    expect(wrong).toEqual([])
    expect(outcomes.taken).toBeGreaterThan(100)
    expect(outcomes.refused).toBeGreaterThan(100)
    const stored = JSON.parse((await httpCall(url, { method: 'GET', target: '/race?count=1000' })).body.toString())
    expect(stored.map(({ seq }: { seq: number }) => seq)).toEqual(stored.map((_: unknown, at: number) => at))
  }, 60_000)
})

describe('two nodes', () => {
  const limitMs = 2000

  async function startNodes(): Promise<[PicoServer, PicoServer]> {
    const folder = mkdtempSync(join(tmpdir(), 'pico-schemas-'))
    closers.push(async () => rmSync(folder, { recursive: true, force: true }))
    const postgres: PostgresServer = await startPostgres()
    closers.push(() => postgres.close())
    const metaUrl = await postgres.createDatabase()
    const storage = `-2@file://${join(folder, 'objects')}`
    const nodes: PicoServer[] = []
    for (const nodeId of [1, 2]) {
      const times = ['--heartbeat-ms', '300', '--node-ttl-ms', '1500']
      const flags = ['--node-id', `${nodeId}`, `--wal=${storage}?kind=object`, ...times]
      const node = await startPico({ metaUrl, storage, flags })
      nodes.push(node)
      closers.push(() => node.close())
    }
    return nodes as [PicoServer, PicoServer]
  }

  /** How long until what `ask` gives is `wanted`. */
  async function untilIs<T>(wanted: T, ask: () => Promise<T>, patienceMs: number): Promise<number> {
    const startedMs = performance.now()
    for (;;) {
      const found = await ask()
      const tookMs = performance.now() - startedMs
      if (found === wanted) return tookMs
      if (tookMs > patienceMs) throw new Error(`${found}, and not ${wanted}, after ${Math.round(tookMs)} ms`)
      await sleep(20)
    }
  }

  /** Of the node that has the stream. */
  async function ownerOf(nodes: readonly PicoServer[], topic: string): Promise<PicoServer> {
    for (const node of nodes) {
      const answer = await httpCall(node.adminUrl, { method: 'GET', target: `/admin/streams/${topic}` })
      if ((JSON.parse(answer.body.toString()) as { ownerLocal: boolean }).ownerLocal) return node
    }
    throw new Error(`nobody has ${topic}`)
  }

  it('hold a stream to what the other one bound it to, and so does who takes it over', async () => {
    const nodes = await startNodes()
    await register(nodes[0].httpUrl, 'moved')
    await createTopic(nodes[0].port, 'moved', bound('moved', 1))
    const anyUrl = nodes[0].httpUrl
    const first = await append(anyUrl, 'moved', recordFor(1))
    const owner = first.status === 307 ? nodes[1] : nodes[0]
    const other = owner === nodes[0] ? nodes[1] : nodes[0]
    expect(await ownerOf(nodes, 'moved')).toBe(owner)
    const status = async (body: string, node = owner) => (await append(node.httpUrl, 'moved', body)).status
    expect([await status(recordFor(1)), await status(recordFor(2))]).toEqual([200, 422])

    // The other one does not have the stream, but may be asked to bind it, to what itself has just registered.
    const known = await httpCall(other.httpUrl, {
      method: 'PUT',
      target: '/_schemas/moved?kind=json',
      body: schemaOf(3),
    })
    expect(known.status, known.body.toString()).toBe(201)
    await alterTopic(other.port, 'moved', bound('moved', 3))
    const seenMs = await untilIs(200, () => status(recordFor(3)), limitMs)
    expect(await status(recordFor(1))).toBe(422)
    expect((await topicSettings(owner.port, 'moved')).get('pico.schema')).toBe('moved:3')
    const head = await httpCall(owner.httpUrl, { method: 'HEAD', target: '/moved' })
    expect(head.headers['pico-schema']).toBe('moved:3')

    await owner.process.kill()
    const failedOverMs = await untilIs(200, () => status(recordFor(3), other), 20_000)
    expect(await status(recordFor(1), other)).toBe(422)
    console.log(
      `binding seen by the owner after ${Math.round(seenMs)} ms, failover after ${Math.round(failedOverMs)} ms`,
    )
  }, 120_000)

  it('is the same for one that starts again', async () => {
    const server = await startPico()
    closers.push(() => server.close())
    await register(server.httpUrl, 'kept')
    await createTopic(server.port, 'kept', bound('kept', 2))
    await append(server.httpUrl, 'kept', recordFor(2))
    await server.restart('kill')
    const statuses = []
    for (const version of [1, 2]) statuses.push((await append(server.httpUrl, 'kept', recordFor(version))).status)
    expect(statuses).toEqual([422, 200])
  }, 60_000)
})
