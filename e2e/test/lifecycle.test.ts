import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from '../src/durability/expect-kept.ts'
import { startLoad } from '../src/durability/load.ts'
import { readLog } from '../src/durability/reader.ts'
import { Session } from '../src/oracle/session.ts'
import { type PicoServer, startPico, walKinds } from '../src/pico.ts'
import { createTopic } from '../src/raw-topics.ts'
import { servedApis } from '../src/served-apis.ts'

let pico: PicoServer | undefined
afterEach(async () => {
  await pico?.close()
  pico = undefined
})

describe.each(walKinds)('pico serve, %s WAL', (wal) => {
  it('ends with 0 on SIGTERM under load, and keeps everything', async () => {
    pico = await startPico({ wal })
    const load = await startLoad({ port: pico.port, name: 'stop', topics: 2, java: false })
    await sleep(2000)
    expect(await pico.process.stop()).toEqual({ code: 0, signal: null, forced: false })
    await pico.start()
    await load.stop()
    expectKept(await load.verify())
  }, 60_000)

  it('refuses a second process on the same data in one clear line, and the first goes on', async () => {
    pico = await startPico({ wal })
    await createTopic(pico.port, 'before')
    const second = await startPico({ wal, folder: pico.folder }).then(
      async (server) => {
        await server.close()
        return 'started'
      },
      (error: Error) => error.message,
    )
    expect(second).toMatch(/ended with 1 before it was ready:\npico: [^\n]+\n$/)
    await createTopic(pico.port, 'after')
  }, 60_000)
})

describe('damage to what was acknowledged', () => {
  it('is refused at start by the name of the file, and undone is no damage', async () => {
    pico = await startPico()
    await createTopic(pico.port, 'damaged')
    const session = new Session(pico, 'damaged')
    for (let number = 0; number < 50; number++) {
      await session.produce({ records: [{ value: Buffer.from(`the record with number ${number}.`) }] })
    }
    session.close()
    await pico.process.kill()

    const { file, position } = find(join(pico.folder, 'objects'), 'the record with number 20.')
    flip(file, position)
    const refusal = await pico.start().then(
      () => 'started',
      (error: Error) => error.message,
    )
    expect(refusal).toContain('ended with 1 before it was ready')
    expect(refusal).toContain(file.split('/').at(-1))

    flip(file, position)
    await pico.start()
    expect(await readLog(pico.port, 'damaged')).toHaveLength(50)
  }, 60_000)
})

describe('the versions that pico offers', () => {
  it('are those of the compatibility table, and nothing else is offered', async () => {
    pico = await startPico()
    const served = await servedApis(pico.port)
    for (const [key, range] of served)
      expect.soft([key, ...range]).toEqual([key, ...(ranges[key] ?? ['not in the table'])])
    for (const key of [0, 1, 2, 3, 18, 19, 20, 22, 23]) expect.soft(served.has(key), `API ${key}`).toBe(true)
  }, 60_000)
})

/** First and last version by API key: what client libraries and tools of the last ten years need, and no more than we mean. */
const ranges: Readonly<Record<number, readonly [first: number, last: number]>> = {
  0: [0, 13], // Produce
  1: [4, 17], // Fetch
  2: [0, 11], // ListOffsets
  3: [0, 13], // Metadata
  8: [2, 9], // OffsetCommit
  9: [1, 9], // OffsetFetch
  10: [0, 5], // FindCoordinator
  11: [0, 9], // JoinGroup
  12: [0, 4], // Heartbeat
  13: [0, 5], // LeaveGroup
  14: [0, 5], // SyncGroup
  15: [0, 6], // DescribeGroups
  16: [0, 5], // ListGroups
  18: [0, 4], // ApiVersions
  19: [0, 7], // CreateTopics
  20: [0, 6], // DeleteTopics
  21: [0, 2], // DeleteRecords
  22: [0, 5], // InitProducerId
  23: [2, 4], // OffsetForLeaderEpoch
  29: [1, 3], // DescribeAcls
  32: [0, 4], // DescribeConfigs
  33: [0, 2], // AlterConfigs
  35: [1, 4], // DescribeLogDirs
  37: [0, 3], // CreatePartitions
  42: [0, 2], // DeleteGroups
  44: [0, 1], // IncrementalAlterConfigs
  46: [0, 0], // ListPartitionReassignments
  47: [0, 0], // OffsetDelete
  48: [0, 1], // DescribeClientQuotas
  60: [0, 1], // DescribeCluster
  61: [0, 0], // DescribeProducers
  66: [0, 0], // ListTransactions
  75: [0, 0], // DescribeTopicPartitions
}

/** The file below a folder that holds a text, and where in it. */
function find(folder: string, text: string): { file: string; position: number } {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name)
    if (!statSync(file).isFile()) continue
    const position = readFileSync(file).indexOf(text)
    if (position >= 0) return { file, position }
  }
  throw new Error(`no file below ${folder} holds "${text}"`)
}

function flip(file: string, position: number): void {
  const bytes = readFileSync(file)
  bytes[position] = (bytes[position] ?? 0) ^ 1
  writeFileSync(file, bytes)
}
