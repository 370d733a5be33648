import type { NodeIdentity, StreamRecord } from '@pico/metadata'
import type { PartitionMiss, TopicRef } from './streams.ts'
import type { Topic } from './topic.ts'
import type { TopicConfig } from './topic-config.ts'

/** Where a stream belongs, for those about to be opened. */
export interface Place {
  readonly topic: Topic
  readonly partition: number
  readonly streamId: number
  /** It is to be had here, unless somebody else has it already. */
  readonly isClaimed?: true
}

/** Where partitions are looked up: the catalog of topics, or the names of our own streams. */
export interface PartitionDirectory {
  /** At hand, without asking SQL. */
  cached(ref: TopicRef): Topic | undefined
  /** In the order asked for. Those found are at hand from then on if `remember` says so. */
  find(refs: readonly TopicRef[], remember: boolean): Promise<(Topic | undefined)[]>
  /** What SQL says of them now, in any order; unknown ones are left out. */
  lookUp(refs: readonly TopicRef[]): Promise<Topic[]>
  forget(name: string): void
  /** The same for a topic that goes by its name or by its id. */
  forgetRef(ref: TopicRef | undefined): void
  /** The settings in force, as a row says. */
  configOf(row: StreamRecord): TopicConfig
}

/** Where streams are looked up by their paths. */
export interface PathDirectory {
  /** In the order asked for. */
  findPaths(names: readonly string[]): Promise<(PathPlace | 'missing' | 'gone')[]>
}

export interface PathPlace extends Place {
  readonly record: StreamRecord
}

/** What somebody wants opened. */
export type Wanted =
  | { readonly topic: TopicRef; readonly partition: number; readonly path?: never; readonly place?: never }
  | { readonly path: string; readonly topic?: never; readonly partition?: never; readonly place?: never }
  /** Known already, but nobody is to find it yet. */
  | { readonly place: Place; readonly path?: never; readonly topic?: never; readonly partition?: never }
/** Why a path leads to nothing. */
export type PathMiss = 'missing' | 'gone' | Elsewhere
/** Why a name leads to nothing. */
export type NotFound = Exclude<PartitionMiss, 'not-owner'> | Exclude<PathMiss, Elsewhere>

/** This node does not have the stream. */
export class Elsewhere {
  /** Who has; null when nobody does, or nobody knows. */
  readonly owner: NodeIdentity | null

  constructor(owner: NodeIdentity | null) {
    this.owner = owner
  }
}

/** Where each of those lies, or why it does not lie anywhere: in the order asked for. */
export async function placesOf(
  wanted: readonly Wanted[],
  { catalog, paths }: { readonly catalog: PartitionDirectory; readonly paths?: PathDirectory },
): Promise<(Place | NotFound)[]> {
  const refs = wanted.flatMap(({ topic }) => topic ?? [])
  const names = wanted.flatMap(({ path }) => path ?? [])
  const topics = refs.length === 0 ? [] : await catalog.find(refs, true)
  const found = names.length === 0 ? [] : ((await paths?.findPaths(names)) ?? [])
  const nextTopic = topics.values()
  const nextPath = found.values()
  return wanted.map((one) => {
    if (one.place !== undefined) return one.place
    if (one.path !== undefined) return nextPath.next().value ?? 'missing'
    const topic = nextTopic.next().value
    const streamId = topic?.partitions[one.partition]?.streamId
    if (topic === undefined) return unknown(one)
    return streamId === undefined ? 'unknown-partition' : { topic, partition: one.partition, streamId }
  })
}

/** There is no such thing. */
export function unknown({ topic }: Wanted): NotFound {
  if (topic === undefined) return 'missing'
  return topic.name === undefined ? 'unknown-topic-id' : 'unknown-topic'
}
