/**
 * Times the file store, segments and the block cache: `node --conditions=@pico/source test/bench/store-bench.ts [folder]`.
 * Medians of rounds that alternate between the sizes, so that a busy moment does not fall on one of them.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataObjectBuilder, openBlockCache, readDataObjectIndex, scanSegment } from '@pico/storage'
import { openFileStore } from '@pico/storage/file'
import { openMemoryStore } from '@pico/storage/memory'
import { frameOf, identity } from '../wal-fixtures.ts'

const kib = 1024
const mib = 1024 * kib
const folder = await mkdtemp(join(process.argv[2] ?? tmpdir(), 'pico-bench-'))
const store = await openFileStore(folder)

try {
  await timePuts()
  await timeSegmentWrites()
  await timeGets()
  await timeScan()
  for (const kind of ['file', 'memory'] as const) await timeBlockCache(kind)
} finally {
  await rm(folder, { recursive: true })
}

async function timePuts(): Promise<void> {
  const sizes = [4 * kib, mib, 8 * mib]
  const times = await alternate(sizes, 60, (bytes, round) =>
    store.put(`put/${bytes}/${round}`, [Buffer.alloc(bytes, 1)]),
  )
  report('put, durable', sizes, times)
}

async function timeSegmentWrites(): Promise<void> {
  const sizes = [4 * kib, 64 * kib, 128 * kib, mib]
  const segment = await store.create('wal/1', 64 * mib)
  let at = 0
  const times = await alternate(sizes, 200, async (bytes) => {
    if (at + bytes > segment.sizeBytes) at = 0
    await segment.write(at, [Buffer.alloc(52), Buffer.alloc(bytes - 512, 1), Buffer.alloc(460)])
    at += bytes
  })
  report('segment write and sync', sizes, times)
  await segment.close()
  const made = await alternate([64 * mib], 5, async (bytes, round) =>
    (await store.create(`new/${round}`, bytes)).close(),
  )
  report('segment made', [64 * mib], made)
}

async function timeGets(): Promise<void> {
  await store.put('get', [Buffer.alloc(64 * mib, 1)])
  const sizes = [4 * kib, 64 * kib, 256 * kib, 4 * mib]
  const times = await alternate(sizes, 200, (bytes, round) =>
    store.get('get', { offset: (round % 16) * bytes, length: bytes }),
  )
  report('ranged get from the page cache', sizes, times)
}

async function timeScan(): Promise<void> {
  const sizeBytes = 64 * mib
  const segment = await store.create('scan', sizeBytes)
  for (let at = 512; at + 300 * kib < sizeBytes / 2; ) {
    const run = { streamId: 1, baseOffset: at, count: 1, maxTimestampMs: -1, summary: Buffer.alloc(12) }
    const frame = frameOf([{ ...run, bytes: Buffer.alloc(256 * kib, 1) }], at)
    await segment.write(at, frame.buffers)
    at += frame.lengthBytes
  }
  const read = (offset: number, length: number) => store.get('scan', { offset, length })
  const times = await alternate([sizeBytes], 10, async () => {
    // No header was written, which is found out only after everything was read.
    await scanSegment(read, { key: 'scan', identity, sizeBytes, committedBytes: null }).catch(() => undefined)
  })
  report('segment scanned, half of it frames', [sizeBytes], times)
}

async function timeBlockCache(kind: 'file' | 'memory'): Promise<void> {
  const source = kind === 'file' ? store : openMemoryStore()
  const part = Buffer.alloc(64 * kib, 7)
  const builder = new DataObjectBuilder()
  const body = async function* () {
    for (let offset = 0; offset < 4096; offset++) {
      builder.add({ streamId: 1, baseOffset: offset, endOffset: offset + 1, maxTimestampMs: -1, bytes: part })
      yield part
    }
    yield* builder.finish()
  }
  await source.put('data/1', body())
  const slice = (await readDataObjectIndex(source, 'data/1', builder.lengthBytes)).slice(1)!
  const times = await alternate([slice.lengthBytes], 7, async () => {
    const cache = openBlockCache({ store: source }, { capacityBytes: 64 * mib })
    for (const [i] of slice.chunks.entries()) await cache.read('data/1', slice.chunks, i)
  })
  report(`block cache, sequential, over ${kind}`, [slice.lengthBytes], times)

  const small = slice.chunks.slice(0, 512)
  const cache = openBlockCache({ store: source }, { capacityBytes: 64 * mib })
  for (const [i] of small.entries()) await cache.read('data/1', small, i)
  const rounds = 200
  const before = performance.now()
  for (let round = 0; round < rounds; round++) for (const [i] of small.entries()) cache.read('data/1', small, i)
  const nanoseconds = ((performance.now() - before) * 1e6) / (rounds * small.length)
  console.log(`block cache, in memory: ${nanoseconds.toFixed(0)} ns a chunk`)
}

async function alternate(
  sizes: readonly number[],
  rounds: number,
  work: (bytes: number, round: number) => Promise<unknown>,
): Promise<Map<number, number[]>> {
  const times = new Map<number, number[]>(sizes.map((bytes) => [bytes, []]))
  for (let round = 0; round < rounds; round++) {
    for (const bytes of sizes) {
      const before = performance.now()
      await work(bytes, round)
      times.get(bytes)!.push(performance.now() - before)
    }
  }
  return times
}

function report(name: string, sizes: readonly number[], times: Map<number, number[]>): void {
  for (const bytes of sizes) {
    const sorted = times.get(bytes)!.sort((a, b) => a - b)
    const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]!
    const rate = bytes / 1e6 / (at(0.5) / 1000)
    const size = bytes < mib ? `${bytes / kib} KiB` : `${(bytes / mib).toFixed(0)} MiB`
    console.log(
      `${name}, ${size}: p50 ${at(0.5).toFixed(2)} ms, p90 ${at(0.9).toFixed(2)} ms, p99 ${at(0.99).toFixed(2)} ms, ${rate.toFixed(0)} MB/s`,
    )
  }
}
