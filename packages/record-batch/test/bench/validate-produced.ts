import { cpus } from 'node:os'
import {
  BatchBuilder,
  BatchView,
  defaultProduceRules,
  measureBatch,
  records,
  validateProduced,
} from '../../src/index.ts'

/**
 * How fast one core judges produced batches. `node --conditions=@pico/source test/bench/validate-produced.ts`
 * Prints the best of many short rounds, since a shared machine only ever makes a round slower.
 */
const nowMs = 1_700_000_000_000
const rules = { ...defaultProduceRules, produceVersion: 9, nowMs }

console.log(`${cpus()[0]?.model}, node ${process.version}`)
for (const [name, count, valueBytes] of [
  ['64 KiB of 1 KiB records', 63, 1024],
  ['64 KiB of 100-byte records', 590, 100],
  ['1 MiB of 100-byte records', 9400, 100],
  ['16 KiB of 100-byte records', 147, 100],
  ['one 100-byte record', 1, 100],
] as const) {
  const batch = buildBatch('none', count, valueBytes)
  report(`validate ${name}`, batch.length, count, () => validateProduced(batch, rules))
}
for (const codec of ['gzip', 'snappy', 'lz4', 'zstd'] as const) {
  const batch = buildBatch(codec, 590, 100)
  report(`validate ${codec}, 64 KiB uncompressed`, 64 * 1024, 590, () => validateProduced(batch, rules))
}
const batch = buildBatch('none', 590, 100)
const view = new BatchView(batch)
report('measureBatch', batch.length, 1, () => measureBatch(batch))
report('new BatchView and its CRC', batch.length, 1, () => new BatchView(batch).isCrcValid())
report('iterate 100-byte records', batch.length, 590, () => {
  let total = 0
  for (const record of records(view)) total += record.value?.length ?? 0
  return total
})
report('build 64 KiB of 100-byte records', batch.length, 590, () => buildBatch('none', 590, 100))

function buildBatch(codec: 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd', count: number, valueBytes: number): Uint8Array {
  const builder = new BatchBuilder({ codec })
  const text = Array.from({ length: 40 }, (_, i) => `{"id":${(i * 2654435761) >>> 0}}`).join(',')
  const value = Buffer.from(text.padEnd(valueBytes, 'x').slice(0, valueBytes))
  for (let i = 0; i < count; i++) builder.append({ timestamp: nowMs + i, value })
  return builder.build()
}

function report(name: string, bytes: number, recordCount: number, run: () => unknown): void {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 200; round++) {
    const start = process.hrtime.bigint()
    let runs = 0
    while (process.hrtime.bigint() - start < 3_000_000n) {
      for (let i = 0; i < 10; i++) run()
      runs += 10
    }
    best = Math.min(best, Number(process.hrtime.bigint() - start) / runs)
  }
  const gigabytes = (bytes / best).toFixed(2)
  console.log(
    `${name}: ${(best / 1000).toFixed(2)} µs, ${gigabytes} GB/s, ${((recordCount / best) * 1000).toFixed(1)} M records/s`,
  )
}
