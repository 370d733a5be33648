import { expect } from 'vitest'
import type { Metadata } from '../metadata.ts'
import type { NodeIdentity } from '../node-registry.ts'
import {
  extentOfRun,
  type HistoryModel,
  type ModelStream,
  type ModelWal,
  offsetBytes,
  packedLayout,
  type Run,
  sameNode,
} from './history-model.ts'
import { farMs, topicStream } from './world.ts'

export const operationKinds = [
  'create',
  'write',
  'write',
  'write',
  'pack',
  'pack',
  'adopt',
  'transfer',
  'crash',
  'trim',
  'delete',
  'fork',
  'fork',
  'compact',
  'compact',
  'collect',
  'abandon',
] as const

/** One random step; the numbers choose among what there is at that moment. */
export interface Operation {
  readonly kind: (typeof operationKinds)[number]
  readonly a: number
  readonly b: number
  readonly c: number
}

/** Does a step to both, and expects what the step itself returns. */
export async function perform(metadata: Metadata, model: HistoryModel, operation: Operation): Promise<void> {
  model.nowMs += 10
  await steps[operation.kind](metadata, model, operation)
}

type Step = (metadata: Metadata, model: HistoryModel, numbers: Operation) => Promise<void>

const steps: Record<Operation['kind'], Step> = {
  async create(metadata, model, { a, b }) {
    const node = anyNode(model, a)
    const names = Array.from({ length: 1 + (b % 3) }, (_, index) => `s${model.nowMs}.${index}`)
    const config = { 'retention.bytes': '60' }
    const created = await metadata.streams.create(
      names.map((name) => topicStream(name, 0, config)),
      model.nowMs,
    )
    for (const { streamId } of created) {
      const offsets = { startOffset: 0, packedOffset: 0, endOffset: 0, statelessUntil: 0 }
      model.streams.set(streamId, { streamId, owner: node, ...offsets, sourceStreamId: null })
    }
    await metadata.streams.open(
      node,
      created.map((stream) => stream.streamId),
    )
  },

  /** A flush: node 1 has a shared WAL, node 2 a local one. */
  async write(metadata, model, { a, b, c }) {
    const node = anyNode(model, a)
    const written = model.owned(node).filter((_, index) => ((b >> (index % 7)) & 1) === 1)
    const runs = packedLayout(
      written.map((stream) => {
        const baseOffset = stream.endOffset
        stream.endOffset += 1 + ((c + stream.streamId) % 4)
        return { streamId: stream.streamId, baseOffset, endOffset: stream.endOffset, position: 0 }
      }),
    ).map(({ run }) => run)
    const sequence = model.nextSequence(node)
    const key = `wal/${node.nodeId}/${node.nodeEpoch}/${sequence}`
    if (node.nodeId === 1) {
      await metadata.log.commitWalObjects(node, [{ sequence, key, lengthBytes: 10_000, index: new Uint8Array(3) }])
      model.wal.push({ node, sequence, segmentId: null, key, runs })
    } else {
      const segmentId = await metadata.nodes.reserve('segmentId', 1)
      await metadata.log.createWalSegment(node, { segmentId, key, sizeBytes: 10_000 })
      model.wal.push({ node, sequence, segmentId, key, runs })
    }
    model.contents.set(key, runs)
  },

  /** Copies the first few WAL objects of a node into a data object; streams that went or moved are among them. */
  async pack(metadata, model, { a, b, c }) {
    const node = anyNode(model, a)
    const wal = model.walOf(node.nodeId).slice(0, 1 + (b % 4))
    const layout = packedLayout(wal.flatMap((it) => it.runs))
    const runs = layout.flatMap(({ run, cuts }) => (c % 2 === 0 && isUnpacked(model, run) ? [run] : cuts))
    const object = await upload(metadata, model, runs)
    await commit(metadata, model, node, wal, runs, [object], () => object.objectId, wal)
  },

  async adopt(metadata, model, { a, b }) {
    const node = anyNode(model, a)
    await adopt(metadata, model, node, model.walOf(node.nodeId).slice(0, 1 + (b % 4)))
  },

  /** Takes one stream's entries out of the owner's WAL, and gives it to the other node: on request, or to whoever comes. */
  async transfer(metadata, model, { a, b }) {
    const stream = anyStream(model, a)
    if (stream === undefined) return
    const { owner, streamId } = stream
    const other = anyNode(model, owner.nodeId === 1 ? 1 : 0)
    expect(await metadata.streams.open(other, [streamId])).toEqual([])
    await adopt(metadata, model, owner, model.walOf(owner.nodeId), streamId)
    if (b % 2 === 0) {
      await metadata.streams.release(owner, [streamId])
      await open(metadata, model, other, [stream])
      return
    }
    const [before] = await metadata.streams.byStreamId([streamId])
    const asked = await metadata.transfers.request(streamId, other.nodeId, model.nowMs)
    expect(asked).toMatchObject({ streamId, toNodeId: other.nodeId, state: 'pending' })
    const pending = await metadata.transfers.pendingOf(owner, 9)
    const ended = await metadata.transfers.handOver(
      owner,
      pending.map(({ transferId }) => transferId),
      model.nowMs,
    )
    expect(ended).toEqual([{ ...Object(asked), state: 'done', endedAtMs: model.nowMs }])
    stream.owner = other
    const [place] = await metadata.streams.place([streamId], model.nowMs)
    expect(place).toEqual({ streamId, owner: other, leaderEpoch: (before?.leaderEpoch ?? 0) + 1 })
  },

  /** A node dies and comes back; it, or the other node, adopts what it left. */
  async crash(metadata, model, { a, b }) {
    const dead = anyNode(model, a)
    const orphans = model.owned(dead)
    const reborn = await metadata.nodes.register({ nodeId: dead.nodeId, addresses: {}, slots: 1 }, model.nowMs)
    model.nodes.set(dead.nodeId, reborn)
    const adopter = anyNode(model, b)
    await adopt(metadata, model, adopter, model.walOf(dead.nodeId))
    await open(metadata, model, adopter, orphans)
  },

  async trim(metadata, model, { a, b }) {
    const stream = anyStream(model, a)
    if (stream !== undefined) await trim(metadata, model, stream, b)
  },

  async delete(metadata, model, { a }) {
    const stream = anyStream(model, a)
    if (stream !== undefined) await remove(metadata, model, stream)
  },

  /** A fork of what is packed of a stream, ending anywhere in it; opened at once. */
  async fork(metadata, model, { a, b, c }) {
    const source = anyStream(model, a)
    if (source === undefined) return
    const [row] = await metadata.streams.open(source.owner, [source.streamId])
    const sharedEnd = b % (source.packedOffset + 1)
    const extent = row?.extents.find((it) => it.baseOffset < sharedEnd && sharedEnd < it.endOffset)
    const cut =
      extent === undefined || sharedEnd <= source.startOffset
        ? null
        : {
            extent,
            lengthBytes: (sharedEnd - extent.baseOffset) * offsetBytes,
            maxTimestampMs: sharedEnd,
            crc32c: null,
          }
    const offset = sharedEnd + (c % 2)
    const stream = topicStream(`f${model.nowMs}`, 0, { 'retention.bytes': '60' })
    const fork = { stream, sourceStreamId: source.streamId, offset, subOffset: c, sharedEnd, cut }
    if (cut !== null) {
      const moved = { ...cut, extent: { ...cut.extent, position: cut.extent.position + 1 } }
      expect(await metadata.streams.fork({ ...fork, cut: moved }, model.nowMs)).toBe('source-changed')
    }
    const made = await metadata.streams.fork(fork, model.nowMs)
    expect(made).toMatchObject({ fork: { sourceStreamId: source.streamId, offset, subOffset: c } })
    if (typeof made === 'string') return
    const { streamId } = made
    const startOffset = Math.min(source.startOffset, offset)
    const offsets = { startOffset, packedOffset: sharedEnd, endOffset: sharedEnd, statelessUntil: sharedEnd }
    const owner = anyNode(model, c)
    model.streams.set(streamId, { streamId, owner, ...offsets, sourceStreamId: source.streamId })
    const [opened] = await metadata.streams.open(owner, [streamId])
    expect(opened?.leaderEpoch).toBe((row?.leaderEpoch ?? 0) + 1)
    expect(opened?.packedBytes).toBe(opened?.extents.reduce((sum, it) => sum + it.lengthBytes, 0))
  },

  /** Merges small objects; now and then a stream is trimmed, deleted or adopted between reading and committing. */
  async compact(metadata, model, { a, b, c }) {
    const candidates = await metadata.log.compactionCandidates({ maxBytes: 400, limit: 1 + (b % 4) })
    const lists = await Promise.all(candidates.map((candidate) => metadata.log.extentsOfObject(candidate.objectId)))
    const layout = packedLayout(lists.flat())
    const object = await upload(
      metadata,
      model,
      layout.map(({ run }) => run),
    )
    const stream = anyStream(model, a)
    if (stream !== undefined && c % 4 === 0) await trim(metadata, model, stream, a + b)
    if (stream !== undefined && c % 4 === 1) await remove(metadata, model, stream)
    if (stream !== undefined && c % 4 === 2) {
      await adopt(metadata, model, stream.owner, model.walOf(stream.owner.nodeId), stream.streamId)
    }
    const extents = layout.map(({ run, cuts }) => ({ ...extentOfRun(run, object.objectId), cuts }))
    const replaced = candidates.map((candidate) => candidate.objectId)
    await metadata.log.commitCompaction(anyNode(model, a), { object, replaced, extents }, model.nowMs)
  },

  async collect(metadata, model) {
    const doomed = await metadata.log.doomed(model.nowMs, 2)
    await metadata.log.forgetDoomed(doomed.map((object) => object.key))
    for (const { key } of doomed) model.collectedKeys.add(key)
  },

  /** An upload that nothing ever comes of. */
  async abandon(metadata, model) {
    const key = `data/abandoned/${model.nowMs}`
    model.contents.set(key, [])
    await metadata.log.announceUpload(key, model.nowMs)
  },
}

function anyNode(model: HistoryModel, choice: number): NodeIdentity {
  const nodes = [...model.nodes.values()]
  const node = nodes[choice % nodes.length]
  if (node === undefined) throw new Error('a history has nodes from the start')
  return node
}

function anyStream(model: HistoryModel, choice: number): ModelStream | undefined {
  const streams = [...model.streams.values()]
  return streams[choice % Math.max(1, streams.length)]
}

/** Runs may be merged only as far as none of them is packed already, as an engine would. */
function isUnpacked(model: HistoryModel, run: Run): boolean {
  return run.baseOffset >= (model.streams.get(run.streamId)?.packedOffset ?? 0)
}

async function upload(metadata: Metadata, model: HistoryModel, runs: readonly Run[]) {
  const objectId = await metadata.nodes.reserve('objectId', 1)
  const key = `data/${objectId}`
  await metadata.log.announceUpload(key, farMs)
  model.contents.set(key, runs)
  return { objectId, key, lengthBytes: 100_000 }
}

async function adopt(
  metadata: Metadata,
  model: HistoryModel,
  node: NodeIdentity,
  wal: readonly ModelWal[],
  onlyStreamId?: number,
): Promise<void> {
  const firstId = await metadata.nodes.reserve('objectId', Math.max(1, wal.length))
  const objects = wal.map((it, index) => ({ objectId: firstId + index, key: it.key, lengthBytes: 10_000 }))
  const ids = new Map(wal.flatMap((it, index) => it.runs.map((run) => [run, firstId + index] as const)))
  const runs = [...ids.keys()].filter((run) => onlyStreamId === undefined || run.streamId === onlyStreamId)
  const released = onlyStreamId === undefined ? wal : []
  await commit(metadata, model, node, wal, runs, objects, (run) => ids.get(run) ?? 0, released)
}

async function commit(
  metadata: Metadata,
  model: HistoryModel,
  node: NodeIdentity,
  wal: readonly ModelWal[],
  runs: readonly Run[],
  objects: readonly { objectId: number; key: string; lengthBytes: number }[],
  objectIdOf: (run: Run) => number,
  released: readonly ModelWal[],
): Promise<void> {
  const ends = new Map(runs.map((run) => [run.streamId, run.endOffset]))
  const outcome = await metadata.log.commitPack(
    node,
    {
      objects,
      extents: runs.map((run) => extentOfRun(run, objectIdOf(run))),
      states: [...ends].map(([streamId, endOffset]) => ({ streamId, state: stateAt(endOffset) })),
      walObjects: released.filter((it) => it.segmentId === null),
      walSegments: released.flatMap((it) => it.segmentId ?? []),
    },
    model.nowMs,
  )
  const skipped = model.pack(node, runs)
  model.release(released)
  expect(outcome.skippedStreamIds.sort(), `left out of ${wal.map((it) => it.key)}`).toEqual(skipped.sort())
}

/** A state that says as of which offset it is. */
export function stateAt(offset: number): Uint8Array {
  return new Uint8Array(Buffer.from(String(offset)))
}

async function open(metadata: Metadata, model: HistoryModel, node: NodeIdentity, streams: readonly ModelStream[]) {
  const before = await metadata.streams.byStreamId(streams.map((stream) => stream.streamId))
  const after = await metadata.streams.open(
    node,
    streams.map((stream) => stream.streamId),
  )
  expect(after).toHaveLength(before.length)
  for (const [index, stream] of before.entries()) {
    expect(after[index]?.leaderEpoch).toBe(stream.leaderEpoch + (sameNode(stream.owner, node) ? 0 : 1))
  }
  for (const stream of streams) {
    const known = model.streams.get(stream.streamId)
    if (known !== undefined) known.owner = node
  }
}

async function trim(metadata: Metadata, model: HistoryModel, stream: ModelStream, choice: number): Promise<void> {
  const wanted = choice % (stream.endOffset + 1)
  stream.startOffset = Math.max(stream.startOffset, wanted)
  const { owner, streamId } = stream
  expect(await metadata.streams.trim(owner, streamId, wanted, model.nowMs)).toBe(stream.startOffset)
}

async function remove(
  metadata: Metadata,
  model: HistoryModel,
  { streamId, sourceStreamId }: ModelStream,
): Promise<void> {
  expect(await metadata.streams.delete([streamId, 1_000_000], model.nowMs)).toEqual([streamId])
  model.streams.delete(streamId)
  model.deleted.set(streamId, sourceStreamId)
}
