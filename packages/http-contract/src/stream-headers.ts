import { z } from 'zod'
import { decimalInteger, trueOrFalse } from './integers.ts'

/** Longest that `retention.ms` can say. */
const ttlSecondsMax = Math.floor(Number.MAX_SAFE_INTEGER / 1000)

const schemaName = /^[A-Za-z0-9._-]{1,249}(?::[1-9][0-9]{0,8})?$/
const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/
const unixMs = /^\d{1,16}$/

/** RFC 3339, or milliseconds since 1970; comes out as milliseconds. */
const pointInTime = z
  .string()
  .refine((text) => rfc3339.test(text) || unixMs.test(text), 'is neither RFC 3339 nor milliseconds since 1970')
  .transform((text) => (unixMs.test(text) ? Number(text) : Date.parse(text)))
  // Beyond 8.64e15 there is no Date, and so no RFC 3339 to tell it in.
  .refine((ms) => !Number.isNaN(new Date(ms).getTime()), 'is no point in time')

/** Headers of `PUT /{stream}`, besides Content-Type. */
export const createHeadersSchema = z
  .object({
    /** Seconds that records are kept. */
    'pico-ttl': decimalInteger
      .refine((seconds) => seconds >= 1 && seconds <= ttlSecondsMax, `is not between 1 and ${ttlSecondsMax}`)
      .optional(),
    /** When the stream ends by itself. */
    'pico-expires-at': pointInTime.optional(),
    /** Make it sealed. */
    'pico-closed': trueOrFalse.optional(),
    /** Schema that all records are held to, `name:version`; a name alone means its newest version now. */
    'pico-schema': z.string().regex(schemaName, 'is no name of a schema, or name:version').optional(),
  })
  .refine(
    (headers) => headers['pico-ttl'] === undefined || headers['pico-expires-at'] === undefined,
    'Pico-TTL and Pico-Expires-At do not go together',
  )

const producerHeaders = ['pico-producer-id', 'pico-producer-epoch', 'pico-producer-seq'] as const

/** Headers of `POST /{stream}`, besides Content-Type. */
export const appendHeadersSchema = z
  .object({
    'pico-producer-id': z.string().min(1).max(256).optional(),
    'pico-producer-epoch': decimalInteger.optional(),
    /** Counts records: of the first one of this request. */
    'pico-producer-seq': decimalInteger.optional(),
    /** Append only if this is the next sequence number. */
    'pico-match-seq': decimalInteger.optional(),
    /** Seal the stream with this append. */
    'pico-closed': trueOrFalse.optional(),
    /** Drop the records below, and append nothing. */
    'pico-trim-seq': decimalInteger.optional(),
  })
  .refine((headers) => {
    const given = producerHeaders.filter((name) => headers[name] !== undefined).length
    return given === 0 || given === producerHeaders.length
  }, 'Pico-Producer-Id, Pico-Producer-Epoch and Pico-Producer-Seq go together')
  .refine(
    (headers) =>
      headers['pico-trim-seq'] === undefined ||
      Object.values(headers).filter((value) => value !== undefined).length === 1,
    'Pico-Trim-Seq goes with no other Pico header',
  )

export type CreateHeaders = z.infer<typeof createHeadersSchema>
export type AppendHeaders = z.infer<typeof appendHeadersSchema>

/** RFC 3339 as headers and listings tell it: without the fraction where there is none. */
export function rfc3339Of(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
