import { randomUUID } from 'node:crypto'
import type { Metadata, NodeIdentity } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import type { ObjectStore, SegmentStore } from '@pico/storage'
import { openMemoryStore } from '@pico/storage/memory'
import { expect } from 'vitest'
import {
  type Clock,
  type Log,
  type LogSettings,
  type LogStream,
  openLog,
  systemClock,
  type WalComponents,
} from '../src/index.ts'
import { type LostAnswer, withLostAnswers } from './lost-answers.ts'
import { entry, stamp, tagsOf, testFormat } from './test-entries.ts'

export type WalKind = WalComponents['kind']
export const walKinds: readonly WalKind[] = ['local', 'shared']

const MiB = 1024 * 1024
/** Small, so that a test reaches what takes gigabytes otherwise. */
export const smallSettings: Partial<LogSettings> = {
  segmentBytes: 2 * MiB,
  packIntervalMs: 3_600_000,
  maintenanceIntervalMs: 3_600_000,
  doomedGraceMs: 0,
}

/** A database and a store that outlive the logs opened over them, as after a crash. */
export class TestSystem {
  readonly store: ObjectStore & SegmentStore
  readonly metadata: Metadata
  readonly problems: string[] = []
  readonly #kind: WalKind
  readonly #clock: Clock
  #node: NodeIdentity | null = null

  private constructor(kind: WalKind, store: ObjectStore & SegmentStore, metadata: Metadata, clock: Clock) {
    this.#kind = kind
    this.#clock = clock
    this.store = store
    this.metadata = metadata
  }

  /** Where answers are in `lostAnswers`, the engine does not get them. */
  static async open(
    kind: WalKind,
    {
      store = openMemoryStore(),
      clock = systemClock,
      lostAnswers = [],
    }: { store?: ObjectStore & SegmentStore; clock?: Clock; lostAnswers?: LostAnswer[] } = {},
  ): Promise<TestSystem> {
    const metadata = withLostAnswers(await openSqliteMetadata({ path: ':memory:' }), lostAnswers)
    return new TestSystem(kind, store, metadata, clock)
  }

  /** Of the log that was started last. */
  get node(): NodeIdentity {
    if (this.#node === null) throw new Error('no log was started')
    return this.#node
  }

  /** A log of a new node epoch; whatever log was open before is left as a dead process leaves it. */
  start(settings: Partial<LogSettings> = {}): Promise<Log> {
    return this.join(1, settings)
  }

  /** The same of any node, beside those that run. */
  async join(nodeId: number, settings: Partial<LogSettings> = {}): Promise<Log> {
    const node = await this.metadata.nodes.register({ nodeId, addresses: {}, slots: 1 }, this.#clock.nowMs())
    this.#node = node
    const wal: WalComponents =
      this.#kind === 'local' ? { kind: 'local', store: this.store } : { kind: 'shared', store: this.store }
    return openLog(
      {
        store: this.store,
        wal,
        metadata: this.metadata,
        node,
        clock: this.#clock,
        format: testFormat,
        onProblem: (message, error) => this.problems.push(`${message}: ${error}`),
      },
      { ...smallSettings, ...settings },
    )
  }

  async createStream(name = 'orders'): Promise<number> {
    const [row] = await this.metadata.streams.create(
      [{ name: `/${name}`, topic: name, partition: 0, topicId: randomUUID(), contentType: '', config: {} }],
      this.#clock.nowMs(),
    )
    if (row === undefined) throw new Error('no row')
    return row.streamId
  }

  /** A fork of what an open stream has below `offset`, or why there is none. Where it has to go on: its `nextOffset`. */
  async fork(log: Log, sourceStreamId: number, offset: number, name: string): Promise<number | string> {
    const shared = await log.shareBelow(sourceStreamId, offset)
    if (shared === null) return 'source-closed'
    const stream = { name: `/${name}`, topic: null, partition: 0, topicId: randomUUID(), contentType: '', config: {} }
    const fork = { stream, sourceStreamId, offset, subOffset: 0, ...shared }
    const made = await this.metadata.streams.fork(fork, this.#clock.nowMs())
    return typeof made === 'string' ? made : made.streamId
  }
}

export async function openStream(log: Log, streamId: number): Promise<LogStream> {
  const [stream] = await log.open([streamId], () => ({ committed: () => undefined, rolledBack: () => undefined }))
  if (stream === undefined) throw new Error(`no stream ${streamId}`)
  return stream
}

/** Appends entries with these tags, stamped, and waits for all of them. Returns their base offsets. */
export async function appendAll(stream: LogStream, tags: readonly number[], payloadBytes = 4): Promise<number[]> {
  const appended = tags.map((tag) => {
    const one = stream.append(entry(tag, { payloadBytes, timestampMs: 1000 + tag }))
    stamp(one.bytes, one.baseOffset)
    return one
  })
  await Promise.all(appended.map((one) => one.committed))
  return appended.map((one) => one.baseOffset)
}

export const range = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i)

/** All of it, by reads of so many bytes. */
export async function readAll(
  stream: LogStream,
  maxBytes = 1024 * 1024,
): Promise<{ baseOffset: number; tag: number }[]> {
  const found: { baseOffset: number; tag: number }[] = []
  let offset = stream.startOffset
  for (;;) {
    const read = await stream.read(offset, maxBytes)
    if (read === null) return found
    found.push(...tagsOf(read))
    expect(read.endOffset).toBeGreaterThan(offset)
    offset = read.endOffset
  }
}

/** What is read where entry n has tag n. */
export const expected = (tags: readonly number[]) => tags.map((tag) => ({ baseOffset: tag, tag }))
