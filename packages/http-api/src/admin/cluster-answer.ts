import { type AdminCluster, pendingTransfersShownMax } from '@pico/http-contract'
import type { AdminBackend } from './admin-backend.ts'
import { isLocal } from './node-answers.ts'

export async function clusterNow(backend: AdminBackend): Promise<AdminCluster> {
  const { node, directory, advertisedAddress } = backend
  const [{ objects, lengthBytes, doomed }, streamCount, nodes, holder, pending] = await Promise.all([
    directory.log.totals(),
    directory.streams.count(),
    directory.nodes.list(),
    directory.leases.holder('maintenance'),
    // One more than is shown: whether it is there is the answer to whether there are more.
    directory.transfers.pending({ afterTransferId: 0, limit: pendingTransfersShownMax + 1 }),
  ])
  const shown = pending.slice(0, pendingTransfersShownMax)
  const found = await directory.streams.byStreamId(shown.map(({ streamId }) => streamId))
  const names = new Map(found.map(({ streamId, name }) => [streamId, name]))
  return {
    clusterId: backend.streams.clusterId,
    nodeId: node.nodeId,
    nodeEpoch: node.nodeEpoch,
    advertisedAddress,
    registered: !backend.isFenced() && nodes.some((known) => isLocal(backend, known) && !known.isFenced),
    streamCount,
    objectCount: objects,
    bytes: lengthBytes,
    doomedObjectBacklog: doomed,
    leaseHolder: holder?.nodeId ?? (backend.isAlone ? node.nodeId : null),
    pendingTransfers: shown.flatMap(({ transferId, streamId, toNodeId }) => {
      const stream = names.get(streamId)
      return stream === undefined ? [] : [{ transferId, stream, toNode: toNodeId }] // deleted meanwhile
    }),
    morePendingTransfers: pending.length > shown.length,
  }
}
