import { streamNameOfPath } from '@pico/http-contract'
import { parseOffsetToken, type StreamPosition } from './offset-token.ts'
import { Problem } from './problem.ts'
import { parseCanonicalNumber } from './whole-number.ts'

export interface ForkRequest {
  /** The name of the source: its path, decoded. */
  readonly source: string
  /** What `subOffset` counts from; null for the tail. */
  readonly anchor: StreamPosition | null
  /** Messages of a JSON stream, bytes of any other. */
  readonly subOffset: number
}

export interface ForkHeaders {
  readonly source: string | undefined
  readonly offset: string | undefined
  readonly subOffset: string | undefined
}

/** `Stream-Forked-From`, `Stream-Fork-Offset`, `Stream-Fork-Sub-Offset`; null when the request is for no fork. */
export function parseFork(headers: ForkHeaders): ForkRequest | null | Problem {
  if (headers.source === undefined) {
    const isAlone = headers.offset !== undefined || headers.subOffset !== undefined
    return isAlone ? new Problem('Stream-Fork-Offset and -Sub-Offset need Stream-Forked-From') : null
  }
  const source = streamNameOfPath(headers.source).name
  if (source === undefined) return new Problem('Stream-Forked-From has to be the path of a stream of this server')
  const anchor = headers.offset === undefined ? null : parseOffsetToken(headers.offset)
  if (headers.offset !== undefined && anchor === null)
    return new Problem('Stream-Fork-Offset is no offset of the source')
  const subOffset = headers.subOffset === undefined ? 0 : parseCanonicalNumber(headers.subOffset)
  if (subOffset === null) return new Problem('Stream-Fork-Sub-Offset has to be a whole number')
  return { source, anchor, subOffset }
}
