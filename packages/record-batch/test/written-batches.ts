import { fileURLToPath } from 'node:url'
import { BatchBuilder, type BatchView, defaultProduceRules, type RecordInput, validateProduced } from '../src/index.ts'
import {
  fromBase64,
  type GoldenRecord,
  type GoldenVerdict,
  goldenRecords,
  readGolden,
  toBase64,
} from './golden-data.ts'

/**
 * Batches of every kind this package writes, with the records that have to be read from them. The tests read them
 * here; run as a program, this prints them for Kafka's own classes to read (golden/read-back.sh).
 */
export type WrittenBatch = { readonly name: string; readonly bytes: Uint8Array; readonly expected: GoldenRecord[] }

const t0 = 1_700_000_000_000

export function writtenBatches(): WrittenBatch[] {
  const written: WrittenBatch[] = []
  for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
    for (const [name, inputs] of Object.entries({ varied: varied(), large: large(), noise: noise() })) {
      written.push(build(`${codec} ${name}`, inputs, { codec, baseOffset: 2 ** 33 }))
    }
  }
  written.push(build('idempotent', varied(), { producerId: 77, producerEpoch: 3, baseSequence: 2 ** 31 - 2 }))
  written.push(build('log append time', varied(), { codec: 'lz4', logAppendTimeMs: t0 + 5 }))
  return [...written, ...rewritten()]
}

/** Everything that `validateProduced` makes anew of the golden produced batches: recompressed, renumbered, converted. */
function rewritten(): WrittenBatch[] {
  const written: WrittenBatch[] = []
  for (const compressionType of ['producer', 'uncompressed', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
    for (const entry of readGolden<GoldenVerdict>('verdicts')) {
      if (
        entry.name.includes('damage') ||
        (entry.version === 9 && compressionType !== 'producer' && !/deltas|varied/.test(entry.name))
      )
        continue
      const rules = { ...defaultProduceRules, produceVersion: entry.version, nowMs: t0 + 60_000, compressionType }
      const verdict = validateProduced(fromBase64(entry.bytes), rules)
      if (!verdict.accepted || !verdict.rewritten) continue
      const { batch } = verdict
      written.push({
        name: `${entry.name}, Produce ${entry.version}, stored as ${compressionType}`,
        bytes: batch.batchBytes(),
        expected: densely(batch),
      })
    }
  }
  return written
}

function densely(batch: BatchView): GoldenRecord[] {
  return goldenRecords(batch).map((record, offset) => ({ ...record, offset }))
}

type Settings = ConstructorParameters<typeof BatchBuilder>[0]

function build(name: string, inputs: readonly RecordInput[], settings: Settings = {}): WrittenBatch {
  const builder = new BatchBuilder(settings)
  const expected = inputs.map((input) => {
    const offset = builder.append(input)
    return {
      offset,
      timestamp: settings.logAppendTimeMs ?? input.timestamp ?? -1,
      key: encoded(input.key),
      value: encoded(input.value),
      headers: (input.headers ?? []).map(({ key, value }) => ({ key: encoded(key) ?? '', value: encoded(value) })),
    }
  })
  return { name, bytes: builder.build(), expected }
}

function encoded(field: Uint8Array | string | null | undefined): string | null {
  return typeof field === 'string' ? toBase64(Buffer.from(field)) : toBase64(field ?? null)
}

function varied(): RecordInput[] {
  return [
    { timestamp: t0, key: 'key', value: 'value' },
    { timestamp: t0 - 100_000, key: null, value: '' },
    { timestamp: -1, key: '', value: null },
    { timestamp: t0 + 2 ** 40 },
    {
      timestamp: t0,
      value: Uint8Array.of(0, 255, 128),
      headers: [
        { key: 'a', value: 'b' },
        { key: '', value: '' },
        { key: 'schlüssel', value: null },
      ],
    },
  ]
}

function large(): RecordInput[] {
  return Array.from({ length: 300 }, (_, i) => ({ timestamp: t0 + i, key: `${i}`, value: `text ${i} `.repeat(90) }))
}

function noise(): RecordInput[] {
  let state = 1
  const value = Buffer.alloc(150_000)
  for (let i = 0; i < value.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    value[i] = state >>> 24
  }
  return [{ timestamp: t0, value }]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const entries = writtenBatches().map(({ name, bytes, expected }) => ({
    name,
    bytes: toBase64(bytes),
    records: expected,
  }))
  process.stdout.write(JSON.stringify(entries))
}
