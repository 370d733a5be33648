import { parseTopicConfig, settingProblem, type TopicConfig } from './topic-config.ts'
import type { SchemaNames } from './topic-schema.ts'

export interface ConfigChangeParts {
  readonly operatorDefaults: Readonly<Record<string, string>>
  readonly schemas: SchemaNames
}

/** `unknown-schema`: there is none of the name that `pico.schema` gives. Messages name the key. */
export type ChangedConfig =
  | { readonly config: TopicConfig; readonly invalid?: never }
  | { readonly config?: never; readonly invalid: string; readonly kind: 'invalid-config' | 'unknown-schema' }

/** What is said of one that is not there, or is deleted while a topic is bound to it. */
export function unknownSchema(schema: string): string {
  return `invalid value ${JSON.stringify(schema)} for pico.schema: there is no such schema`
}

/**
 * The settings that a topic is to have, whoever asks and however: the one way into a topic. A schema is pinned here, to its newest
 * version where none is named; one that the topic has already (`before`) stays as it is.
 */
export async function changedTopicConfig(
  overrides: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
  { operatorDefaults, schemas }: ConfigChangeParts,
): Promise<ChangedConfig> {
  const wanted = overrides['pico.schema']
  const schema = wanted?.trim() ?? ''
  const problem = wanted === undefined ? null : settingProblem('pico.schema', wanted)
  if (problem !== null) return { kind: 'invalid-config', invalid: problem }
  const pinned = schema === '' || schema === before['pico.schema'] ? schema : await schemas.pin(schema)
  if (pinned === null) return { kind: 'unknown-schema', invalid: unknownSchema(schema) }
  const settled = wanted === undefined ? overrides : { ...overrides, 'pico.schema': pinned }
  const { config, invalid } = parseTopicConfig(settled, operatorDefaults)
  return config === undefined ? { kind: 'invalid-config', invalid } : { config }
}
