import { z } from 'zod'

/** A stream as the listing tells it. */
export const listedStreamSchema = z.object({
  name: z.string(),
  /** As Kafka clients know it; absent when they cannot. */
  topic: z.string().optional(),
  content_type: z.string(),
  start_seq: z.number().int().nonnegative(),
  next_seq: z.number().int().nonnegative(),
  closed: z.boolean(),
  /** Seconds that records are kept. */
  ttl: z.number().nonnegative().optional(),
  /** RFC 3339: when the stream ends. */
  expires_at: z.string().optional(),
  /** That it is bound to, as `name:version`. */
  schema: z.string().optional(),
})

/** `GET /`, in name order. */
export const listingSchema = z.object({ streams: z.array(listedStreamSchema), has_more: z.boolean() })

export type ListedStream = z.infer<typeof listedStreamSchema>
export type Listing = z.infer<typeof listingSchema>
