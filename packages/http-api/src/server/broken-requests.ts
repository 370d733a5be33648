import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { HttpError } from './http-error.ts'

/** What Node says of bytes that are no HTTP/1.1 request, as the answer they get. */
const answers: Readonly<Record<string, HttpError>> = {
  HPE_HEADER_OVERFLOW: new HttpError('headers_too_large', 'the headers are too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new HttpError('too_large', 'the chunk extensions are too large'),
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError('request_timeout', 'the request took too long to arrive'),
}
const notHttp = new HttpError('bad_request', 'this is not an HTTP request')

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
}

/** Answers what could not be parsed (there is no request object for it), and closes the connection. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) {
    socket.destroy()
    return
  }
  const httpError = answers[error.code ?? ''] ?? notHttp
  const body = JSON.stringify(httpError.body)
  const head = [
    `HTTP/1.1 ${httpError.status} ${reasons[httpError.status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Cross-Origin-Resource-Policy: same-origin',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** An answer to a request before is on its way: ours would end up in the middle of it. Node's own listener looks at the same field. */
function isAnswering(socket: Duplex & { _httpMessage?: { headersSent: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent === true
}

/** `Expect` of anything but 100-continue, which Node answers by itself (RFC 9110, 10.1.1). */
export function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify(new HttpError('bad_request', 'this expectation cannot be met').body)
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), Connection: 'close' }
  response.writeHead(417, headers).end(body)
  request.resume()
}
