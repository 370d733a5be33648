import type { NewExtent } from '../log-index.ts'
import type { NodeIdentity } from '../node-registry.ts'

/** Every offset has this many bytes, so that an extent's place in an object says which offsets lie there. */
export const offsetBytes = 10

/** Offsets `[baseOffset, endOffset)` of a stream, lying side by side at `position` of an object. */
export interface Run {
  readonly streamId: number
  readonly baseOffset: number
  readonly endOffset: number
  readonly position: number
}

/** A WAL object (`segmentId` null) or a WAL segment with a row. */
export interface ModelWal {
  readonly node: NodeIdentity
  readonly sequence: number
  readonly segmentId: number | null
  readonly key: string
  readonly runs: readonly Run[]
}

export interface ModelStream {
  readonly streamId: number
  owner: NodeIdentity
  startOffset: number
  packedOffset: number
  /** End of what was written, WAL included. */
  endOffset: number
  /** A fork has no state until something of its own is packed. */
  readonly statelessUntil: number
  readonly sourceStreamId: number | null
}

/** What a metadata must know, in plain memory: no extents, but what truly lies in each object, which extents are held against. */
export class HistoryModel {
  readonly streams = new Map<number, ModelStream>()
  /** By id: what they were forks of. */
  readonly deleted = new Map<number, number | null>()
  readonly wal: ModelWal[] = []
  /** Content of every object ever uploaded. */
  readonly contents = new Map<string, readonly Run[]>()
  readonly collectedKeys = new Set<string>()
  readonly sequences = new Map<string, number>()
  readonly nodes = new Map<number, NodeIdentity>()
  nowMs = 1_000

  isLive(node: NodeIdentity): boolean {
    return this.nodes.get(node.nodeId)?.nodeEpoch === node.nodeEpoch
  }

  /** Deleted, but there is a fork that still is, or is kept itself. */
  get goneIds(): number[] {
    const gone = new Set<number>()
    const keep = (source: number | null) => {
      if (source === null || !this.deleted.has(source) || gone.has(source)) return
      gone.add(source)
      keep(this.deleted.get(source) ?? null)
    }
    for (const { sourceStreamId } of this.streams.values()) keep(sourceStreamId)
    return [...gone].sort((a, b) => a - b)
  }

  owned(node: NodeIdentity): ModelStream[] {
    return [...this.streams.values()].filter((stream) => sameNode(stream.owner, node))
  }

  walOf(nodeId: number): ModelWal[] {
    return this.wal.filter((wal) => wal.node.nodeId === nodeId)
  }

  nextSequence(node: NodeIdentity): number {
    const key = `${node.nodeId} ${node.nodeEpoch}`
    const sequence = (this.sequences.get(key) ?? 0) + 1
    this.sequences.set(key, sequence)
    return sequence
  }

  /** What a pack or an adoption by `node` of these runs does; returns the streams it must leave out. */
  pack(node: NodeIdentity, runs: readonly Run[]): number[] {
    const skipped = new Set<number>()
    for (const run of runs) {
      const stream = this.streams.get(run.streamId)
      const isElsewhere = stream && stream.owner.nodeId !== node.nodeId && this.isLive(stream.owner)
      if (stream === undefined || isElsewhere) skipped.add(run.streamId)
      else if (run.endOffset > stream.packedOffset) stream.packedOffset = run.endOffset
    }
    return [...skipped]
  }

  release(wal: readonly ModelWal[]): void {
    for (const it of wal) this.wal.splice(this.wal.indexOf(it), 1)
  }
}

export function sameNode(a: NodeIdentity | null, b: NodeIdentity | null): boolean {
  return a?.nodeId === b?.nodeId && a?.nodeEpoch === b?.nodeEpoch
}

export function extentOfRun(run: Run, objectId: number): NewExtent {
  const lengthBytes = (run.endOffset - run.baseOffset) * offsetBytes
  return { ...run, objectId, lengthBytes, maxTimestampMs: run.endOffset, crc32c: null }
}

/** Whether `content` has those offsets at that place, under the stream's id or that of what it is a fork of. */
export function contains(content: readonly Run[], extent: Run & { readonly objectStreamId: number }): boolean {
  return content.some(
    (run) =>
      run.streamId === extent.objectStreamId &&
      run.baseOffset <= extent.baseOffset &&
      extent.endOffset <= run.endOffset &&
      extent.position === run.position + (extent.baseOffset - run.baseOffset) * offsetBytes,
  )
}

/** Lays runs out one after the other, by stream, joining those whose offsets are consecutive. */
export function packedLayout(runs: readonly Run[]): { run: Run; cuts: Run[] }[] {
  const sorted = [...runs].sort((a, b) => a.streamId - b.streamId || a.baseOffset - b.baseOffset)
  const packed: { run: Run; cuts: Run[] }[] = []
  let position = 0
  for (const { streamId, baseOffset, endOffset } of sorted) {
    const cut = { streamId, baseOffset, endOffset, position }
    const last = packed.at(-1)
    if (last?.run.streamId === streamId && last.run.endOffset === baseOffset) {
      last.run = { ...last.run, endOffset }
      last.cuts.push(cut)
    } else packed.push({ run: cut, cuts: [cut] })
    position += (endOffset - baseOffset) * offsetBytes
  }
  return packed
}
