export {
  type Api,
  type ApiDeclaration,
  api,
  type RequestInput,
  type RequestOf,
  type ResponseInput,
  type ResponseOf,
} from './api.ts'
export {
  type AddOffsetsToTxnRequest,
  type AddOffsetsToTxnResponse,
  addOffsetsToTxn,
} from './apis/add-offsets-to-txn.ts'
export {
  type AddPartitionsToTxnRequest,
  type AddPartitionsToTxnResponse,
  addPartitionsToTxn,
} from './apis/add-partitions-to-txn.ts'
export { type AddRaftVoterRequest, type AddRaftVoterResponse, addRaftVoter } from './apis/add-raft-voter.ts'
export {
  type AllocateProducerIdsRequest,
  type AllocateProducerIdsResponse,
  allocateProducerIds,
} from './apis/allocate-producer-ids.ts'
export {
  type AlterClientQuotasRequest,
  type AlterClientQuotasResponse,
  alterClientQuotas,
} from './apis/alter-client-quotas.ts'
export { type AlterConfigsRequest, type AlterConfigsResponse, alterConfigs } from './apis/alter-configs.ts'
export {
  type AlterPartitionReassignmentsRequest,
  type AlterPartitionReassignmentsResponse,
  alterPartitionReassignments,
} from './apis/alter-partition-reassignments.ts'
export {
  type AlterReplicaLogDirsRequest,
  type AlterReplicaLogDirsResponse,
  alterReplicaLogDirs,
} from './apis/alter-replica-log-dirs.ts'
export {
  type AlterShareGroupOffsetsRequest,
  type AlterShareGroupOffsetsResponse,
  alterShareGroupOffsets,
} from './apis/alter-share-group-offsets.ts'
export {
  type AlterUserScramCredentialsRequest,
  type AlterUserScramCredentialsResponse,
  alterUserScramCredentials,
} from './apis/alter-user-scram-credentials.ts'
export { type ApiVersionsRequest, type ApiVersionsResponse, apiVersions } from './apis/api-versions.ts'
export {
  type ConsumerGroupDescribeRequest,
  type ConsumerGroupDescribeResponse,
  consumerGroupDescribe,
} from './apis/consumer-group-describe.ts'
export {
  type ConsumerGroupHeartbeatRequest,
  type ConsumerGroupHeartbeatResponse,
  consumerGroupHeartbeat,
} from './apis/consumer-group-heartbeat.ts'
export { type CreateAclsRequest, type CreateAclsResponse, createAcls } from './apis/create-acls.ts'
export {
  type CreateDelegationTokenRequest,
  type CreateDelegationTokenResponse,
  createDelegationToken,
} from './apis/create-delegation-token.ts'
export {
  type CreatePartitionsRequest,
  type CreatePartitionsResponse,
  createPartitions,
} from './apis/create-partitions.ts'
export { type CreateTopicsRequest, type CreateTopicsResponse, createTopics } from './apis/create-topics.ts'
export { type DeleteAclsRequest, type DeleteAclsResponse, deleteAcls } from './apis/delete-acls.ts'
export { type DeleteGroupsRequest, type DeleteGroupsResponse, deleteGroups } from './apis/delete-groups.ts'
export { type DeleteRecordsRequest, type DeleteRecordsResponse, deleteRecords } from './apis/delete-records.ts'
export {
  type DeleteShareGroupOffsetsRequest,
  type DeleteShareGroupOffsetsResponse,
  deleteShareGroupOffsets,
} from './apis/delete-share-group-offsets.ts'
export {
  type DeleteShareGroupStateRequest,
  type DeleteShareGroupStateResponse,
  deleteShareGroupState,
} from './apis/delete-share-group-state.ts'
export { type DeleteTopicsRequest, type DeleteTopicsResponse, deleteTopics } from './apis/delete-topics.ts'
export { type DescribeAclsRequest, type DescribeAclsResponse, describeAcls } from './apis/describe-acls.ts'
export {
  type DescribeClientQuotasRequest,
  type DescribeClientQuotasResponse,
  describeClientQuotas,
} from './apis/describe-client-quotas.ts'
export { type DescribeClusterRequest, type DescribeClusterResponse, describeCluster } from './apis/describe-cluster.ts'
export { type DescribeConfigsRequest, type DescribeConfigsResponse, describeConfigs } from './apis/describe-configs.ts'
export {
  type DescribeDelegationTokenRequest,
  type DescribeDelegationTokenResponse,
  describeDelegationToken,
} from './apis/describe-delegation-token.ts'
export { type DescribeGroupsRequest, type DescribeGroupsResponse, describeGroups } from './apis/describe-groups.ts'
export { type DescribeLogDirsRequest, type DescribeLogDirsResponse, describeLogDirs } from './apis/describe-log-dirs.ts'
export {
  type DescribeProducersRequest,
  type DescribeProducersResponse,
  describeProducers,
} from './apis/describe-producers.ts'
export { type DescribeQuorumRequest, type DescribeQuorumResponse, describeQuorum } from './apis/describe-quorum.ts'
export {
  type DescribeShareGroupOffsetsRequest,
  type DescribeShareGroupOffsetsResponse,
  describeShareGroupOffsets,
} from './apis/describe-share-group-offsets.ts'
export {
  type DescribeTopicPartitionsRequest,
  type DescribeTopicPartitionsResponse,
  describeTopicPartitions,
} from './apis/describe-topic-partitions.ts'
export {
  type DescribeTransactionsRequest,
  type DescribeTransactionsResponse,
  describeTransactions,
} from './apis/describe-transactions.ts'
export {
  type DescribeUserScramCredentialsRequest,
  type DescribeUserScramCredentialsResponse,
  describeUserScramCredentials,
} from './apis/describe-user-scram-credentials.ts'
export { type ElectLeadersRequest, type ElectLeadersResponse, electLeaders } from './apis/elect-leaders.ts'
export { type EndTxnRequest, type EndTxnResponse, endTxn } from './apis/end-txn.ts'
export {
  type ExpireDelegationTokenRequest,
  type ExpireDelegationTokenResponse,
  expireDelegationToken,
} from './apis/expire-delegation-token.ts'
export { type FetchRequest, type FetchResponse, fetch } from './apis/fetch.ts'
export { type FindCoordinatorRequest, type FindCoordinatorResponse, findCoordinator } from './apis/find-coordinator.ts'
export {
  type GetTelemetrySubscriptionsRequest,
  type GetTelemetrySubscriptionsResponse,
  getTelemetrySubscriptions,
} from './apis/get-telemetry-subscriptions.ts'
export { type HeartbeatRequest, type HeartbeatResponse, heartbeat } from './apis/heartbeat.ts'
export {
  type IncrementalAlterConfigsRequest,
  type IncrementalAlterConfigsResponse,
  incrementalAlterConfigs,
} from './apis/incremental-alter-configs.ts'
export { type InitProducerIdRequest, type InitProducerIdResponse, initProducerId } from './apis/init-producer-id.ts'
export {
  type InitializeShareGroupStateRequest,
  type InitializeShareGroupStateResponse,
  initializeShareGroupState,
} from './apis/initialize-share-group-state.ts'
export { type JoinGroupRequest, type JoinGroupResponse, joinGroup } from './apis/join-group.ts'
export { type LeaveGroupRequest, type LeaveGroupResponse, leaveGroup } from './apis/leave-group.ts'
export {
  type ListConfigResourcesRequest,
  type ListConfigResourcesResponse,
  listConfigResources,
} from './apis/list-config-resources.ts'
export { type ListGroupsRequest, type ListGroupsResponse, listGroups } from './apis/list-groups.ts'
export { type ListOffsetsRequest, type ListOffsetsResponse, listOffsets } from './apis/list-offsets.ts'
export {
  type ListPartitionReassignmentsRequest,
  type ListPartitionReassignmentsResponse,
  listPartitionReassignments,
} from './apis/list-partition-reassignments.ts'
export {
  type ListTransactionsRequest,
  type ListTransactionsResponse,
  listTransactions,
} from './apis/list-transactions.ts'
export { type MetadataRequest, type MetadataResponse, metadata } from './apis/metadata.ts'
export { type OffsetCommitRequest, type OffsetCommitResponse, offsetCommit } from './apis/offset-commit.ts'
export { type OffsetDeleteRequest, type OffsetDeleteResponse, offsetDelete } from './apis/offset-delete.ts'
export { type OffsetFetchRequest, type OffsetFetchResponse, offsetFetch } from './apis/offset-fetch.ts'
export {
  type OffsetForLeaderEpochRequest,
  type OffsetForLeaderEpochResponse,
  offsetForLeaderEpoch,
} from './apis/offset-for-leader-epoch.ts'
export { type ProduceRequest, type ProduceResponse, produce } from './apis/produce.ts'
export { type PushTelemetryRequest, type PushTelemetryResponse, pushTelemetry } from './apis/push-telemetry.ts'
export {
  type ReadShareGroupStateRequest,
  type ReadShareGroupStateResponse,
  readShareGroupState,
} from './apis/read-share-group-state.ts'
export {
  type ReadShareGroupStateSummaryRequest,
  type ReadShareGroupStateSummaryResponse,
  readShareGroupStateSummary,
} from './apis/read-share-group-state-summary.ts'
export { type RemoveRaftVoterRequest, type RemoveRaftVoterResponse, removeRaftVoter } from './apis/remove-raft-voter.ts'
export {
  type RenewDelegationTokenRequest,
  type RenewDelegationTokenResponse,
  renewDelegationToken,
} from './apis/renew-delegation-token.ts'
export {
  type SaslAuthenticateRequest,
  type SaslAuthenticateResponse,
  saslAuthenticate,
} from './apis/sasl-authenticate.ts'
export { type SaslHandshakeRequest, type SaslHandshakeResponse, saslHandshake } from './apis/sasl-handshake.ts'
export {
  type ShareAcknowledgeRequest,
  type ShareAcknowledgeResponse,
  shareAcknowledge,
} from './apis/share-acknowledge.ts'
export { type ShareFetchRequest, type ShareFetchResponse, shareFetch } from './apis/share-fetch.ts'
export {
  type ShareGroupDescribeRequest,
  type ShareGroupDescribeResponse,
  shareGroupDescribe,
} from './apis/share-group-describe.ts'
export {
  type ShareGroupHeartbeatRequest,
  type ShareGroupHeartbeatResponse,
  shareGroupHeartbeat,
} from './apis/share-group-heartbeat.ts'
export {
  type StreamsGroupDescribeRequest,
  type StreamsGroupDescribeResponse,
  streamsGroupDescribe,
} from './apis/streams-group-describe.ts'
export {
  type StreamsGroupHeartbeatRequest,
  type StreamsGroupHeartbeatResponse,
  streamsGroupHeartbeat,
} from './apis/streams-group-heartbeat.ts'
export {
  type StreamsGroupTopologyDescriptionUpdateRequest,
  type StreamsGroupTopologyDescriptionUpdateResponse,
  streamsGroupTopologyDescriptionUpdate,
} from './apis/streams-group-topology-description-update.ts'
export { type SyncGroupRequest, type SyncGroupResponse, syncGroup } from './apis/sync-group.ts'
export { type TxnOffsetCommitRequest, type TxnOffsetCommitResponse, txnOffsetCommit } from './apis/txn-offset-commit.ts'
export {
  type UnregisterBrokerRequest,
  type UnregisterBrokerResponse,
  unregisterBroker,
} from './apis/unregister-broker.ts'
export {
  type UnregisterControllerRequest,
  type UnregisterControllerResponse,
  unregisterController,
} from './apis/unregister-controller.ts'
export { type UpdateFeaturesRequest, type UpdateFeaturesResponse, updateFeatures } from './apis/update-features.ts'
export { type UpdateRaftVoterRequest, type UpdateRaftVoterResponse, updateRaftVoter } from './apis/update-raft-voter.ts'
export {
  type WriteShareGroupStateRequest,
  type WriteShareGroupStateResponse,
  writeShareGroupState,
} from './apis/write-share-group-state.ts'
export { type WriteTxnMarkersRequest, type WriteTxnMarkersResponse, writeTxnMarkers } from './apis/write-txn-markers.ts'
export { CodecError, type CodecErrorCode, FrameError, type FrameErrorCode } from './errors.ts'
export {
  array,
  boolean,
  bytes,
  type Field,
  type FieldOptions,
  type Fields,
  float64,
  int8,
  int16,
  int32,
  int64,
  records,
  type StructInput,
  type StructOf,
  string,
  struct,
  type UnknownTag,
  uint16,
  uint32,
  uuid,
} from './field.ts'
export { decodeResponse, encodeRequest, encodeResponse } from './frame.ts'
export { FrameSplitter, type FrameSplitterSettings } from './frame-splitter.ts'
export {
  type RequestHeader,
  type ResponseHeader,
  readRequestHeader,
  readResponseHeader,
  requestHeaderVersion,
  responseHeaderVersion,
  writeRequestHeader,
  writeResponseHeader,
} from './header.ts'
export { type KafkaError, kafkaErrorOf, kafkaErrors } from './kafka-errors.ts'
export { type Codec, type Message, type MessageDeclaration, type MessageOf, message } from './message.ts'
export {
  type ConsumerProtocolAssignment,
  type ConsumerProtocolSubscription,
  consumerProtocolAssignment,
  consumerProtocolSubscription,
} from './messages/consumer-protocol.ts'
export {
  type ControlRecordKey,
  controlRecordKey,
  controlRecordTypes,
  type EndTxnMarker,
  endTxnMarker,
} from './messages/control-records.ts'
export {
  decodeGroupRecordKey,
  encodeGroupMetadataKey,
  encodeOffsetCommitKey,
  type GroupRecordKey,
} from './messages/group-record-key.ts'
export {
  type GroupMetadataKey,
  type GroupMetadataValue,
  groupMetadataKey,
  groupMetadataValue,
  groupRecordTypes,
  type OffsetCommitKey,
  type OffsetCommitValue,
  offsetCommitKey,
  offsetCommitValue,
} from './messages/group-records.ts'

export { apiOf, apis } from './registry.ts'
export type { VersionRange } from './version-range.ts'
export { decodeVersioned, encodeVersioned } from './versioned.ts'
