import { z } from 'zod'

const count = z.number().int().nonnegative()

/** Body of `POST /admin/transfer`. */
export const adminTransferRequestSchema = z.strictObject({
  /** `/orders/eu`; the first slash may be left out. A topic's partition p > 0 is `/_streams/<topic>/<p>`. */
  stream: z.string().min(1),
  toNode: count,
})

export const transferStates = ['pending', 'done', 'failed'] as const

/** A stream on its way to another node: `POST /admin/transfer`, `GET /admin/transfers/{id}`. */
export const adminTransferSchema = z.object({
  /** To ask for it again; null where there was nothing to do, as the node had the stream already. */
  transferId: count.nullable(),
  stream: z.string(),
  toNode: count,
  /** `failed`: the node was no longer there to take it, or somebody asked for another one meanwhile. */
  state: z.enum(transferStates),
  /** Milliseconds since 1970, as are all times. */
  requestedAtMs: z.number().int(),
  /** Null while it is pending. */
  endedAtMs: z.number().int().nullable(),
})

export type AdminTransferRequest = z.infer<typeof adminTransferRequestSchema>
export type AdminTransfer = z.infer<typeof adminTransferSchema>
