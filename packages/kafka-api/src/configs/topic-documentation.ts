const inert = 'Accepted and kept, without effect here:'
const tiered = `${inert} every record is in object storage anyway.`

/** What each setting of a topic does here, for DescribeConfigs: by name, one for each of `topicSettings`. */
export const topicDocumentation: Readonly<Record<string, string>> = {
  'cleanup.policy':
    'What happens to old records: "delete" drops them by retention.ms and retention.bytes, "compact" keeps the last record of each key, and both may be given, separated by a comma.',
  'compression.gzip.level': `${inert} gzip is used at its default level.`,
  'compression.lz4.level': `${inert} lz4 is used at its default level.`,
  'compression.type':
    'How batches are compressed as they are stored: "producer" keeps what was sent; "uncompressed", "gzip", "snappy", "lz4" or "zstd" stores every batch that way.',
  'compression.zstd.level': `${inert} zstd is used at its default level.`,
  'delete.retention.ms':
    'How long, in milliseconds, a tombstone (a record with a key and no value) stays after compaction has first seen it, in a topic that is compacted.',
  'errors.deadletterqueue.group.enable': `${inert} there are no share groups.`,
  'file.delete.delay.ms': `${inert} objects that nothing points into are deleted by the server's own schedule.`,
  'flush.messages': `${inert} every acknowledged record is durable.`,
  'flush.ms': `${inert} every acknowledged record is durable.`,
  'follower.replication.throttled.replicas': `${inert} there is no replication between brokers.`,
  'index.interval.bytes': `${inert} indexes have a point about every 64 KiB.`,
  'leader.replication.throttled.replicas': `${inert} there is no replication between brokers.`,
  'local.retention.bytes': tiered,
  'local.retention.ms': tiered,
  'max.compaction.lag.ms':
    'How long, in milliseconds, a record may wait in a topic with the policy "compact" until compaction looks at it, however little is new. It is counted from the youngest of the records that were packed together with it.',
  'max.decompressed.message.bytes': 'Most bytes that a batch may unpack to. More than 128 MiB is taken as 128 MiB.',
  'max.message.bytes': 'Largest batch of records, in bytes as it is sent, its header included.',
  'message.timestamp.after.max.ms':
    "How far, in milliseconds, a record's timestamp may be ahead of the broker's clock. Only where message.timestamp.type is CreateTime.",
  'message.timestamp.before.max.ms':
    "How far, in milliseconds, a record's timestamp may be behind the broker's clock. Only where message.timestamp.type is CreateTime.",
  'message.timestamp.type':
    'Whose time a record has: "CreateTime" the producer\'s, "LogAppendTime" the broker\'s when it is appended.',
  'min.cleanable.dirty.ratio':
    'A topic with the policy "compact" is compacted when so large a part of its bytes has not been compacted before.',
  'min.compaction.lag.ms':
    'How long, in milliseconds, a record is at least kept, whatever its key, in a topic that is compacted.',
  'min.insync.replicas': `${inert} a record is acknowledged when the object store, or the disk of the log, has it.`,
  'pico.schema':
    'Schema that the topic is bound to, as "name:version". A name alone is bound to the newest version there is when it is set.',
  'pico.schema.encoding':
    'How the values of records are written: "plain" is the value alone; "confluent" has a zero byte and the id of the schema before it, and for Protobuf the indexes of the message type.',
  'pico.schema.validate':
    'Whether records are held to pico.schema before they are written. A batch with one that is not as the schema wants it is refused as a whole. Records without a value pass in topics with the policy "compact" only.',
  preallocate: `${inert} segments of the log are always of fixed size.`,
  'remote.copy.lag.bytes': tiered,
  'remote.copy.lag.ms': tiered,
  'remote.log.copy.disable': tiered,
  'remote.log.delete.on.disable': tiered,
  'remote.storage.enable': tiered,
  'retention.bytes':
    'How many bytes each partition keeps at least before the oldest are dropped; -1 for no limit. Only with the policy "delete".',
  'retention.ms':
    'How long, in milliseconds, records are kept at least; -1, the default here, for ever. Only with the policy "delete".',
  'segment.bytes': 'No batch may be larger than that. There are no segments of a topic here.',
  'segment.index.bytes': `${inert} there are no segments of a topic here.`,
  'segment.jitter.ms': `${inert} there are no segments of a topic here.`,
  'segment.ms': `${inert} there are no segments of a topic here.`,
  'unclean.leader.election.enable': `${inert} no leader ever lacks an acknowledged record.`,
}
