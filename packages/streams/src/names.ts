/**
 * Topic and stream names (architecture section 10).
 *
 * Partition 0 of topic `orders.eu` is the stream `/orders.eu`; partition p > 0 is `/_streams/orders.eu/p`. A stream that HTTP made
 * as `/orders/eu` is topic `orders.eu` when that is a legal topic name and free.
 */

/** First path segments that are ours. What lies under them has no topic, except the partitions we keep in `/_streams`. */
const reservedSegments: ReadonlySet<string> = new Set(['_sys', '_schemas', '_streams'])

const topicNameLengthMax = 249
const pathBytesMax = 1024
const legalTopicName = /^[a-zA-Z0-9._-]+$/

/** What is wrong with a path as the name of a stream that somebody wants to make, or null. */
export function streamPathProblem(path: string): string | null {
  if (!path.startsWith('/') || path === '/') return 'a stream is named by a path: /orders/eu'
  if (Buffer.byteLength(path) > pathBytesMax) return `the path is longer than ${pathBytesMax} bytes`
  const segments = path.slice(1).split('/')
  if (segments.includes('')) return 'the path has an empty segment'
  if (segments.includes('.') || segments.includes('..')) return 'the path has a segment . or ..'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'the path has control characters'
  if (!path.isWellFormed()) return 'the path is no Unicode text'
  if (reservedSegments.has(segments[0] ?? '')) return `/${segments[0]} is reserved`
  return null
}

/** Streams of our own, which nobody gets by their paths: neither to read nor to write. */
export function isInternalPath(path: string): boolean {
  return /^\/(_sys|_schemas)(\/|$)/.test(path)
}

/** Where, in byte order of names, that what follows a name of our own is nobody's but ours ends; null for any other name. */
export function endOfReserved(streamName: string): string | null {
  const segment = streamName.slice(1).split('/', 1)[0] ?? ''
  // '0' comes next after '/'.
  return reservedSegments.has(segment) ? `/${segment}0` : null
}

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
