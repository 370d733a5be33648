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
  const expectedBytes = announced === undefined ? bytesMax : Number(announced)
  let body: Buffer = empty
  let lengthBytes = 0
  request.on('data', (chunk: Buffer) => {
    const before = lengthBytes
    lengthBytes += chunk.length
    if (lengthBytes > bytesMax) {
      if (before <= bytesMax) received(tooLarge(bytesMax))
      body = empty
    } else if (before === 0) {
      // Most bodies are one chunk, and are never copied.
      body = chunk
    } else {
      // Not a list of chunks: they can be of one byte each.
      if (lengthBytes > body.length) body = grown(body, before, lengthBytes, expectedBytes)
      chunk.copy(body, before)
    }
  })
  request.on('end', () => {
    // A stream of HTTP/2 ends also when the client has cancelled it half way.
    if (request.aborted || lengthBytes > bytesMax) return
    received(body.length === lengthBytes ? body : body.subarray(0, lengthBytes))
  })
}

const grownBytesMin = 128 * 1024

/** The first `length` bytes of `body`, with room for `needed`, and for as much again where so much is expected. */
function grown(body: Buffer, length: number, needed: number, expectedBytes: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(needed, Math.min(expectedBytes, Math.max(2 * needed, grownBytesMin))))
  body.copy(larger, 0, 0, length)
  return larger
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
