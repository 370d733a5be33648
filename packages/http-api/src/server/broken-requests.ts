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

/**
 * Answers what could not be parsed (there is no request object for it), and closes the connection. Whole requests that came before it
 * over the same connection are answered first: theirs must not be taken for an answer of ours, and what they did has been done.
 */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  // The bytes that follow are broken too.
  if (broken.has(socket)) return
  broken.add(socket)
  if (error.code === 'ECONNRESET') socket.destroy()
  else answerInTurn(answers[error.code ?? ''] ?? notHttp, socket)
}

const broken = new WeakSet<Duplex>()

function answerInTurn(httpError: HttpError, socket: Duplex): void {
  const answering = answeredBy(socket)
  if (answering?.req.complete === true) {
    // Node's own listener, which came first, has put the next one in its place by then, or begun to close the connection.
    answering.once('finish', () => socket.writable && answerInTurn(httpError, socket))
    return
  }
  if (!socket.writable || answering?.headersSent === true) {
    socket.destroy()
    return
  }
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

/** The answer that is being written, or whose turn it is to be. Node's own listener for what is broken looks at the same field. */
function answeredBy(socket: Duplex & { _httpMessage?: ServerResponse | null }): ServerResponse | null {
  return socket._httpMessage ?? null
}

/** `Expect` of anything but 100-continue, which Node answers by itself (RFC 9110, 10.1.1). */
export function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify(new HttpError('bad_request', 'this expectation cannot be met').body)
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), Connection: 'close' }
  response.writeHead(417, headers).end(body)
  request.resume()
}
