import { type AdminRoute, adminRoutes, errorStatuses } from '@pico/http-contract'
import type { AnswerForm, Operation } from './operation.ts'

/** The admin API, from the routes that its listener registers. */
export function adminOperations(server: string): Operation[] {
  return Object.entries<AdminRoute>(adminRoutes).map(([name, route]) => ({
    method: route.method ?? 'get',
    path: route.path,
    operationId: `admin.${name}`,
    summary: route.summary,
    tag: 'admin',
    server,
    ...(route.query === undefined ? {} : { query: route.query }),
    ...(route.body === undefined ? {} : { body: { 'application/json': route.body } }),
    answers: Object.fromEntries(
      Object.entries(route.answers).map(([status, body]) => [status, answerForm(status, body)]),
    ),
    errors: Object.fromEntries(
      route.errors.map((status) => [status, status === errorStatuses.unavailable ? ['Retry-After'] : []]),
    ),
  }))
}

function answerForm(status: string, body: AdminRoute['answers'][number]): AnswerForm {
  const description = descriptions[status] ?? status
  if (body === 'text') return { description, body: { 'text/plain': 'text' } }
  return { description, body: { 'application/json': body === 'openapi' ? 'object' : body } }
}

const descriptions: Readonly<Record<string, string>> = { 200: 'As asked for', 202: 'Taken on', 503: 'Not ready' }
