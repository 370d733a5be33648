export {
  InvalidDefaultsError,
  PartitionGoneError,
  ProducerStateUnreadableError,
  StreamsElsewhereError,
} from './errors.ts'
export type { InternalStream, InternalStreamAnswer, InternalStreams, StreamLabels } from './internal-streams.ts'
export type { JudgeRecords } from './judged-appends.ts'
export {
  defaultMembershipSettings,
  joinAlone,
  joinCluster,
  type Membership,
  type MembershipParts,
  type MembershipSettings,
} from './membership.ts'
export { streamNameOf, topicNameProblem, topicOfStreamName } from './names.ts'
export { openStreams, type StreamsComponents } from './open-streams.ts'
export type {
  AppendAccepted,
  AppendContext,
  AppendOutcome,
  AppendRefusal,
  Partition,
  PartitionChange,
  TimestampHit,
} from './partition.ts'
export type {
  AppendRecordsOutcome,
  AppendTerms,
  CloseOutcome,
  CreateStreamOutcome,
  DuplicateAppend,
  ForkPoint,
  HttpProducerStamp,
  NewPathStream,
  NotOwner,
  PathStream,
  PathStreamAnswer,
  PathStreams,
  RecordsRefusal,
  StreamDescription,
  StreamExpiry,
  StreamMiss,
} from './path-streams.ts'
export type { ProducerDescription } from './producer-table.ts'
export { recordBatchEntries } from './record-batch-entries.ts'
export { defaultStreamsSettings, type StreamsSettings } from './settings.ts'
export type {
  AlterTopicOutcome,
  CreateTopicOutcome,
  CreateTopicRefusal,
  DeletedTopic,
  NewTopic,
  PartitionDescription,
  PartitionMiss,
  PartitionSize,
  Streams,
  TopicConfigChange,
  TopicDeletionWatcher,
  TopicDescription,
  TopicRef,
} from './streams.ts'
export {
  parseTopicConfig,
  type TopicConfig,
  type TopicConfigEntry,
  type TopicConfigOutcome,
  topicConfigEntries,
} from './topic-config.ts'
export {
  type Judgement,
  type RecordProblem,
  type SchemaNames,
  schemaProblemText,
  type TopicSchema,
} from './topic-schema.ts'
export { listItems, type TopicSetting, topicSettings } from './topic-settings.ts'
