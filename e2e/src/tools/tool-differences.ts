/**
 * Where Kafka's tools show something else of us than of Kafka: what only one of both prints, and why. An entry that nothing meets any
 * more is an error.
 */
export interface ToolDifference {
  readonly step: string
  readonly kafka: readonly string[]
  readonly pico: readonly string[]
  readonly why: string
}

const retention =
  'Our log.retention.ms has a default of its own, for ever; Kafka has one in hours, which is no synonym once the topic has its own.'

export const toolDifferences: readonly ToolDifference[] = [
  {
    step: 'topics: create with a bad name',
    kafka: [
      "Error while executing topic command : Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'",
    ],
    pico: [
      `Error while executing topic command : topic name "a b" has characters other than ASCII letters, digits, '.', '_' and '-'`,
    ],
    why: 'The same in other words.',
  },
  ...['configs: describe a topic', 'configs: describe the changed topic'].map((step) => ({
    step,
    kafka: ['retention.ms=100000000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=100000000}'],
    pico: [
      'retention.ms=100000000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=100000000, DEFAULT_CONFIG:log.retention.ms=-1}',
    ],
    why: retention,
  })),
  {
    step: 'admin client',
    kafka: ['access rules: SecurityDisabledException', 'quotas: {}', 'transactions: []', 'features: 7'],
    pico: [
      'access rules: UnsupportedVersionException',
      'quotas: UnsupportedVersionException',
      'transactions: UnsupportedVersionException',
      'features: 0',
    ],
    why: 'There are neither access rules nor quotas nor transactions, so that nothing to ask about them is offered; no feature has a version.',
  },
]
