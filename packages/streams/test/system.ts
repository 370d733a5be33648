import { type EntryFormat, type Log, type LogSettings, openLog, type WalComponents } from '@pico/log'
import type { Metadata } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import {
  BatchBuilder,
  type BatchBuilderSettings,
  BatchView,
  batches,
  type RecordInput,
  records,
} from '@pico/record-batch'
import type { ObjectStore, SegmentStore } from '@pico/storage'
import { type FaultInjection, withFaults } from '@pico/storage/faults'
import { openMemoryStore } from '@pico/storage/memory'
import {
  type AppendAccepted,
  type AppendOutcome,
  type AppendRefusal,
  openStreams,
  type Partition,
  recordBatchEntries,
  type SchemaNames,
  type Streams,
  type StreamsSettings,
} from '../src/index.ts'
import { TestClock } from './test-clock.ts'

export type WalKind = WalComponents['kind']
export const walKinds: readonly WalKind[] = ['local', 'shared']

const MiB = 1024 * 1024
/** Nothing happens in the background unless a test asks for it. */
const quiet: Partial<LogSettings> = {
  segmentBytes: 2 * MiB,
  packIntervalMs: 3_600_000_000,
  maintenanceIntervalMs: 3_600_000_000,
  doomedGraceMs: 0,
}

export interface Node {
  readonly log: Log
  readonly streams: Streams
}

/** A database and a store that outlive the nodes that run over them. */
export class TestSystem {
  readonly clock = new TestClock()
  readonly store: ObjectStore & SegmentStore & FaultInjection
  readonly metadata: Metadata
  readonly kind: WalKind
  readonly statements: string[]
  #running: Node | null = null

  private constructor(kind: WalKind, metadata: Metadata, statements: string[]) {
    this.kind = kind
    this.metadata = metadata
    this.statements = statements
    this.store = withFaults(openMemoryStore())
  }

  static async open(kind: WalKind = 'local'): Promise<TestSystem> {
    const statements: string[] = []
    const metadata = await openSqliteMetadata({ path: ':memory:', onStatement: (sql) => statements.push(sql) })
    return new TestSystem(kind, metadata, statements)
  }

  /** A new node epoch. Whatever ran before is left as a dead process leaves it. */
  async start(
    settings: Partial<StreamsSettings> = {},
    logSettings: Partial<LogSettings> = {},
    parts: { readonly metadata?: Metadata; readonly format?: EntryFormat; readonly schemas?: SchemaNames } = {},
  ): Promise<Node> {
    const { clock, store } = this
    const { metadata = this.metadata, format = recordBatchEntries } = parts
    const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, clock.nowMs())
    const wal: WalComponents = { kind: this.kind, store }
    const components = { store, wal, metadata, node, clock, format }
    const log = await openLog(components, { ...quiet, ...logSettings })
    const clusterId = await metadata.nodes.clusterId()
    const { schemas } = parts
    const streams = await openStreams(
      { log, metadata, node, clusterId, clock, ...(schemas !== undefined && { schemas }) },
      settings,
    )
    this.#running = { log, streams }
    return this.#running
  }

  /** The next flush waits until `store.heal()`. */
  holdFlushes(): void {
    this.store.inject({ ...this.#flush, fault: { kind: 'hang' } })
  }

  /** Flushes fail until `store.heal()`, and leave nothing behind. */
  failFlushes(): void {
    this.store.inject({ ...this.#flush, fault: { kind: 'fail-before', code: 'ENOSPC' } })
  }

  async close(): Promise<void> {
    this.store.heal()
    await this.#running?.streams.close()
    await this.#running?.log.close()
    await this.metadata.close()
  }

  get #flush(): { operation: 'write' | 'put'; key: RegExp } {
    return { operation: this.kind === 'local' ? 'write' : 'put', key: /^wal\// }
  }
}

export async function openTopic(
  streams: Streams,
  name = 'orders',
  config: Record<string, string> = {},
): Promise<Partition> {
  const outcome = await streams.createTopic({ name, partitions: 1, config, validateOnly: false })
  if (outcome.refused !== undefined) throw new Error(`no topic: ${JSON.stringify(outcome.refused)}`)
  return openPartition(streams, name)
}

export async function openPartition(streams: Streams, name = 'orders', partition = 0): Promise<Partition> {
  const opened = await streams.partition({ name }, partition)
  if (typeof opened === 'string') throw new Error(opened)
  return opened
}

/** A batch as a producer sends it. Values become records, one millisecond apart if a time is given. */
export function batchOf(
  values: readonly string[],
  settings: BatchBuilderSettings & { atMs?: number } = {},
): Uint8Array {
  const { atMs, ...rest } = settings
  return batchOfRecords(
    values.map((value, index) => ({ value, key: 'k', ...(atMs !== undefined && { timestamp: atMs + index }) })),
    rest,
  )
}

export function batchOfRecords(inputs: readonly RecordInput[], settings: BatchBuilderSettings = {}): Uint8Array {
  const builder = new BatchBuilder(settings)
  for (const input of inputs) builder.append(input)
  return builder.build()
}

/** A batch of an idempotent producer: `count` records from `sequence` on. */
export function producerBatch(
  producerId: number,
  sequence: number,
  { epoch = 0, count = 1, value = `v${sequence}` }: { epoch?: number; count?: number; value?: string } = {},
): Uint8Array {
  const values = Array.from({ length: count }, (_, index) => `${value}.${index}`)
  return batchOf(values, { producerId, producerEpoch: epoch, baseSequence: sequence })
}

export function append(partition: Partition, bytes: Uint8Array): AppendOutcome {
  return partition.append(bytes, { zstdAllowed: true })
}

export function accepted(outcome: AppendOutcome): AppendAccepted {
  if (outcome.accepted === undefined) throw new Error(`refused: ${JSON.stringify(outcome.refused)}`)
  return outcome.accepted
}

export function refused(outcome: AppendOutcome): AppendRefusal {
  if (outcome.refused === undefined) throw new Error('accepted')
  return outcome.refused
}

/** Appends and waits until it is durable. Returns the base offset. */
export async function write(partition: Partition, bytes: Uint8Array): Promise<number> {
  const { baseOffset, committed } = accepted(append(partition, bytes))
  await committed
  return baseOffset
}

/** All batches from `offset` on, as stored. */
export async function readBatches(partition: Partition, offset = partition.startOffset): Promise<BatchView[]> {
  const found: BatchView[] = []
  for (let at = offset; ; ) {
    const read = await partition.read(at, MiB)
    if (read === 'out-of-range') throw new Error(`offset ${at} is out of range`)
    if (read === null) return found
    found.push(...batches(Buffer.concat(read.buffers)))
    at = read.endOffset
  }
}

/** `offset=value` of every record from the start of the log on. */
export async function readValues(partition: Partition): Promise<string[]> {
  const found = (await readBatches(partition)).flatMap((batch) => [...records(batch)])
  return found.map(({ offset, value }) => `${offset}=${value === null ? 'null' : Buffer.from(value).toString()}`)
}

export function view(bytes: Uint8Array): BatchView {
  return new BatchView(bytes)
}
