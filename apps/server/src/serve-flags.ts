/** What `pico serve` can be told, on its command line or by a variable: `--node-id` is `PICO_NODE_ID`. */
export interface ServeFlag {
  readonly describe: string
  /** A switch takes no value; any other flag takes one. */
  readonly switch?: true
  readonly default?: string
  readonly choices?: readonly string[]
}

export const serveFlags = {
  'node-id': { describe: 'Id of this node, unique in its cluster', default: '1' },
  'cluster-id': { describe: 'Id that clients see; fixed when the database is made', default: 'picomq' },
  slots: {
    describe: 'Its share of the streams when it is new to the cluster, beside that of other nodes; 0 takes none',
    default: '1',
  },
  'heartbeat-ms': { describe: 'How often a node of a cluster says in the database that it is alive', default: '2500' },
  'node-ttl-ms': {
    describe: 'How long after its last heartbeat a node counts as dead, to the others and to itself',
    default: '10000',
  },
  listen: { describe: 'Where streams are served over HTTP', default: '127.0.0.1:4437' },
  'no-http': { describe: 'Do not serve streams over HTTP on --listen', switch: true },
  protocol: { describe: 'What --listen speaks: Pico, or Durable Streams', choices: ['pico', 'ds'], default: 'pico' },
  'ds-listen': { describe: 'Where Durable Streams is served besides' },
  'schema-registry-listen': {
    describe: "Where named schemas are served in Confluent's REST protocol, for its serializers and tools",
  },
  'http-address': { describe: 'URL by which others reach --listen (default: where it listens)' },
  'cors-origin': { describe: 'Origins whose web pages may use the streams, with commas between; * for all' },
  'long-poll-timeout-sec': { describe: 'How long a long poll waits at the tail', default: '25' },
  'sse-max-duration-sec': {
    describe: 'How long a reader is fed events before it has to connect again',
    default: '55',
  },
  routing: {
    describe: 'A stream that another node has: redirect to that node, or say so (local)',
    choices: ['redirect', 'local'],
    default: 'redirect',
  },
  'admin-listen': { describe: 'Where health, metrics and the admin API are served', default: '127.0.0.1:9090' },
  'no-admin': { describe: 'Do not serve health, metrics and the admin API', switch: true },
  'kafka-listen': { describe: 'Where Kafka clients connect', default: '127.0.0.1:9092' },
  'kafka-advertise': { describe: 'host:port that Kafka clients are told to use (default: where it listens)' },
  'no-kafka': { describe: 'Do not serve the Kafka protocol', switch: true },
  'kafka-max-partitions': { describe: 'Partitions a topic may have', default: '1' },
  'kafka-default-partitions': { describe: 'Partitions of a topic whose creator does not say', default: '1' },
  'kafka-replication-factor': {
    describe: 'any: accept every replication factor and report 1; strict: accept only 1',
    choices: ['any', 'strict'],
    default: 'any',
  },
  'kafka-auto-create-topics': {
    describe: 'Create a topic when a client that allows it asks for one that is missing',
    choices: ['true', 'false'],
    default: 'true',
  },
  'kafka-max-request-size': { describe: 'Largest Kafka request', default: '100MiB' },
  'kafka-max-connections': { describe: 'Kafka connections at a time; more are refused', default: '10000' },
  'kafka-idle-timeout-sec': {
    describe: 'Close Kafka connections over which nothing moved for so long',
    default: '600',
  },
  'kafka-group-initial-rebalance-delay-ms': {
    describe: 'How long an empty group waits for more members after its first; 0 suits development',
    default: '3000',
  },
  'kafka-group-min-session-timeout-ms': {
    describe: 'Shortest session timeout that a member of a group may ask for',
    default: '6000',
  },
  'kafka-group-max-session-timeout-ms': {
    describe: 'Longest session timeout that a member of a group may ask for',
    default: '1800000',
  },
  auth: { describe: 'Who may use the HTTP listeners: everybody', choices: ['none', 'required'], default: 'none' },
  'insecure-allow-remote': { describe: 'Allow a listener without authentication beyond loopback', switch: true },
  'meta-url': {
    describe: 'Metadata: sqlite:<file>, sqlite::memory: or postgres://<user>:<password>@<host>:<port>/<database>',
    default: 'sqlite:./data/meta.db',
  },
  storage: {
    describe:
      'Objects: <bucket id>@file://<folder>, or <bucket id>@s3://<bucket>/<prefix>?region=&endpoint=&pathStyle=&sse=&storageClass=',
    default: '-2@file://./data/objects',
  },
  wal: {
    describe:
      'Write-ahead log: <bucket id>@<uri>?kind=segment|object&batchInterval=<ms>&maxBytesInBatch=&maxUnflushedBytes=&maxInflightUploadCount= (default: beside the objects; kind=segment with sqlite: and file://, else kind=object)',
  },
  'wal-cache-size': { describe: 'Memory for recent records', default: '112MiB' },
  'block-cache-size': { describe: 'Memory for records read back from objects', default: '100MiB' },
  'wal-upload-threshold': {
    describe: 'Size of the write-ahead log at which it is packed into objects',
    default: '80MiB',
  },
  'wal-upload-interval-ms': { describe: 'Age of the write-ahead log at which it is packed', default: '60000' },
  'maintenance-interval-ms': {
    describe: 'How often retention and compaction look for what is due, and objects no longer needed are deleted',
    default: '30000',
  },
  'shutdown-drain-sec': {
    describe: 'How long it goes on serving after SIGTERM while /ready fails, so that load balancers turn away',
    default: '0',
  },
  'log-level': {
    describe: 'Least severe log lines written',
    choices: ['debug', 'info', 'warn', 'error'],
    default: 'info',
  },
} as const satisfies Readonly<Record<string, ServeFlag>>

export type ServeFlagName = keyof typeof serveFlags

/** As given: text for flags, true or false for switches; undefined where there is neither value nor default. */
export type ServeArguments = Readonly<Partial<Record<ServeFlagName, string | boolean>>>

/** What `pico serve` is told when it is told nothing. */
export function serveDefaults(): ServeArguments {
  const defaults = Object.entries<ServeFlag>(serveFlags).map(([name, flag]) => [
    name,
    flag.switch ? false : flag.default,
  ])
  return Object.fromEntries(defaults)
}

export function variableOf(flag: string): string {
  return `PICO_${flag.replaceAll('-', '_').toUpperCase()}`
}
