import { z } from 'zod'
import { schemaReasonSchema } from './schemas/schemas.ts'

/** What goes wrong over HTTP, by the code in the JSON body, with its status. */
export const errorStatuses = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  /** A producer of an older epoch. */
  fenced: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  /** A schema that must not follow the versions there are. */
  incompatible: 409,
  /** A schema that topics are bound to, or others import. */
  in_use: 409,
  /** Sealed: nothing is appended any more. */
  closed: 409,
  /** With `--routing local`: another node has the stream. */
  not_owner: 409,
  /** Of a producer: what lies between was not received. */
  sequence_gap: 409,
  /** Below the trim point. */
  out_of_range: 410,
  /** `Pico-Match-Seq` is not the tail. */
  match_failed: 412,
  too_large: 413,
  /** Of the admin API, which takes JSON alone. */
  unsupported_media_type: 415,
  /** A record that cannot be stored as it is, or is not as the stream's schema wants it. */
  invalid_record: 422,
  /** `Pico-Schema` names none that there is. */
  unknown_schema: 422,
  /** A schema that is none. */
  invalid_schema: 422,
  headers_too_large: 431,
  internal: 500,
  /** Storage or metadata do not answer, or there is no room: try again after `Retry-After`. */
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof errorStatuses

const errorCodes = Object.keys(errorStatuses) as [ErrorCode, ...ErrorCode[]]

/** The body of every answer that is an error. */
export const errorBodySchema = z.object({
  error: z.enum(errorCodes),
  /** For people: not to be matched on. */
  message: z.string(),
  /** The tail, where knowing it helps. */
  next_seq: z.number().int().nonnegative().optional(),
  /** Of records that are not as their schema wants them, one after the other. */
  problems: z
    .array(
      z.object({
        /** Which record of the request, from 0. */
        index: z.number().int().nonnegative(),
        /** Where in its body: a JSON Pointer, empty for all of it. */
        path: z.string(),
        reason: z.string(),
      }),
    )
    .optional(),
  /** What is wrong with a schema: all of it, where the message says the first. */
  reasons: z.array(schemaReasonSchema).optional(),
  /** Of a schema that is in use: the first few topics that are bound to it. */
  topics: z.array(z.string()).optional(),
})

export type ErrorBody = z.infer<typeof errorBodySchema>
