import type { AdminNode } from '@pico/http-contract'
import { HttpError } from '../server/http-error.ts'
import type { AdminBackend } from './admin-backend.ts'
import type { KnownNode } from './directory.ts'

export async function allNodes(backend: AdminBackend): Promise<AdminNode[]> {
  const { nodes, streams } = backend.directory
  const [known, counts] = await Promise.all([nodes.list(), streams.ownedCounts()])
  const streamsOf = new Map(counts.map(({ nodeId, streams: owned }) => [nodeId, owned]))
  return known.map((node) => adminNode(backend, node, streamsOf.get(node.nodeId) ?? 0))
}

/** How many slots a node has stays so over its restarts. */
export async function changeNode(backend: AdminBackend, nodeId: number, slots: number): Promise<AdminNode> {
  const isThere = await backend.directory.nodes.setSlots(nodeId, slots)
  const node = isThere && (await allNodes(backend)).find((one) => one.nodeId === nodeId)
  if (!node) throw noNode(nodeId)
  return node
}

export function noNode(nodeId: number): HttpError {
  return new HttpError('not_found', `there is no node ${nodeId}`)
}

export function isLocal({ node }: AdminBackend, { nodeId, nodeEpoch }: KnownNode): boolean {
  return nodeId === node.nodeId && nodeEpoch === node.nodeEpoch
}

/** Of the run that answers, by itself: the registry may not have heard yet which port it got. */
export function httpAddressOf(backend: AdminBackend, node: KnownNode): string | null {
  return isLocal(backend, node) ? backend.advertisedAddress : (node.addresses['http'] ?? null)
}

function adminNode(backend: AdminBackend, node: KnownNode, streams: number): AdminNode {
  const local = isLocal(backend, node)
  return {
    nodeId: node.nodeId,
    nodeEpoch: node.nodeEpoch,
    httpAddress: httpAddressOf(backend, node),
    kafkaAddress: local ? backend.kafkaAddress : (node.addresses['kafka'] ?? null),
    slots: node.slots,
    fenced: node.isFenced,
    // The database's clock may have been put back.
    silentMs: local && backend.isAlone ? null : Math.max(0, node.silentMs),
    streams,
    local,
  }
}
