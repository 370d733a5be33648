import type { IncomingMessage } from 'node:http'
import { badRequest, HttpError } from './http-error.ts'

/**
 * Reads a whole body, of at most `bytesMax`: a longer one is refused as soon as that shows, by its Content-Length or by what has come.
 * `received` is called once, with the body or with why there is none. It is not called when the client has gone.
 */
export function receiveBody(
  request: IncomingMessage,
  bytesMax: number,
  received: (body: Buffer | HttpError) => void,
): void {
  const announced = request.headers['content-length']
  if (announced !== undefined && Number(announced) > bytesMax) {
    received(tooLarge(bytesMax))
    return
  }
  let first: Buffer | null = null
  let more: Buffer[] | null = null
  let lengthBytes = 0
  request.on('data', (chunk: Buffer) => {
    lengthBytes += chunk.length
    if (lengthBytes > bytesMax) {
      if (lengthBytes - chunk.length <= bytesMax) received(tooLarge(bytesMax))
      return
    }
    if (first === null) first = chunk
    else if (more === null) more = [first, chunk]
    else more.push(chunk)
  })
  request.on('end', () => {
    // A stream of HTTP/2 ends also when the client has cancelled it half way.
    if (request.aborted || lengthBytes > bytesMax) return
    received(more === null ? (first ?? empty) : Buffer.concat(more, lengthBytes))
  })
}

const empty = Buffer.alloc(0)

function tooLarge(bytesMax: number): HttpError {
  return new HttpError('too_large', `the body has more than ${bytesMax} bytes`)
}

/** A body in JSON, or a 400. */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest('the body is not JSON')
    throw error
  }
}
