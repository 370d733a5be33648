import type { AdminBackend } from './admin-backend.ts'
import type { Directory } from './directory.ts'
import { httpAddressOf } from './node-answers.ts'

/** Who has streams, and who shall have them. */
export interface Whereabouts {
  /** Where each node serves HTTP, by its id; null where it does not. Those that were fenced are left out: they have no streams. */
  readonly liveNodes: ReadonlyMap<number, string | null>
  /** The nodes that streams are on their way to, by stream id. */
  readonly targets: ReadonlyMap<number, number>
}

export async function whereabouts(
  backend: AdminBackend,
  streams: readonly { readonly streamId: number }[],
): Promise<Whereabouts> {
  const { directory } = backend
  const [nodes, targets] = await Promise.all([
    directory.nodes.list(),
    targetsOf(directory, new Set(streams.map(({ streamId }) => streamId))),
  ])
  const live = nodes.filter(({ isFenced }) => !isFenced)
  return { liveNodes: new Map(live.map((node) => [node.nodeId, httpAddressOf(backend, node)])), targets }
}

const pageTransfers = 1000

/** Transfers are pending for moments, so there are few. */
async function targetsOf(
  { transfers }: Directory,
  streamIds: ReadonlySet<number>,
): Promise<ReadonlyMap<number, number>> {
  const targets = new Map<number, number>()
  let afterTransferId = 0
  while (targets.size < streamIds.size) {
    const page = await transfers.pending({ afterTransferId, limit: pageTransfers })
    for (const { streamId, toNodeId } of page) if (streamIds.has(streamId)) targets.set(streamId, toNodeId)
    const last = page.at(-1)
    if (last === undefined || page.length < pageTransfers) break
    afterTransferId = last.transferId
  }
  return targets
}
