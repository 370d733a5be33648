import {
  type AdminRoute,
  type AdminRouteName,
  adminGroupsQuerySchema,
  adminNodeChangeSchema,
  adminRoutes,
  adminTransferRequestSchema,
  decimalInteger,
  listQuerySchema,
  mediaTypeOf,
  mediaTypes,
  problemText,
} from '@pico/http-contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { CorsRules } from '../server/cors.ts'
import { badRequest, HttpError, unavailable } from '../server/http-error.ts'
import { type HttpListener, methodNotAllowed, openRoutedServer } from '../server/http-server.ts'
import { jsonOf } from '../server/request-body.ts'
import { defaultHttpServerSettings, type HttpServerSettings } from '../server/settings.ts'
import type { Clock, Logger } from '../server/surroundings.ts'
import type { AdminBackend } from './admin-backend.ts'
import { clusterNow } from './cluster-answer.ts'
import { groupPage, oneGroup } from './group-answers.ts'
import type { ServerMetrics } from './metrics/server-metrics.ts'
import { allNodes, changeNode } from './node-answers.ts'
import type { Readiness } from './readiness.ts'
import { givenStreamName, oneStream, streamPage } from './stream-answers.ts'
import { oneTransfer, requestTransfer } from './transfer-answers.ts'

export interface AdminComponents {
  readonly clock: Clock
  readonly log: Logger
  readonly readiness: Readiness
  readonly metrics: ServerMetrics
  /** Null while the server starts. */
  backend(): AdminBackend | null
  /** The OpenAPI document of all that the server serves; asked for once, when somebody wants it. */
  openapi(): object
}

/** A command in JSON is shorter. */
const bodyBytesMax = 64 * 1024

/** No web page of another origin has business here. */
const noOrigins: CorsRules = { methods: 'GET, HEAD, POST', requestHeaders: '', exposedHeaders: '' }

/** `/admin/…`, and what watches over a server asks. @throws the error of `listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL, ENOTFOUND. */
export function listenAdmin(
  components: AdminComponents,
  where: Pick<HttpServerSettings, 'host' | 'port'>,
): Promise<HttpListener> {
  const { clock, log } = components
  const settings = { ...defaultHttpServerSettings, ...where, bodyBytesMax, corsOrigins: [] }
  return openRoutedServer((app) => register(app, components), noOrigins, { clock, log }, settings)
}

interface Answer {
  readonly status?: number
  readonly contentType?: string
  readonly body: string | object
}

type Route = (request: FastifyRequest) => Promise<Answer>

function register(app: FastifyInstance, components: AdminComponents): void {
  const answers = routesOf(components)
  for (const [name, route] of Object.entries<AdminRoute>(adminRoutes)) {
    const url = route.path.replace(/\{\w+\}$/, '*') // names and ids may have slashes
    const answer = answers[name as AdminRouteName]
    app.route({
      method: route.method === 'post' ? 'POST' : 'GET',
      url,
      async handler(request, reply) {
        const { status = 200, contentType = mediaTypes.json, body } = await answer(request)
        return reply.code(status).headers({ 'Content-Type': contentType, 'Cache-Control': 'no-store' }).send(body)
      },
    })
    app.route({
      method: ['PUT', 'PATCH', 'DELETE', ...(route.method === 'post' ? ['GET', 'HEAD'] : ['POST'])],
      url,
      handler: (request) => {
        throw methodNotAllowed(request.method, route.method === 'post' ? 'POST' : 'GET, HEAD')
      },
    })
  }
}

function routesOf(components: AdminComponents): Readonly<Record<AdminRouteName, Route>> {
  const { clock, readiness, metrics } = components
  let openapi: object | null = null
  const backend = () => {
    const found = components.backend()
    if (found === null) throw unavailable('the server is starting')
    return found
  }
  return {
    health: async () => ({ body: { status: 'ok' } }),
    async ready() {
      const body = await readiness.check()
      return { status: body.ready ? 200 : 503, body }
    },
    metrics: async () => ({ contentType: metrics.contentType, body: await metrics.text() }),
    cluster: async () => ({ body: await clusterNow(backend()) }),
    nodes: async () => ({ body: { nodes: await allNodes(backend()) } }),
    async changeNode(request) {
      const nodeId = idOf(request, adminRoutes.changeNode.path)
      const { slots } = bodyOf(request, adminNodeChangeSchema)
      return { body: await changeNode(backend(), nodeId, slots) }
    },
    transfer: (request) => requestTransfer(backend(), bodyOf(request, adminTransferRequestSchema), clock.nowMs()),
    async transferById(request) {
      return { body: await oneTransfer(backend(), idOf(request, adminRoutes.transferById.path)) }
    },
    streams: async (request) => ({ body: await streamPage(backend(), queryOf(request, listQuerySchema)) }),
    async stream(request) {
      const name = givenStreamName(decodedTail(request, adminRoutes.stream.path))
      return { body: await oneStream(backend(), name, clock.nowMs()) }
    },
    async groups(request) {
      const { start_after: after = null, limit } = queryOf(request, adminGroupsQuerySchema)
      return { body: await groupPage(backend(), after, limit) }
    },
    group: async (request) => ({ body: await oneGroup(backend(), decodedTail(request, adminRoutes.group.path)) }),
    async openapi() {
      openapi ??= components.openapi()
      return { body: openapi }
    },
  }
}

function queryOf<S extends z.ZodType>(request: FastifyRequest, schema: S): z.output<S> {
  const checked = schema.safeParse(request.query)
  if (!checked.success) throw badRequest(problemText(checked.error))
  return checked.data
}

/**
 * A page of another origin can make a browser post a form or text without asking; before it sends this Content-Type, the browser asks
 * (OPTIONS), and hears of no origin that is allowed to. So what changes something takes nothing else.
 */
function bodyOf<S extends z.ZodType>(request: FastifyRequest, schema: S): z.output<S> {
  if (mediaTypeOf(request.headers['content-type'] ?? '') !== mediaTypes.json) {
    throw new HttpError('unsupported_media_type', `a body of Content-Type ${mediaTypes.json} is needed`)
  }
  const checked = schema.safeParse(Buffer.isBuffer(request.body) ? jsonOf(request.body) : undefined)
  if (!checked.success) throw badRequest(problemText(checked.error))
  return checked.data
}

function idOf(request: FastifyRequest, path: string): number {
  const given = decodedTail(request, path)
  const checked = decimalInteger.safeParse(given)
  if (!checked.success) throw badRequest(`the id ${JSON.stringify(given)} ${problemText(checked.error)}`)
  return checked.data
}

/** What stands in the path in place of the name or the id, percent-decoded once. */
function decodedTail(request: FastifyRequest, path: string): string {
  const [given = ''] = request.url.split('?', 1)
  try {
    return decodeURIComponent(given.slice(path.indexOf('{')))
  } catch (error) {
    if (error instanceof URIError) throw badRequest('the path is not percent-encoded UTF-8')
    throw error
  }
}
