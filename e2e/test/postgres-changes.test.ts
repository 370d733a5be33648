import { setTimeout as sleep } from 'node:timers/promises'
import type { ChangeKind, Metadata } from '@pico/metadata'
import { openPostgresMetadata } from '@pico/metadata/postgres'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../src/cluster/postgres.ts'

/** What one process learns of what another one changes: the rest is the contract, in postgres-metadata. */
describe('changes in Postgres', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  type OnTestFinished = (end: () => Promise<void>) => void

  async function opened(onTestFinished: OnTestFinished, url: string): Promise<Metadata> {
    const metadata = await openPostgresMetadata({ url, connectionsMax: 2 })
    onTestFinished(() => metadata.close())
    return metadata
  }

  async function connected(onTestFinished: OnTestFinished, url: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }

  async function createTopic(metadata: Metadata, name: string): Promise<string> {
    const topicId = crypto.randomUUID()
    const stream = { name: `/${name}`, topic: name, partition: 0, topicId, contentType: 'text/plain', config: {} }
    await metadata.streams.create([stream], 1)
    return topicId
  }

  const configure = (metadata: Metadata, topicId: string, from: string | null, to: string) =>
    metadata.streams.setTopicConfig(topicId, {
      from: from === null ? {} : { 'retention.ms': from },
      to: { 'retention.ms': to },
    })

  /** Resolves when watching has begun: it is called for every kind then. */
  async function watching(onTestFinished: OnTestFinished, metadata: Metadata): Promise<ChangeKind[]> {
    const heard: ChangeKind[] = []
    const end = metadata.changes.watch((kind) => heard.push(kind))
    onTestFinished(async () => end())
    await expect.poll(() => new Set(heard)).toEqual(new Set(['topics', 'transfers', 'nodes']))
    heard.length = 0
    return heard
  }

  const listeners = (client: pg.Client) =>
    client.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and query like 'listen %'",
    )

  it('tells one process of what another one has committed, and calls it back', async ({ onTestFinished }) => {
    const url = await server.createDatabase()
    const [one, two] = [await opened(onTestFinished, url), await opened(onTestFinished, url)]
    const topicId = await createTopic(one, 'a')
    const { cursor } = await two.changes.since(null)
    const heard = await watching(onTestFinished, two)
    await configure(one, topicId, null, '1')
    await expect.poll(() => heard).toEqual(['topics'])
    expect((await two.changes.since(cursor)).topicIds).toEqual([topicId])
    await one.nodes.register({ nodeId: 7, addresses: {}, slots: 1 }, 1)
    await expect.poll(() => heard).toEqual(['topics', 'nodes'])
  })

  it('tells of a transaction that began before everything else and commits after it', async ({ onTestFinished }) => {
    const url = await server.createDatabase()
    const metadata = await opened(onTestFinished, url)
    const topicId = await createTopic(metadata, 'a')
    const late = await connected(onTestFinished, url)
    await late.query('begin')
    await late.query("insert into changes (topic_id, at_ms) values ('late', 0)")

    const first = await metadata.changes.since(null)
    await configure(metadata, topicId, null, '1')
    const second = await metadata.changes.since(first.cursor)
    expect(second.topicIds).toEqual([topicId])
    // What is as old as a transaction under way is kept, however old it is.
    await sleep(5)
    expect(await metadata.changes.forget(0)).toBe(0)
    const third = await metadata.changes.since(second.cursor)
    expect(third.topicIds).toEqual([])
    await late.query('commit')
    const fourth = await metadata.changes.since(third.cursor)
    expect(fourth.topicIds).toEqual(['late'])
    expect((await metadata.changes.since(fourth.cursor)).topicIds).toEqual([])
    expect(await metadata.changes.forget(0)).toBe(2)
    expect((await metadata.changes.since(third.cursor)).topicIds).toBe('too-old')
    expect((await metadata.changes.since(fourth.cursor)).topicIds).toEqual([])
  })

  it('misses nothing of what many change at the same time', async ({ onTestFinished }) => {
    const url = await server.createDatabase()
    const all = await Promise.all(Array.from({ length: 4 }, () => opened(onTestFinished, url)))
    const [reader] = all
    if (reader === undefined) throw new Error('one was opened')
    let { cursor } = await reader.changes.since(null)
    const changed: string[] = []
    const work = all.map(async (metadata, worker) => {
      for (let at = 0; at < 25; at++) {
        const topicId = await createTopic(metadata, `w${worker}-${at}`)
        await configure(metadata, topicId, null, '1')
        changed.push(topicId)
      }
    })
    let isOver = false
    const over = Promise.all(work).then(() => {
      isOver = true
    })
    const told: string[] = []
    for (let isLast = false; !isLast; ) {
      isLast = isOver
      const next = await reader.changes.since(cursor)
      if (next.topicIds === 'too-old') throw new Error('nothing was forgotten')
      told.push(...next.topicIds)
      cursor = next.cursor
    }
    await over
    expect(told.sort()).toEqual(changed.sort())
  })

  it('hears again after its connection was ended, and calls back for what it may have missed', async ({
    onTestFinished,
  }) => {
    const url = await server.createDatabase()
    const metadata = await opened(onTestFinished, url)
    const topicId = await createTopic(metadata, 'a')
    const client = await connected(onTestFinished, url)
    const heard = await watching(onTestFinished, metadata)
    const [listening] = (await listeners(client)).rows
    await client.query('select pg_terminate_backend($1)', [listening?.pid])
    await expect.poll(() => new Set(heard), { timeout: 10_000 }).toEqual(new Set(['topics', 'transfers', 'nodes']))
    heard.length = 0
    await configure(metadata, topicId, null, '1')
    await expect.poll(() => heard).toEqual(['topics'])
  })

  it('listens on one connection, for as long as anybody watches', async ({ onTestFinished }) => {
    const url = await server.createDatabase()
    const metadata = await opened(onTestFinished, url)
    const client = await connected(onTestFinished, url)
    const count = async () => (await listeners(client)).rows.length
    const ends = Array.from({ length: 3 }, () => metadata.changes.watch(() => undefined))
    await expect.poll(count).toBe(1)
    for (const end of ends) end()
    await expect.poll(count).toBe(0)
    metadata.changes.watch(() => undefined)
    await expect.poll(count).toBe(1)
    await metadata.close()
    expect(await count()).toBe(0)
    expect(metadata.changes.watch(() => expect.unreachable())).toBeTypeOf('function')
  })

  it('waits for a server that is gone, and closes meanwhile', async ({ onTestFinished }) => {
    const url = await server.createDatabase()
    const [one, two] = [await opened(onTestFinished, url), await opened(onTestFinished, url)]
    const heard = await watching(onTestFinished, one)
    await watching(onTestFinished, two)
    const restarting = server.restart('stop', 1_000)
    await sleep(500)
    await two.close()
    await restarting
    await expect.poll(() => heard.length, { timeout: 15_000 }).toBeGreaterThanOrEqual(3)
  })

  it('hears of tables that are in another schema than the usual one', async ({ onTestFinished }) => {
    const url = await server.createDatabase()
    const client = await connected(onTestFinished, url)
    await client.query('create schema other')
    const [one, two] = await Promise.all(
      [1, 2].map(() => opened(onTestFinished, `${url}?options=-c%20search_path%3Dother`)),
    )
    if (one === undefined || two === undefined) throw new Error('two were opened')
    const heard = await watching(onTestFinished, two)
    await one.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
    await expect.poll(() => heard).toEqual(['nodes'])
  })
})
