import {
  type AdminRouteName,
  adminGroupsQuerySchema,
  adminRoutes,
  listQuerySchema,
  problemText,
  streamNameProblem,
} from '@pico/http-contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { CorsRules } from '../server/cors.ts'
import { badRequest, unavailable } from '../server/http-error.ts'
import { type HttpListener, methodNotAllowed, openRoutedServer } from '../server/http-server.ts'
import { defaultHttpServerSettings, type HttpServerSettings } from '../server/settings.ts'
import type { Clock, Logger } from '../server/surroundings.ts'
import type { AdminBackend } from './admin-backend.ts'
import { groupPage, oneGroup } from './group-answers.ts'
import type { ServerMetrics } from './metrics/server-metrics.ts'
import type { Readiness } from './readiness.ts'
import { oneStream, streamPage } from './stream-answers.ts'

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

/** Nothing here takes a body. */
const bodyBytesMax = 64 * 1024

/** No web page of another origin has business here. */
const noOrigins: CorsRules = { methods: 'GET, HEAD', requestHeaders: '', exposedHeaders: '' }

/** `GET /admin/…`, and what watches over a server asks. @throws the error of `listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL, ENOTFOUND. */
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
  for (const [name, route] of Object.entries(routesOf(components))) {
    const { path } = adminRoutes[name as AdminRouteName]
    const url = path.replace(/\{\w+\}$/, '*') // names and ids may have slashes
    app.get(url, async (request, reply) => {
      const { status = 200, contentType = 'application/json', body } = await route(request)
      return reply.code(status).headers({ 'Content-Type': contentType, 'Cache-Control': 'no-store' }).send(body)
    })
    app.route({
      method: ['POST', 'PUT', 'PATCH', 'DELETE'],
      url,
      handler: (request) => {
        throw methodNotAllowed(request.method, noOrigins.methods)
      },
    })
  }
}

function routesOf(components: AdminComponents): Readonly<Record<AdminRouteName, Route>> {
  const { readiness, metrics } = components
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
    cluster: async () => ({ body: await backend().cluster() }),
    nodes: async () => ({ body: { nodes: await backend().nodes() } }),
    streams: async (request) => ({ body: await streamPage(backend(), queryOf(request, listQuerySchema)) }),
    async stream(request) {
      const given = decodedTail(request, adminRoutes.stream.path)
      const name = given.startsWith('/') ? given : `/${given}`
      const problem = streamNameProblem(name)
      if (problem !== null) throw badRequest(problem)
      return { body: await oneStream(backend(), name) }
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
