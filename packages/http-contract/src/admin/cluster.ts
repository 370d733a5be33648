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
  /** Streams on their way to another node. */
  pendingTransfers: z.array(z.object({ stream: z.string(), toNode: count })),
})

/** A node of `GET /admin/nodes`. */
export const adminNodeSchema = z.object({
  nodeId: count,
  nodeEpoch: count,
  /** Where it serves HTTP and Kafka clients; null when it does not. */
  httpAddress: z.string().nullable(),
  kafkaAddress: z.string().nullable(),
  /** Its share of the streams, in proportion to the others'. */
  slots: count,
  /** Another epoch of it has taken over. */
  fenced: z.boolean(),
  /** The node that answers. */
  local: z.boolean(),
})

export const adminNodesSchema = z.object({ nodes: z.array(adminNodeSchema) })

export type AdminCluster = z.infer<typeof adminClusterSchema>
export type AdminNode = z.infer<typeof adminNodeSchema>
export type AdminNodes = z.infer<typeof adminNodesSchema>
