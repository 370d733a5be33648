export { groupErrorCodes } from './error-codes.ts'
export type {
  DeleteGroupEvent,
  DeleteOffsetsEvent,
  GroupEvent,
  GroupRequest,
  HeartbeatEvent,
  JoinEvent,
  LeaveEvent,
  OffsetCommitEvent,
  OffsetFetchEvent,
  Protocol,
  SyncEvent,
  TickEvent,
  TopicPartitions,
  TopicsDeletedEvent,
  UnloadEvent,
  WriteCompletedEvent,
  WriteFailedEvent,
} from './events.ts'
export { type GroupPhase, type GroupState, isForgettable, newGroup } from './group-state.ts'
export { committedOffsets } from './offset-fetch.ts'
export type {
  GroupDeletedRecord,
  GroupMetadataRecord,
  GroupRecord,
  GroupWrite,
  OffsetCommitRecord,
  OffsetTombstoneRecord,
} from './records.ts'
export { refusal } from './refusal.ts'
export { replay, snapshot } from './replay.ts'
export type {
  DeleteGroupResponse,
  DeleteOffsetsResponse,
  FetchedTopic,
  HeartbeatResponse,
  JoinedMember,
  JoinResponse,
  LeaveResponse,
  OffsetCommitResponse,
  OffsetFetchResponse,
  Reply,
  SyncResponse,
  TopicErrors,
} from './replies.ts'
export { defaultGroupSettings, type GroupSettings } from './settings.ts'
export { type StepResult, step } from './step.ts'
export {
  type DescribedGroup,
  type DescribedMember,
  describeGroup,
  isListed,
  type ListedGroup,
  listGroup,
} from './views.ts'
