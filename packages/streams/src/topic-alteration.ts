import {
  type Metadata,
  MetadataUnavailableError,
  type NewStream,
  SchemaMissingError,
  StreamExistsError,
} from '@pico/metadata'
import { streamNameOf } from './names.ts'
import type { AlterTopicOutcome, TopicConfigChange } from './streams.ts'
import type { Topic } from './topic.ts'
import { type ConfigChangeParts, changedTopicConfig, unknownSchema } from './topic-config-change.ts'

/** What became of a topic that was to be altered: as it is, or only would be, from now on. */
export type TopicAlteration =
  | { readonly topic: Topic; readonly isDone: boolean; readonly refused?: never }
  | { readonly topic?: never; readonly isDone?: never; readonly refused: NonNullable<AlterTopicOutcome['refused']> }

export interface AlterationParts extends ConfigChangeParts {
  readonly metadata: Metadata
  readonly nowMs: () => number
  /** What SQL says of the topic now. */
  readonly lookUp: () => Promise<Topic | undefined>
}

const contentType = 'application/octet-stream'
const unknownTopic: TopicAlteration = { refused: { kind: 'unknown-topic' } }

/** Looks, changes and compares, until nobody else was faster. */
export async function alterConfig(
  parts: AlterationParts,
  change: TopicConfigChange,
  validateOnly: boolean,
): Promise<TopicAlteration> {
  const { metadata, lookUp } = parts
  for (;;) {
    const topic = await lookUp()
    if (topic === undefined) return unknownTopic
    const changed = change(topic.config.overrides)
    if ('invalid' in changed) return { refused: { kind: 'invalid-config', message: changed.invalid } }
    const { config, invalid } = await changedTopicConfig(changed.overrides, topic.config.overrides, parts)
    if (config === undefined) return { refused: { kind: 'invalid-config', message: invalid } }
    if (validateOnly) return { topic: { ...topic, config }, isDone: false }
    const from = topic.config.overrides
    const outcome = await settled(
      () => set(metadata, topic.topicId, { from, to: config.overrides }),
      async () => (sameSettings((await lookUp())?.config.overrides, config.overrides) ? 'set' : null),
    )
    if (outcome === 'set') return { topic: { ...topic, config }, isDone: true }
    if (outcome === 'gone') return unknownTopic
    if (outcome instanceof SchemaMissingError) {
      const message = unknownSchema(`${outcome.schemaName}:${outcome.version}`)
      return { refused: { kind: 'invalid-config', message } }
    }
  }
}

/** A schema may be deleted between being looked up and being bound: the database sees to it that it is not bound then. */
async function set(metadata: Metadata, ...change: Parameters<Metadata['streams']['setTopicConfig']>) {
  try {
    return await metadata.streams.setTopicConfig(...change)
  } catch (error) {
    if (error instanceof SchemaMissingError) return error
    throw error
  }
}

/** The new partitions are streams of their own, with the settings of the others. */
export async function createPartitions(
  parts: AlterationParts,
  count: number,
  problem: (topic: Topic) => string | null,
  validateOnly: boolean,
): Promise<TopicAlteration> {
  const { metadata, nowMs, lookUp } = parts
  const topic = await lookUp()
  if (topic === undefined) return unknownTopic
  const message = problem(topic)
  if (message !== null) return { refused: { kind: 'invalid-partitions', message } }
  if (validateOnly) return { topic, isDone: false }
  const { name, topicId, config, partitions } = topic
  const added = Array.from({ length: count - partitions.length }, (_, index): NewStream => {
    const partition = partitions.length + index
    return {
      name: streamNameOf(name, partition),
      topic: name,
      partition,
      topicId,
      contentType,
      config: config.overrides,
    }
  })
  await settled(
    async () => {
      try {
        await metadata.streams.create(added, nowMs())
      } catch (error) {
        if (!(error instanceof StreamExistsError)) throw error // another node was faster: what is there now is the answer
      }
    },
    async () => (((await lookUp())?.partitions.length ?? 0) >= count ? undefined : null),
  )
  const grown = await lookUp()
  return grown === undefined ? unknownTopic : { topic: grown, isDone: true }
}

/** When the answer of a change was lost, the rows say whether it was made: `reread` gives its outcome, or null when it was not. */
async function settled<T>(change: () => Promise<T>, reread: () => Promise<T | null>): Promise<T> {
  try {
    return await change()
  } catch (error) {
    if (!(error instanceof MetadataUnavailableError)) throw error
    const outcome = await reread()
    if (outcome === null) throw error
    return outcome
  }
}

function sameSettings(
  one: Readonly<Record<string, string>> | undefined,
  other: Readonly<Record<string, string>>,
): boolean {
  return (
    one !== undefined &&
    Object.keys(one).length === Object.keys(other).length &&
    Object.entries(one).every(([name, value]) => other[name] === value)
  )
}
