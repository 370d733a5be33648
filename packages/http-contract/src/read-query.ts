import { z } from 'zod'
import { decimalInteger } from './integers.ts'

/** How records are written into the body of a read. */
export const readFormats = ['json', 'binary', 'raw'] as const
export type ReadFormat = (typeof readFormats)[number]

/** Ways to wait at the tail. */
export const liveModes = ['long-poll', 'sse'] as const
export type LiveMode = (typeof liveModes)[number]

const positive = decimalInteger.refine((value) => value > 0, 'is not positive')

/** `GET /{stream}?…`. What is not here is ignored. */
export const readQuerySchema = z.object({
  /** Where to begin; without it at the earliest record. */
  seq: z.union([z.literal('now'), decimalInteger], 'is neither a sequence number nor "now"').optional(),
  /** Records at most. */
  count: positive.optional(),
  /** Bytes of keys, headers and bodies at most; the first record is given whatever its size. */
  bytes: positive.optional(),
  format: z.enum(readFormats, `is none of ${readFormats.join(', ')}`).default('json'),
  /** Of the binary format: version 2 has keys and nulls. */
  version: z.enum(['1', '2'], 'is neither 1 nor 2').default('1'),
  live: z.enum(liveModes, `is none of ${liveModes.join(', ')}`).optional(),
  /** `Pico-Cursor` of the answer before: keeps caches from answering live reads with what they have. */
  cursor: z.string().max(32).optional(),
})

export type ReadQuery = z.infer<typeof readQuerySchema>

export const listLimitMax = 1000

/** `GET /?…`: streams by name. */
export const listQuerySchema = z.object({
  prefix: z.string().max(1024).default(''),
  /** Only those that come after this name, in byte order. */
  start_after: z.string().max(1024).optional(),
  limit: positive.refine((limit) => limit <= listLimitMax, `is more than ${listLimitMax}`).default(100),
})

export type ListQuery = z.infer<typeof listQuerySchema>
