import { setTimeout as sleep } from 'node:timers/promises'
import { type Metadata, MetadataUnavailableError, StreamExistsError } from '@pico/metadata'
import { openPostgresMetadata, type PostgresMetadataSettings } from '@pico/metadata/postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../src/child-process.ts'
import { type PostgresServer, startPostgres } from '../src/cluster/postgres.ts'

/** What comes of several processes, and of connections: the rest is the contract, in postgres-metadata. */
describe('metadata in Postgres', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  const topic = (name: string) => ({
    name: `/${name}`,
    topic: name,
    partition: 0,
    topicId: crypto.randomUUID(),
    contentType: 'text/plain',
    config: {},
  })
  async function opened(
    onTestFinished: (end: () => Promise<void>) => void,
    url: string,
    settings: Partial<PostgresMetadataSettings> = {},
  ): Promise<Metadata> {
    const metadata = await openPostgresMetadata({ url, ...settings })
    onTestFinished(() => metadata.close())
    return metadata
  }

  it('makes its tables once, however many processes start at the same time', async ({ onTestFinished }) => {
    const url = await server.createDatabase()
    const all = await Promise.all(Array.from({ length: 8 }, () => opened(onTestFinished, url, { connectionsMax: 2 })))
    const ids = await Promise.all(all.map((metadata) => metadata.nodes.clusterId()))
    expect(new Set(ids).size).toBe(1)
  })

  it('commits a flush in one round trip', async ({ onTestFinished }) => {
    const statements: string[] = []
    const url = await server.createDatabase()
    const metadata = await opened(onTestFinished, url, { onStatement: (sql) => statements.push(sql) })
    const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
    for (const count of [1, 4, 64]) {
      const first = statements.length
      const sequence = (await metadata.log.walObjects(1)).length + 1
      const objects = Array.from({ length: count }, (_, index) => ({
        sequence: sequence + index,
        key: `wal/${sequence + index}`,
        lengthBytes: 1,
        index: new Uint8Array(1000),
      }))
      await metadata.log.commitWalObjects(node, objects)
      // The other one is the question above.
      expect(statements.length - first).toBe(2)
    }
    expect(await metadata.log.walObjects(1)).toHaveLength(69)
  })

  it('lets one of several processes create a stream, and tells the others', async ({ onTestFinished }) => {
    const url = await server.createDatabase()
    const all = await Promise.all(Array.from({ length: 4 }, () => opened(onTestFinished, url, { connectionsMax: 2 })))
    for (let round = 0; round < 5; round++) {
      const made = await Promise.allSettled(
        all.map((metadata) =>
          metadata.streams.create([topic(`round-${round}`), topic(`at-${crypto.randomUUID()}`)], 1),
        ),
      )
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const outcome of made) {
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StreamExistsError)
      }
    }
    expect(await all[0]?.streams.count()).toBe(10)
  })

  it('gives out every number once, and fails nobody, while connections are cut and the server restarts', async ({
    onTestFinished,
  }) => {
    const url = await server.createDatabase()
    const metadata = await opened(onTestFinished, url, { connectionsMax: 4 })
    let isOver = false
    const numbers: number[] = []
    const streams: string[] = []
    const reserve = async () => {
      while (!isOver) numbers.push(await metadata.nodes.reserve('objectId', 1))
    }
    const create = async (worker: number) => {
      for (let at = 0; !isOver; at++) {
        const name = `w${worker}-${at}`
        try {
          await metadata.streams.create([topic(name)], 1)
          streams.push(name)
        } catch (error) {
          // Its commit was cut: it may be there, or not.
          if (!(error instanceof MetadataUnavailableError)) throw error
        }
      }
    }
    const work = Promise.all([reserve(), reserve(), create(1), create(2)])
    work.catch(() => undefined) // awaited below
    for (let cut = 0; cut < 15; cut++) {
      await sleep(60)
      await server.disconnect(url)
    }
    await server.restart('stop')
    await server.restart('kill', 300)
    await expect.poll(() => Math.min(streams.length, numbers.length), { timeout: 30_000 }).toBeGreaterThan(20)
    isOver = true
    await work
    expect(new Set(numbers).size).toBe(numbers.length)
    const found = new Set((await metadata.streams.byTopic(streams)).map((stream) => stream.topic))
    expect(streams.filter((name) => !found.has(name))).toEqual([])
  }, 60_000)

  it('says so when there is no server, no such database, or one in another encoding', async () => {
    const port = await freePort()
    const settings = { retryForMs: 0 }
    const nobody = openPostgresMetadata({ url: `postgres://pico@127.0.0.1:${port}/pico`, ...settings })
    await expect(nobody).rejects.toThrow(MetadataUnavailableError)
    await expect(nobody).rejects.toThrow('ECONNREFUSED')
    const url = await server.createDatabase()
    const missing = openPostgresMetadata({ url: `${url}_missing`, ...settings })
    await expect(missing).rejects.toThrow('does not exist')
    const ascii = await server.createDatabase({ encoding: 'SQL_ASCII' })
    await expect(openPostgresMetadata({ url: ascii, ...settings })).rejects.toThrow('it has to be UTF8')
  })
})
