/** What a configuration belongs to, as DescribeConfigs and its kin number it (Kafka's ConfigResource.Type). */
export const configResource = { topic: 2, broker: 4, brokerLogger: 8, clientMetrics: 16, group: 32 } as const

/** Where a value comes from (Kafka's DescribeConfigsResponse.ConfigSource). */
export const configSource = { topic: 1, staticBroker: 4, default: 5 } as const

/** Kafka's DescribeConfigsResponse.ConfigType. */
export const configType = { boolean: 1, string: 2, int: 3, short: 4, long: 5, double: 6, list: 7 } as const

const resourceNames: Readonly<Record<number, string>> = {
  [configResource.topic]: 'a topic',
  [configResource.broker]: 'a broker',
  [configResource.brokerLogger]: "a broker's loggers",
  [configResource.clientMetrics]: 'client metrics',
  [configResource.group]: 'a group',
}

/** For messages. */
export function resourceKind(resourceType: number): string {
  return resourceNames[resourceType] ?? `resource type ${resourceType}`
}
