import type { Api } from './api.ts'
import { addOffsetsToTxn } from './apis/add-offsets-to-txn.ts'
import { addPartitionsToTxn } from './apis/add-partitions-to-txn.ts'
import { addRaftVoter } from './apis/add-raft-voter.ts'
import { allocateProducerIds } from './apis/allocate-producer-ids.ts'
import { alterClientQuotas } from './apis/alter-client-quotas.ts'
import { alterConfigs } from './apis/alter-configs.ts'
import { alterPartitionReassignments } from './apis/alter-partition-reassignments.ts'
import { alterReplicaLogDirs } from './apis/alter-replica-log-dirs.ts'
import { alterShareGroupOffsets } from './apis/alter-share-group-offsets.ts'
import { alterUserScramCredentials } from './apis/alter-user-scram-credentials.ts'
import { apiVersions } from './apis/api-versions.ts'
import { consumerGroupDescribe } from './apis/consumer-group-describe.ts'
import { consumerGroupHeartbeat } from './apis/consumer-group-heartbeat.ts'
import { createAcls } from './apis/create-acls.ts'
import { createDelegationToken } from './apis/create-delegation-token.ts'
import { createPartitions } from './apis/create-partitions.ts'
import { createTopics } from './apis/create-topics.ts'
import { deleteAcls } from './apis/delete-acls.ts'
import { deleteGroups } from './apis/delete-groups.ts'
import { deleteRecords } from './apis/delete-records.ts'
import { deleteShareGroupOffsets } from './apis/delete-share-group-offsets.ts'
import { deleteShareGroupState } from './apis/delete-share-group-state.ts'
import { deleteTopics } from './apis/delete-topics.ts'
import { describeAcls } from './apis/describe-acls.ts'
import { describeClientQuotas } from './apis/describe-client-quotas.ts'
import { describeCluster } from './apis/describe-cluster.ts'
import { describeConfigs } from './apis/describe-configs.ts'
import { describeDelegationToken } from './apis/describe-delegation-token.ts'
import { describeGroups } from './apis/describe-groups.ts'
import { describeLogDirs } from './apis/describe-log-dirs.ts'
import { describeProducers } from './apis/describe-producers.ts'
import { describeQuorum } from './apis/describe-quorum.ts'
import { describeShareGroupOffsets } from './apis/describe-share-group-offsets.ts'
import { describeTopicPartitions } from './apis/describe-topic-partitions.ts'
import { describeTransactions } from './apis/describe-transactions.ts'
import { describeUserScramCredentials } from './apis/describe-user-scram-credentials.ts'
import { electLeaders } from './apis/elect-leaders.ts'
import { endTxn } from './apis/end-txn.ts'
import { expireDelegationToken } from './apis/expire-delegation-token.ts'
import { fetch } from './apis/fetch.ts'
import { findCoordinator } from './apis/find-coordinator.ts'
import { getTelemetrySubscriptions } from './apis/get-telemetry-subscriptions.ts'
import { heartbeat } from './apis/heartbeat.ts'
import { incrementalAlterConfigs } from './apis/incremental-alter-configs.ts'
import { initProducerId } from './apis/init-producer-id.ts'
import { initializeShareGroupState } from './apis/initialize-share-group-state.ts'
import { joinGroup } from './apis/join-group.ts'
import { leaveGroup } from './apis/leave-group.ts'
import { listConfigResources } from './apis/list-config-resources.ts'
import { listGroups } from './apis/list-groups.ts'
import { listOffsets } from './apis/list-offsets.ts'
import { listPartitionReassignments } from './apis/list-partition-reassignments.ts'
import { listTransactions } from './apis/list-transactions.ts'
import { metadata } from './apis/metadata.ts'
import { offsetCommit } from './apis/offset-commit.ts'
import { offsetDelete } from './apis/offset-delete.ts'
import { offsetFetch } from './apis/offset-fetch.ts'
import { offsetForLeaderEpoch } from './apis/offset-for-leader-epoch.ts'
import { produce } from './apis/produce.ts'
import { pushTelemetry } from './apis/push-telemetry.ts'
import { readShareGroupState } from './apis/read-share-group-state.ts'
import { readShareGroupStateSummary } from './apis/read-share-group-state-summary.ts'
import { removeRaftVoter } from './apis/remove-raft-voter.ts'
import { renewDelegationToken } from './apis/renew-delegation-token.ts'
import { saslAuthenticate } from './apis/sasl-authenticate.ts'
import { saslHandshake } from './apis/sasl-handshake.ts'
import { shareAcknowledge } from './apis/share-acknowledge.ts'
import { shareFetch } from './apis/share-fetch.ts'
import { shareGroupDescribe } from './apis/share-group-describe.ts'
import { shareGroupHeartbeat } from './apis/share-group-heartbeat.ts'
import { streamsGroupDescribe } from './apis/streams-group-describe.ts'
import { streamsGroupHeartbeat } from './apis/streams-group-heartbeat.ts'
import { streamsGroupTopologyDescriptionUpdate } from './apis/streams-group-topology-description-update.ts'
import { syncGroup } from './apis/sync-group.ts'
import { txnOffsetCommit } from './apis/txn-offset-commit.ts'
import { unregisterBroker } from './apis/unregister-broker.ts'
import { unregisterController } from './apis/unregister-controller.ts'
import { updateFeatures } from './apis/update-features.ts'
import { updateRaftVoter } from './apis/update-raft-voter.ts'
import { writeShareGroupState } from './apis/write-share-group-state.ts'
import { writeTxnMarkers } from './apis/write-txn-markers.ts'

/** Every API that this package describes, by ascending key. */
export const apis: readonly Api[] = [
  produce,
  fetch,
  listOffsets,
  metadata,
  offsetCommit,
  offsetFetch,
  findCoordinator,
  joinGroup,
  heartbeat,
  leaveGroup,
  syncGroup,
  describeGroups,
  listGroups,
  saslHandshake,
  apiVersions,
  createTopics,
  deleteTopics,
  deleteRecords,
  initProducerId,
  offsetForLeaderEpoch,
  addPartitionsToTxn,
  addOffsetsToTxn,
  endTxn,
  writeTxnMarkers,
  txnOffsetCommit,
  describeAcls,
  createAcls,
  deleteAcls,
  describeConfigs,
  alterConfigs,
  alterReplicaLogDirs,
  describeLogDirs,
  saslAuthenticate,
  createPartitions,
  createDelegationToken,
  renewDelegationToken,
  expireDelegationToken,
  describeDelegationToken,
  deleteGroups,
  electLeaders,
  incrementalAlterConfigs,
  alterPartitionReassignments,
  listPartitionReassignments,
  offsetDelete,
  describeClientQuotas,
  alterClientQuotas,
  describeUserScramCredentials,
  alterUserScramCredentials,
  describeQuorum,
  updateFeatures,
  describeCluster,
  describeProducers,
  unregisterBroker,
  describeTransactions,
  listTransactions,
  allocateProducerIds,
  consumerGroupHeartbeat,
  consumerGroupDescribe,
  getTelemetrySubscriptions,
  pushTelemetry,
  listConfigResources,
  describeTopicPartitions,
  shareGroupHeartbeat,
  shareGroupDescribe,
  shareFetch,
  shareAcknowledge,
  addRaftVoter,
  removeRaftVoter,
  updateRaftVoter,
  initializeShareGroupState,
  readShareGroupState,
  writeShareGroupState,
  deleteShareGroupState,
  readShareGroupStateSummary,
  streamsGroupHeartbeat,
  streamsGroupDescribe,
  describeShareGroupOffsets,
  alterShareGroupOffsets,
  deleteShareGroupOffsets,
  streamsGroupTopologyDescriptionUpdate,
  unregisterController,
]

const byKey = new Map(apis.map((api) => [api.key, api]))

export function apiOf(key: number): Api | undefined {
  return byKey.get(key)
}
