import { z } from 'zod'

/** `GET /health`: the process runs and answers. */
export const healthSchema = z.object({ status: z.literal('ok') })

/** One thing that has to be right for requests to be served. */
export const readyCheckSchema = z.object({
  /** `serving` (started, neither draining nor fenced), or a dependence: `storage`, `wal`, `metadata`. */
  name: z.string(),
  ok: z.boolean(),
  /** What is wrong; null when nothing is. */
  problem: z.string().nullable(),
})

/** `GET /ready`: 200 when all is well, otherwise 503 with the same body. */
export const readySchema = z.object({
  ready: z.boolean(),
  checks: z.array(readyCheckSchema),
})

export type Health = z.infer<typeof healthSchema>
export type ReadyCheck = z.infer<typeof readyCheckSchema>
export type Ready = z.infer<typeof readySchema>
