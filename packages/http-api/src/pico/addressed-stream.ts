import { isReservedName, streamNameOfPath } from '@pico/http-contract'
import type { NotOwner, PathStream, PathStreams, StreamMiss } from '@pico/streams'
import type { Exchange } from '../server/exchange.ts'
import { badRequest, HttpError, unavailable } from '../server/http-error.ts'

/** The stream that a request is about. @throws HttpError 400 */
export function streamNameOf(exchange: Exchange): string {
  const { name, problem } = streamNameOfPath(exchange.path)
  if (name === undefined) throw badRequest(problem)
  return name
}

/** The same of a request that changes something. @throws HttpError 400, 403 */
export function writableStreamNameOf(exchange: Exchange): string {
  const name = streamNameOf(exchange)
  if (isReservedName(name)) throw new HttpError('forbidden', `${name} is the system's own`)
  return name
}

/** A stream that is not here, as an answer to throw. */
export function missed(exchange: Exchange, miss: StreamMiss, routing: 'redirect' | 'local'): HttpError {
  // What is kept for its forks alone is gone for everybody else.
  if (miss === 'missing' || miss === 'gone') return new HttpError('not_found', 'there is no such stream')
  return elsewhere(exchange, miss, routing)
}

export function elsewhere(exchange: Exchange, { ownerAddress }: NotOwner, routing: 'redirect' | 'local'): HttpError {
  if (routing === 'local') return new HttpError('not_owner', 'another node has the stream')
  if (ownerAddress === null) return unavailable('the stream is between two owners')
  const target = exchange.queryText === '' ? exchange.path : `${exchange.path}?${exchange.queryText}`
  const headers = ['Location', `${ownerAddress.replace(/\/+$/, '')}${target}`]
  return new HttpError('not_owner', 'another node has the stream', { headers, status: 307 })
}

/** The stream, open. @throws HttpError 404, 307 and what goes with it */
export function openedStream(
  exchange: Exchange,
  streams: PathStreams,
  name: string,
  routing: 'redirect' | 'local',
): PathStream | Promise<PathStream> {
  const answer = streams.open(name)
  const orThrow = (found: Awaited<typeof answer>) => {
    if (typeof found === 'string' || 'kind' in found) throw missed(exchange, found, routing)
    return found
  }
  return answer instanceof Promise ? answer.then(orThrow) : orThrow(answer)
}
