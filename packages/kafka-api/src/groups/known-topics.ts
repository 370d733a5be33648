import type { Streams } from '@pico/streams'

/** What a request about offsets needs to know of the topics it names. */
export interface KnownTopics {
  /** By name: those that exist. */
  readonly topicIds: ReadonlyMap<string, string>
  has(topic: string, partition: number): boolean
}

/** Looks up `names`, each once. @throws MetadataUnavailableError */
export async function knownTopics(streams: Streams, names: Iterable<string>): Promise<KnownTopics> {
  const refs = [...new Set(names)].map((name) => ({ name }))
  const found = new Map<string, { topicId: string; partitions: readonly unknown[] }>()
  for (const topic of await streams.describeTopics(refs)) if (topic !== undefined) found.set(topic.name, topic)
  return {
    topicIds: new Map([...found].map(([name, { topicId }]) => [name, topicId])),
    has: (topic, partition) => partition >= 0 && partition < (found.get(topic)?.partitions.length ?? 0),
  }
}
