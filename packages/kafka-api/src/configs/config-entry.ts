import { configSource, configType } from './config-resource.ts'

/** One key of a resource, with all that DescribeConfigs can say of it. */
export interface ConfigEntry {
  readonly name: string
  readonly value: string | null
  readonly type: keyof typeof configType
  readonly readOnly: boolean
  /** Every value that the key was given, most specific first: the first one is in force. May be empty, as in Kafka. */
  readonly synonyms: readonly ConfigSynonym[]
  readonly source: number
  readonly documentation: string
}

export interface ConfigSynonym {
  readonly name: string
  readonly value: string | null
  readonly source: number
}

export interface EntryTerms {
  readonly includeSynonyms: boolean
  readonly includeDocumentation: boolean
}

/** As the wire has it: what a version has no field for is left out when it is encoded. */
export function wireEntry(entry: ConfigEntry, { includeSynonyms, includeDocumentation }: EntryTerms, version: number) {
  const { name, value, readOnly, source, type, documentation } = entry
  return {
    name,
    value,
    readOnly,
    isDefault: version === 0 && source === configSource.default,
    configSource: source,
    isSensitive: false,
    synonyms: includeSynonyms ? entry.synonyms : [],
    configType: configType[type],
    documentation: includeDocumentation ? documentation : null,
  }
}
