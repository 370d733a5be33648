/** What the records of a topic are held to: the schema it is bound to, pinned. */
export interface TopicSchema {
  readonly name: string
  readonly version: number
  /** As `pico.schema.encoding` says. */
  readonly encoding: 'plain' | 'confluent'
  /** A record without a value deletes its key: on a compacted topic it passes, elsewhere it is refused. */
  readonly tombstonesPass: boolean
}

/** What somebody who knows the schema found wrong with a record. */
export interface RecordProblem {
  /** In the batch, from 0. */
  readonly index: number
  /** Where in its value, '' for all of it. */
  readonly path: string
  readonly reason: string
}

/** What came of holding records to a schema. */
export interface Judgement {
  readonly schema: TopicSchema
  /** None: every record is as the schema wants it. */
  readonly problems: readonly RecordProblem[]
}

/** What streams need to know of schemas: which there are. */
export interface SchemaNames {
  /** `name:version` of what is named so, the newest version where none is given; null when there is no such schema. */
  pin(value: string): Promise<string | null>
}

/** Where there are no schemas. */
export const noSchemas: SchemaNames = { pin: async () => null }

/** A name, and perhaps which version of it. */
const namePattern = /^[A-Za-z0-9._-]{1,249}(?::[1-9][0-9]{0,8})?$/
const pinnedPattern = /^(.+):([0-9]+)$/

/** What is wrong with a value of `pico.schema`, or null. An empty one is none. */
export function schemaNameProblem(value: string): string | null {
  return value === '' || namePattern.test(value) ? null : 'must be the name of a schema, or name:version'
}

export interface SchemaTerms {
  /** `pico.schema`, as it was pinned when it was set. */
  readonly pinned: string
  readonly encoding: string
  readonly isCompacted: boolean
}

export function topicSchemaOf({ pinned, encoding, isCompacted }: SchemaTerms): TopicSchema {
  const [, name, version] = pinnedPattern.exec(pinned) ?? []
  // Nobody may take a topic for one without a schema because of how its settings are written.
  if (name === undefined) throw new RangeError(`pico.schema ${JSON.stringify(pinned)} was set without being pinned`)
  return {
    name,
    version: Number(version),
    encoding: encoding === 'confluent' ? 'confluent' : 'plain',
    tombstonesPass: isCompacted,
  }
}

export function isSameSchema(one: TopicSchema, other: TopicSchema): boolean {
  return (
    one.name === other.name &&
    one.version === other.version &&
    one.encoding === other.encoding &&
    one.tombstonesPass === other.tombstonesPass
  )
}

/** What is wrong with the records, for whoever wrote them. */
export function schemaProblemText({ schema, problems }: Judgement): string {
  const [first] = problems
  if (first === undefined) return ''
  const where = first.path === '' ? `record ${first.index}` : `record ${first.index}, at ${first.path}`
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  return `not as schema ${schema.name}:${schema.version} wants it: ${where}: ${first.reason}${more}`
}
