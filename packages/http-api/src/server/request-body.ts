import type { IncomingMessage } from 'node:http'
import type { BodyBuffers } from './body-buffers.ts'
import { badRequest, HttpError } from './http-error.ts'

/**
 * Reads a whole body, of at most `bytesMax`: a longer one is refused as soon as that shows, by its Content-Length or by what has come.
 * `received` is called once, with the body or with why there is none; the body is borrowed until it returns. It is not called when the
 * client has gone.
 */
export function receiveBody(
  request: IncomingMessage,
  bytesMax: number,
  buffers: BodyBuffers,
  received: (body: Buffer | HttpError) => void,
): void {
  const announced = request.headers['content-length']
  if (announced !== undefined && Number(announced) > bytesMax) {
    received(tooLarge(bytesMax))
    return
  }
  // Most bodies are one chunk, and are never copied. The others are not kept as chunks, which can be of one byte each.
  let body: Buffer = empty
  let isGathered = false
  let lengthBytes = 0
  request.on('data', (chunk: Buffer) => {
    const before = lengthBytes
    lengthBytes += chunk.length
    if (lengthBytes > bytesMax) {
      if (before <= bytesMax) received(tooLarge(bytesMax))
      body = empty
    } else if (before === 0 && !isLargePart(chunk, announced)) {
      body = chunk
    } else {
      if (!isGathered || lengthBytes > body.length) {
        const larger = buffers.take(roomFor(lengthBytes, announced))
        body.copy(larger, 0, 0, before)
        if (isGathered) buffers.give(body)
        body = larger
        isGathered = true
      }
      chunk.copy(body, before)
      free(chunk)
    }
  })
  request.on('end', () => {
    // A stream of HTTP/2 ends also when the client has cancelled it half way.
    if (request.aborted || lengthBytes > bytesMax) return
    received(body.length === lengthBytes ? body : body.subarray(0, lengthBytes))
    if (isGathered) buffers.give(body)
    else if (lengthBytes > 0) free(body)
  })
}

const largeBytes = 16 * 1024

/** A part that is better copied and freed than kept until the next one comes. */
function isLargePart(chunk: Buffer, announced: string | undefined): boolean {
  return chunk.length >= largeBytes && announced !== undefined && Number(announced) > chunk.length
}

/**
 * Gives the memory of a chunk back that nobody looks at any more. Node allocates each anew, outside of the heap that makes the garbage
 * collector run: at 100 MB/s, 60 MB and more of them piled up, until they were collected together with everything else.
 */
function free({ buffer, byteLength }: Buffer): void {
  // Where it is the whole of its memory, no other chunk lies in it.
  if (buffer.byteLength === byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Twice of what is there, or all that was announced if that is less: an announcement alone costs no memory. */
function roomFor(lengthBytes: number, announced: string | undefined): number {
  const twice = 2 * lengthBytes
  return announced === undefined ? twice : Math.max(lengthBytes, Math.min(twice, Number(announced)))
}

const empty = Buffer.alloc(0)

export function tooLarge(bytesMax: number): HttpError {
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
