import { streamNameProblem } from '@pico/http-contract'
import { PicoError } from './errors.ts'

/** `orders/eu` and `/orders/eu` are the same stream. @throws PicoError 'bad_request' for what no stream can be called */
export function canonicalName(name: string): string {
  const canonical = name.startsWith('/') ? name : `/${name}`
  const problem = streamNameProblem(canonical)
  if (problem !== null) throw new PicoError('bad_request', `${JSON.stringify(name)}: ${problem}`)
  return canonical
}
