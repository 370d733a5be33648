import { z } from 'zod'

const count = z.number().int().nonnegative()

/** A stream as operators see it: one that HTTP made, or partition 0 of a topic. */
export const adminStreamSchema = z.object({
  name: z.string(),
  /** As Kafka clients know it; null when they cannot. */
  topic: z.string().nullable(),
  streamId: count,
  /** The node that has it, or had it last; null as long as none ever did. */
  ownerNodeId: count.nullable(),
  /** Where the owner serves HTTP; null when it does not, or has been fenced. */
  ownerAdvertisedAddress: z.string().nullable(),
  /** The node that answers has it. */
  ownerLocal: z.boolean(),
  contentType: z.string(),
  /** Seconds that records are kept; null for ever. */
  ttlSeconds: z.number().nonnegative().nullable(),
  /** When the stream ends by itself, in milliseconds since 1970; null when it has no such time. */
  expiresAtMs: z.number().int().nullable(),
  /** Seconds without a read or a write after which it ends (Durable Streams' TTL); null when it does not. */
  idleTtlSeconds: count.nullable(),
  /** Schema that it is bound to, as `name:version`; null when it is not. */
  schema: z.string().nullable(),
  /** Records are held to it before they are written. */
  schemaValidated: z.boolean(),
  /** Sealed: nothing is appended any more. */
  closed: z.boolean(),
  /** `unassigned`: no live node has it. `transferring`: on its way to another node. */
  state: z.enum(['unassigned', 'assigned', 'transferring']),
  /** Goes up whenever another node epoch opens it: Kafka's leader epoch. */
  epoch: count,
  /** Earliest record there is, and the one that comes next. */
  startOffset: count,
  endOffset: count,
  bytes: count,
  /**
   * This is what the database knows of a stream that is open elsewhere: its offsets, its size and whether it is closed may be behind
   * what its owner would answer.
   */
  offsetsMayLag: z.boolean(),
  createdAtMs: z.number().int(),
  /** Node it is on its way to. */
  pendingTransfer: z.object({ toNode: count }).nullable(),
})

/** `GET /admin/streams`, in byte order of names. */
export const adminStreamsSchema = z.object({
  streams: z.array(adminStreamSchema),
  hasMore: z.boolean(),
  /** What to give as `start_after` to go on; null at the end. */
  next: z.string().nullable(),
})

export type AdminStream = z.infer<typeof adminStreamSchema>
export type AdminStreams = z.infer<typeof adminStreamsSchema>
