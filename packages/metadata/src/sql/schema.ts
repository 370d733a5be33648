import type { Generated } from 'kysely'

/**
 * The tables, as both dialects have them. Offsets, sizes, times and ids are safe integers; flags are 0 or 1; JSON and UUIDs are
 * text. A `null` owner, retention or end means "none".
 */
export interface Schema {
  nodes: NodesTable
  streams: StreamsTable
  stream_epochs: StreamEpochsTable
  stream_states: StreamStatesTable
  wal_objects: WalObjectsTable
  wal_segments: WalSegmentsTable
  data_objects: DataObjectsTable
  extents: ExtentsTable
  doomed_objects: DoomedObjectsTable
  transfers: TransfersTable
  leases: LeasesTable
  schema_names: SchemaNamesTable
  schema_versions: SchemaVersionsTable
  schema_imports: SchemaImportsTable
  schema_ids: SchemaIdsTable
  changes: ChangesTable
  counters: CountersTable
  facts: FactsTable
}

/** One row per run of a node. Rows of earlier runs stay: they answer whether a WAL object of that run was committed. */
interface NodesTable {
  node_id: number
  node_epoch: number
  /** 1 once a newer epoch, or another node, has taken over. */
  fenced: number
  addresses: string
  slots: number
  registered_at_ms: number
  /** By the database's clock. */
  heartbeat_at_ms: number
  /** Sequence of the last committed WAL object of this epoch. */
  wal_sequence: number
  /** A commit of an earlier attempt, whose outcome was settled before it arrived, changes nothing. */
  wal_attempt: number
}

export interface StreamsTable {
  stream_id: number
  name: string
  topic: string | null
  /** The topic with `.` as `_`: equal keys collide (Kafka's rule for metric names). */
  topic_key: string | null
  partition: number
  topic_id: string
  content_type: string
  config: string
  created_at_ms: number
  owner_node_id: number | null
  owner_node_epoch: number | null
  leader_epoch: number
  start_offset: number
  packed_offset: number
  /** Sum of the lengths of the stream's extents. */
  packed_bytes: number
  /** 0 creating, 1 live, 2 gone. */
  life: number
  closed: number
  closed_by: string | null
  expires_at_ms: number | null
  idle_ttl_ms: number | null
  fork_source_id: number | null
  fork_source_name: string | null
  fork_offset: number | null
  fork_sub_offset: number | null
  /** Parsed from `config`; null where retention does not apply. */
  retention_ms: number | null
  retention_bytes: number | null
  /** Parsed from `config`; null where compaction by key may take as long as it likes. */
  max_compaction_lag_ms: number | null
  /** The least `aged_from_ms` that an extent had which no compaction by key has looked at, or an earlier time; null = all is clean. */
  dirty_since_ms: number | null
  /** Parsed from `config`: the version of a schema that `pico.schema` names; both null where there is none. */
  schema_name: string | null
  schema_version: number | null
}

interface StreamEpochsTable {
  stream_id: number
  leader_epoch: number
  start_offset: number
}

interface StreamStatesTable {
  stream_id: number
  state: Uint8Array
}

interface WalObjectsTable {
  node_id: number
  node_epoch: number
  sequence: number
  object_key: string
  length_bytes: number
  wal_index: Uint8Array
}

interface WalSegmentsTable {
  segment_id: number
  node_id: number
  node_epoch: number
  object_key: string
  size_bytes: number
  committed_bytes: number | null
}

export interface DataObjectsTable {
  object_id: number
  object_key: string
  length_bytes: number
  /** Sum and number of the extents that point into the object. A row with none does not outlive its transaction. */
  live_bytes: number
  extent_count: number
}

export interface ExtentsTable {
  stream_id: number
  base_offset: number
  end_offset: number
  object_id: number
  position: number
  length_bytes: number
  max_timestamp_ms: number
  /** What `retention.ms` counts from: the largest record timestamp, or the commit's time where no record has one. */
  aged_from_ms: number
  crc32c: number | null
  /** Under whose id the bytes lie in a data object, where that is not the stream's own: of a fork's extents. */
  object_stream_id: number | null
}

/** Objects to delete once their time has come; for an announced upload that time lies ahead. */
interface DoomedObjectsTable {
  object_key: string
  doomed_at_ms: number
}

export interface TransfersTable {
  transfer_id: number
  stream_id: number
  to_node_id: number
  /** 0 pending, 1 done, 2 failed. */
  state: number
  requested_at_ms: number
  ended_at_ms: number | null
}

interface LeasesTable {
  name: string
  node_id: number
  node_epoch: number
  /** By the database's clock. */
  expires_at_ms: number
}

/** One row per name that ever had a version or a policy. It stays when its versions go, so that numbers are not used again. */
interface SchemaNamesTable {
  name: string
  last_version: number
  policy: string | null
}

export interface SchemaVersionsTable {
  name: string
  version: number
  schema_id: number
  kind: string
  text: string
  /** JSON: what the text imports. */
  imports: string
  fingerprint: string
  created_at_ms: number
  /** 1 once it is not offered any more. */
  deleted: number
}

/** Parsed from `imports`, to find who imports a version. */
interface SchemaImportsTable {
  name: string
  version: number
  imported_name: string
  imported_version: number
}

/** Which id stands for what: for ever. */
interface SchemaIdsTable {
  schema_id: number
  fingerprint: string
}

/** One row per changed topic and transaction. */
interface ChangesTable {
  /** Given by the database; each dialect knows how these follow one another. */
  position: Generated<unknown>
  topic_id: string
  /** By the database's clock. */
  at_ms: number
}

interface CountersTable {
  name: string
  /** The next number to give out. */
  next: number
}

interface FactsTable {
  name: string
  value: string
}
