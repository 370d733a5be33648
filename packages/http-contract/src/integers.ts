import { z } from 'zod'

const decimal = /^(?:0|[1-9]\d{0,15})$/

/** A non-negative integer up to 2^53 - 1 in decimal digits, as headers and queries carry it. */
export const decimalInteger = z
  .string()
  .regex(decimal, 'is not a decimal integer')
  .transform(Number)
  .refine(Number.isSafeInteger, 'is beyond 2^53 - 1')

/** `true` or `false`, in any case. */
export const trueOrFalse = z
  .string()
  .regex(/^(?:true|false)$/i, 'is neither true nor false')
  .transform((text) => text.toLowerCase() === 'true')
