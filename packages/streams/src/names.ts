/**
 * Topic and stream names (architecture section 10).
 *
 * Partition 0 of topic `orders.eu` is the stream `/orders.eu`; partition p > 0 is `/_streams/orders.eu/p`. A stream that HTTP made
 * as `/orders/eu` is topic `orders.eu` when that is a legal topic name and free.
 */

/** First path segments that are ours. What lies under them has no topic, except the partitions we keep in `/_streams`. */
const reservedSegments: ReadonlySet<string> = new Set(['_sys', '_schemas', '_streams'])

const topicNameLengthMax = 249
const legalTopicName = /^[a-zA-Z0-9._-]+$/

/** What is wrong with a topic's name, in Kafka's terms (org.apache.kafka.common.internals.Topic), or null. */
export function topicNameProblem(topic: string): string | null {
  if (topic === '') return 'topic name is empty'
  if (topic === '.' || topic === '..') return `topic name "${topic}" is not allowed`
  if (topic.length > topicNameLengthMax) {
    return `topic name is ${topic.length} characters long, ${topicNameLengthMax} are allowed`
  }
  if (!legalTopicName.test(topic)) {
    return `topic name ${JSON.stringify(topic)} has characters other than ASCII letters, digits, '.', '_' and '-'`
  }
  return null
}

/**
 * Kafka's metric names turn '.' into '_', so two topics that differ only there collide. Names without either collide with
 * themselves only.
 */
export function collisionName(topic: string): string {
  return topic.replaceAll('.', '_')
}

/** The stream that holds a partition of a topic that was created as a topic. */
export function streamNameOf(topic: string, partition: number): string {
  // A topic may be called as a reserved segment is: Confluent's Schema Registry keeps its schemas in the topic `_schemas`.
  if (partition > 0 || reservedSegments.has(topic)) return `/_streams/${topic}/${partition}`
  return `/${topic}`
}

/** The topic that a stream created by its path would be, or null when only HTTP can know it. */
export function topicOfStreamName(streamName: string): string | null {
  const segments = streamName.split('/').slice(1)
  if (segments.length === 0 || segments.includes('') || reservedSegments.has(segments[0] ?? '')) return null
  const topic = segments.join('.')
  return topicNameProblem(topic) === null ? topic : null
}
