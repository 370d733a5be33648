import type { Extent, NewExtent, NewObject, PackCommit } from '../log-index.ts'
import type { Metadata } from '../metadata.ts'
import type { NodeIdentity } from '../node-registry.ts'
import type { NewStream, StreamRecord } from '../stream-catalog.ts'

/** Opens an empty database; `onStatement` is to be called with the text of every statement before it runs. */
export type OpenMetadata = (settings: { onStatement: (sql: string) => void }) => Promise<Metadata>

/** A metadata under test, with one registered node. */
export interface World {
  readonly metadata: Metadata
  readonly node: NodeIdentity
  /** Every statement so far, in order; to be emptied by who counts. */
  readonly statements: string[]
}

/** Far from any test's dates. */
export const farMs = 8_000_000_000_000

export async function openWorld(open: OpenMetadata): Promise<World> {
  const statements: string[] = []
  const metadata = await open({ onStatement: (sql) => statements.push(sql) })
  const node = await metadata.nodes.register({ nodeId: 1, addresses: { kafka: '127.0.0.1:9092' }, slots: 1 }, 1)
  return { metadata, node, statements }
}

export function topicStream(topic: string, partition = 0, config: Readonly<Record<string, string>> = {}): NewStream {
  return {
    name: partition === 0 ? `/${topic}` : `/_streams/${topic}/${partition}`,
    topic,
    partition,
    topicId: uuidOf(topic),
    contentType: 'application/octet-stream',
    config,
  }
}

export function httpStream(name: string): NewStream {
  return { name, topic: null, partition: 0, topicId: uuidOf(name), contentType: 'text/plain', config: {} }
}

/** A UUID that is the same for the same text. */
function uuidOf(text: string): string {
  const hex = Buffer.from(text.padEnd(16, '.')).toString('hex').slice(-32)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Creates topics' first partitions and opens them for the world's node. */
export async function openedStreams(world: World, ...topics: string[]): Promise<StreamRecord[]> {
  const records = await world.metadata.streams.create(
    topics.map((topic) => topicStream(topic)),
    1,
  )
  return world.metadata.streams.open(
    world.node,
    records.map((record) => record.streamId),
  )
}

/** `[baseOffset, endOffset)` of a stream in an object, ten bytes an offset, at `position` (default ten bytes an offset from 0). */
export function extentOf(
  streamId: number,
  baseOffset: number,
  endOffset: number,
  objectId: number,
  rest: Partial<NewExtent> = {},
): NewExtent {
  return {
    streamId,
    baseOffset,
    endOffset,
    objectId,
    position: baseOffset * 10,
    lengthBytes: (endOffset - baseOffset) * 10,
    maxTimestampMs: 1000 + endOffset,
    crc32c: null,
    ...rest,
  }
}

export function dataObject(objectId: number): NewObject {
  return { objectId, key: `data/${objectId}`, lengthBytes: 1_000_000 }
}

/** A pack of freshly uploaded data objects, one per object id that `extents` name, each announced. */
export async function packed(
  world: World,
  extents: readonly NewExtent[],
  rest: Partial<PackCommit> = {},
  nowMs = 2000,
) {
  const objects = [...new Set(extents.map((extent) => extent.objectId))].map(dataObject)
  for (const object of objects) await world.metadata.log.announceUpload(object.key, farMs)
  return world.metadata.log.commitPack(
    world.node,
    { objects, extents, states: [], walObjects: [], walSegments: [], ...rest },
    nowMs,
  )
}

/** Commits WAL objects `wal/{node}/{epoch}/{sequence}` for these sequences. */
export async function committedWal(world: World, ...sequences: number[]): Promise<void> {
  await world.metadata.log.commitWalObjects(
    world.node,
    sequences.map((sequence) => walObject(world.node, sequence)),
  )
}

export function walObject(node: NodeIdentity, sequence: number) {
  return { sequence, key: walKey(node, sequence), lengthBytes: 1_000_000, index: Uint8Array.of(sequence, 0, 255) }
}

export function walKey(node: NodeIdentity, sequence: number): string {
  return `wal/${node.nodeId}/${node.nodeEpoch}/${sequence}`
}

export async function doomedKeys(world: World, beforeMs = farMs - 1): Promise<string[]> {
  return (await world.metadata.log.doomed(beforeMs, 1000)).map((object) => object.key).sort()
}

/** A stream's extents as its owner finds them, in short: `[base, end) key@position`. */
export async function extentsOf(world: World, streamId: number, node = world.node): Promise<string[]> {
  const [stream] = await world.metadata.streams.open(node, [streamId])
  return (stream?.extents ?? []).map(inShort)
}

export function inShort(extent: Extent): string {
  return `[${extent.baseOffset}, ${extent.endOffset}) ${extent.objectKey}@${extent.position}`
}
