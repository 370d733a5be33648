import { z } from 'zod'

/**
 * `live=sse` gives events of two kinds, each with the next sequence number as its id, so that `Last-Event-ID` is where to go on:
 * `data`, a JSON array of records, and `control`, this.
 */
export const controlEventSchema = z.object({
  next_seq: z.number().int().nonnegative(),
  /** Everything that there is was given. */
  up_to_date: z.boolean(),
  /** Sealed, and everything was given: the last event. */
  closed: z.literal(true).optional(),
})

export type ControlEvent = z.infer<typeof controlEventSchema>

export const eventNames = { data: 'data', control: 'control' } as const
