import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteMetadata } from '../src/sqlite.ts'

/** What the calls that matter cost on a file: `node test/bench.ts [folder] [streams]`. Medians of five, milliseconds. */
const [parent = tmpdir(), streamCount = '10000'] = process.argv.slice(2)
const count = Number(streamCount)
const folder = mkdtempSync(join(parent, 'pico-metadata-bench-'))
const path = join(folder, 'meta.db')
let statements = 0
const settings = {
  path,
  onStatement: () => {
    statements += 1
  },
}
let metadata = await openSqliteMetadata(settings)
let node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
const figures: Record<string, { ms: string; cpuMs: string; longestBlockMs: string; statements: number }> = {}

let beat = performance.now()
let longestBlockMs = 0
const heart = setInterval(() => {
  longestBlockMs = Math.max(longestBlockMs, performance.now() - beat)
  beat = performance.now()
}, 1)

async function measure(name: string, task: (round: number) => Promise<unknown>, rounds = 5): Promise<void> {
  const samples: { ms: number; cpuMs: number; block: number }[] = []
  for (let round = 0; round < rounds; round++) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    statements = 0
    longestBlockMs = 0
    const cpu = process.cpuUsage()
    const startMs = performance.now()
    await task(round)
    const ms = performance.now() - startMs
    const { user, system } = process.cpuUsage(cpu)
    await new Promise((resolve) => setTimeout(resolve, 5))
    samples.push({ ms, cpuMs: (user + system) / 1000, block: longestBlockMs })
  }
  const median = (pick: (sample: (typeof samples)[number]) => number) =>
    (samples.map(pick).sort((a, b) => a - b)[samples.length >> 1] ?? 0).toFixed(2)
  figures[name] = {
    ms: median((s) => s.ms),
    cpuMs: median((s) => s.cpuMs),
    longestBlockMs: median((s) => s.block),
    statements,
  }
}

const stream = (name: string) => ({
  name: `/${name}`,
  topic: name,
  partition: 0,
  topicId: crypto.randomUUID(),
  contentType: 'application/octet-stream',
  config: {},
})
const ids: number[] = []
await measure(
  `create ${count} streams`,
  async () => {
    const created = await metadata.streams.create(
      Array.from({ length: count }, (_, index) => stream(`topic-${index}`)),
      1,
    )
    ids.push(...created.map((it) => it.streamId))
  },
  1,
)
await measure('create 1 stream', (round) => metadata.streams.create([stream(`one-${round}`)], 1))
await measure(`open ${count} streams`, () => metadata.streams.open(node, ids), 1)

let sequence = 0
const index = new Uint8Array(4000)
const commit = (many: number) => {
  const first = sequence + 1
  sequence += many
  return metadata.log.commitWalObjects(
    node,
    Array.from({ length: many }, (_, at) => ({
      sequence: first + at,
      key: `wal/1/1/${first + at}`,
      lengthBytes: 8e6,
      index,
    })),
  )
}
await measure('commit 1 WAL object', () => commit(1), 201)
await measure('commit 4 WAL objects', () => commit(4), 51)
await measure(
  'create a WAL segment',
  (round) => metadata.log.createWalSegment(node, { segmentId: round + 1, key: `wal/1/1/s${round}`, sizeBytes: 64e6 }),
  51,
)

await measure(`pack ${count} extents and states`, async (round) => {
  const objectId = round + 1
  await metadata.log.announceUpload(`data/${objectId}`, 8e12)
  const place = { objectId, position: 0, lengthBytes: 1000, maxTimestampMs: 5, crc32c: null }
  await metadata.log.commitPack(
    node,
    {
      objects: [{ objectId, key: `data/${objectId}`, lengthBytes: 1e8 }],
      extents: ids.map((streamId) => ({ streamId, baseOffset: round * 10, endOffset: round * 10 + 10, ...place })),
      states: ids.map((streamId) => ({ streamId, state: new Uint8Array(60) })),
      walObjects: [{ node, sequence: round + 1 }],
      walSegments: [],
    },
    1,
  )
})
await measure('pack 10 extents and states', async (round) => {
  const objectId = 100 + round
  await metadata.log.announceUpload(`data/${objectId}`, 8e12)
  const place = { objectId, position: 0, lengthBytes: 1000, maxTimestampMs: 5, crc32c: null }
  const few = ids.slice(0, 10)
  await metadata.log.commitPack(
    node,
    {
      objects: [{ objectId, key: `data/${objectId}`, lengthBytes: 1e8 }],
      extents: few.map((streamId) => ({ streamId, baseOffset: 50 + round, endOffset: 51 + round, ...place })),
      states: few.map((streamId) => ({ streamId, state: new Uint8Array(60) })),
      walObjects: [{ node, sequence: 10 + round }],
      walSegments: [],
    },
    1,
  )
})
await measure(`list ${count} topics, 1000 a page`, async () => {
  for (let after: string | null = null; ; ) {
    const page = await metadata.streams.listTopics({ after, limit: 1000 })
    if (page.length === 0) return
    after = page.at(-1)?.topic ?? null
  }
})
await measure('look 10 topics up', () => metadata.streams.byTopic(ids.slice(0, 10).map((_, at) => `topic-${at}`)))
await measure('retention due, none set', () => metadata.streams.retentionDue({ node, unowned: true }, 1, 100))
await measure('trim a stream', (round) => metadata.streams.trim(node, ids[round] ?? 0, 10, 1))
await measure('close and open the database', async () => {
  await metadata.close()
  metadata = await openSqliteMetadata(settings)
})
node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
await measure(`open ${count} streams of 5 extents, new epoch`, () => metadata.streams.open(node, ids), 1)
await measure(`delete ${count} streams`, () => metadata.streams.delete(ids, 1), 1)
clearInterval(heart)
await metadata.close()
rmSync(folder, { recursive: true })
console.table(figures)
