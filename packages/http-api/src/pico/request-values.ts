import { problemText } from '@pico/http-contract'
import type { z } from 'zod'
import type { Exchange } from '../server/exchange.ts'
import { badRequest } from '../server/http-error.ts'

/** The parameters that a schema knows; each at most once. @throws HttpError 400 */
export function queryOf<S extends z.ZodObject>(schema: S, exchange: Exchange): z.output<S> {
  const given: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(exchange.queryText)) {
    if (!Object.hasOwn(schema.shape, name)) continue
    if (Object.hasOwn(given, name)) throw badRequest(`${name}: is given twice`)
    given[name] = value
  }
  return valid(schema, given)
}

/** The headers of these names. @throws HttpError 400 */
export function headersOf<S extends z.ZodType>(schema: S, names: readonly string[], exchange: Exchange): z.output<S> {
  const given: Record<string, string> = {}
  for (const name of names) {
    const value = exchange.header(name)
    if (value !== undefined) given[name] = value
  }
  return valid(schema, given)
}

function valid<S extends z.ZodType>(schema: S, given: Record<string, string>): z.output<S> {
  const parsed = schema.safeParse(given)
  if (!parsed.success) throw badRequest(problemText(parsed.error))
  return parsed.data
}
