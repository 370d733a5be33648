import { z } from 'zod'

const count = z.number().int().nonnegative()

/** `GET /admin/cluster`: the cluster as the node that answers sees it. */
export const adminClusterSchema = z.object({
  clusterId: z.string(),
  nodeId: count,
  /** Goes up by one with every start of the node. */
  nodeEpoch: count,
  /** Where others reach this node's streams over HTTP; null when it serves none. */
  advertisedAddress: z.string().nullable(),
  /** False once another epoch of this node has taken over. */
  registered: z.boolean(),
  /** Every stream, our own (`/_sys/…`) among them. */
  streamCount: count,
  /** Objects that hold records, and their size. */
  objectCount: count,
  bytes: count,
  /** Objects that nothing needs any more and that wait to be deleted, and uploads that are announced. */
  doomedObjectBacklog: count,
  /** The node that does the maintenance; null while nobody does. */
  leaseHolder: count.nullable(),
  /** Streams on their way to another node: those asked for first, `pendingTransfersShownMax` of them at most. */
  pendingTransfers: z.array(z.object({ transferId: count, stream: z.string(), toNode: count })),
  /** There are more than these. */
  morePendingTransfers: z.boolean(),
})

export const pendingTransfersShownMax = 1000

/** A node of `GET /admin/nodes`, as its latest run registered it. */
export const adminNodeSchema = z.object({
  nodeId: count,
  nodeEpoch: count,
  /** Where it serves HTTP and Kafka clients; null when it does not. */
  httpAddress: z.string().nullable(),
  kafkaAddress: z.string().nullable(),
  /** Its share of the streams, in proportion to the others'. With none it gets none. */
  slots: count,
  /** It was silent for too long, or was told to stop: it serves nothing until it registers again. */
  fenced: z.boolean(),
  /** Since it last said that it is alive, by the database's clock; null where it has the database for itself, and need not say it. */
  silentMs: count.nullable(),
  /** Streams that it has. */
  streams: count,
  /** The node that answers. */
  local: z.boolean(),
})

export const adminNodesSchema = z.object({ nodes: z.array(adminNodeSchema) })

/** Body of `POST /admin/nodes/{id}`. */
export const adminNodeChangeSchema = z.strictObject({
  /** What the database can hold. */
  slots: count.max(2 ** 31 - 1),
})

export type AdminCluster = z.infer<typeof adminClusterSchema>
export type AdminNode = z.infer<typeof adminNodeSchema>
export type AdminNodes = z.infer<typeof adminNodesSchema>
