import { Readable } from 'node:stream'
import { type ErrorCode, errorStatuses, isReservedName, streamNameOfPath } from '@pico/http-contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Answer, refused } from './answer.ts'
import { append } from './append.ts'
import { create } from './create.ts'
import { deleteStream } from './delete.ts'
import { describe } from './describe.ts'
import { read } from './read.ts'
import type { DurableRequest, DurableStreamsParts } from './request.ts'

type Method = 'PUT' | 'POST' | 'GET' | 'HEAD' | 'DELETE'

const handlers: Readonly<Record<Method, (request: DurableRequest, parts: DurableStreamsParts) => Promise<Answer>>> = {
  PUT: create,
  POST: append,
  GET: read,
  HEAD: describe,
  DELETE: deleteStream,
}

/** The protocol on every path of `app`, whose requests have their bodies as Buffers. */
export function durableStreamsRoutes(app: FastifyInstance, parts: DurableStreamsParts, closing: AbortSignal): void {
  for (const method of Object.keys(handlers) as Method[]) {
    app.route({
      method,
      url: '/*',
      exposeHeadRoute: false,
      handler: async (request, reply) => {
        const durable = durableRequest(request, reply, closing)
        const answer =
          'kind' in durable ? durable : (refuseName(durable.name, method) ?? (await handlers[method](durable, parts)))
        return send(reply, answer)
      },
    })
  }
}

/** `/__ds` is the protocol's own, for subscriptions, which we do not have. */
function refuseName(name: string, method: Method): Answer | null {
  if (name === '/__ds' || name.startsWith('/__ds/')) return refused('not_found', 'there are no subscriptions here')
  const isWrite = method !== 'GET' && method !== 'HEAD'
  return isWrite && isReservedName(name) ? refused('forbidden', 'that name is reserved') : null
}

function durableRequest(request: FastifyRequest, reply: FastifyReply, closing: AbortSignal): DurableRequest | Answer {
  const [path = '', ...queries] = request.raw.url?.split('?') ?? []
  const { name, problem } = streamNameOfPath(path)
  if (problem !== undefined) return refused('bad_request', problem)
  return {
    name,
    url: `${request.protocol}://${request.host}${path}`,
    header: (header) => {
      const value = request.headers[header]
      return Array.isArray(value) ? value.join(', ') : value
    },
    query: new URLSearchParams(queries.join('?')),
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    signal: request.method === 'GET' ? goneSignal(reply, closing) : closing,
  }
}

/** Aborts when the connection, or the stream of HTTP/2, is closed. */
function goneSignal(reply: FastifyReply, closing: AbortSignal): AbortSignal {
  const gone = new AbortController()
  const abort = () => gone.abort()
  closing.addEventListener('abort', abort)
  reply.raw.once('close', () => {
    closing.removeEventListener('abort', abort)
    abort()
  })
  if (closing.aborted) abort()
  return gone.signal
}

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  switch (answer.kind) {
    case 'done': {
      const { status, headers, body } = answer
      reply.code(status).headers(headers)
      if (body === null || body instanceof Uint8Array) return reply.send(body ?? undefined)
      return reply.send(Readable.from(body, { objectMode: false, highWaterMark: 1 }))
    }
    case 'refused': {
      const { code, message, headers, status } = answer
      return sendError(reply.headers(headers), status ?? errorStatuses[code], code, message)
    }
    case 'not-owner':
      return sendError(reply, 503, 'unavailable', 'another node has the stream')
  }
}

function sendError(reply: FastifyReply, status: number, code: ErrorCode, message: string): FastifyReply {
  return reply
    .code(status)
    .header('Content-Type', 'application/json')
    .header('Cache-Control', 'no-store')
    .send(JSON.stringify({ error: code, message }))
}
