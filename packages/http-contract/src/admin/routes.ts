import type { z } from 'zod'
import { listQuerySchema } from '../read-query.ts'
import { adminClusterSchema, adminNodesSchema } from './cluster.ts'
import { adminGroupSchema, adminGroupsQuerySchema, adminGroupsSchema } from './groups.ts'
import { healthSchema, readySchema } from './health.ts'
import { adminStreamSchema, adminStreamsSchema } from './streams.ts'

/** What a GET of the admin listener answers, by status. `text`: not JSON. */
export interface AdminRoute {
  /** As OpenAPI writes it. A name or an id stands percent-encoded in its place; slashes need not be. */
  readonly path: string
  readonly summary: string
  readonly query?: z.ZodObject
  readonly answers: Readonly<Record<number, z.ZodType | 'text' | 'openapi'>>
  /** Error statuses it may answer besides, with the usual body. */
  readonly errors: readonly number[]
}

/** Every route of the admin listener, all GET: the server serves these, its OpenAPI document and its tests are made of them. */
export const adminRoutes = {
  health: { path: '/health', summary: 'The process runs', answers: { 200: healthSchema }, errors: [] },
  ready: {
    path: '/ready',
    summary: 'Whether requests are served, and if not, what fails',
    answers: { 200: readySchema, 503: readySchema },
    errors: [],
  },
  metrics: {
    path: '/metrics',
    summary: 'Metrics in the text format of Prometheus',
    answers: { 200: 'text' },
    errors: [],
  },
  cluster: {
    path: '/admin/cluster',
    summary: 'The cluster as this node sees it',
    answers: { 200: adminClusterSchema },
    errors: [503],
  },
  nodes: { path: '/admin/nodes', summary: 'The nodes', answers: { 200: adminNodesSchema }, errors: [503] },
  streams: {
    path: '/admin/streams',
    summary: 'Streams in the order of their names, a page at a time',
    query: listQuerySchema,
    answers: { 200: adminStreamsSchema },
    errors: [400, 503],
  },
  stream: {
    path: '/admin/streams/{name}',
    summary: 'One stream',
    answers: { 200: adminStreamSchema },
    errors: [400, 404, 503],
  },
  groups: {
    path: '/admin/groups',
    summary: 'Consumer groups, a page at a time',
    query: adminGroupsQuerySchema,
    answers: { 200: adminGroupsSchema },
    errors: [400, 404, 503],
  },
  group: {
    path: '/admin/groups/{id}',
    summary: 'A consumer group with its members, committed offsets and lag',
    answers: { 200: adminGroupSchema },
    errors: [400, 404, 503],
  },
  openapi: {
    path: '/admin/openapi.json',
    summary: 'This document',
    answers: { 200: 'openapi' },
    errors: [],
  },
} as const satisfies Readonly<Record<string, AdminRoute>>

export type AdminRouteName = keyof typeof adminRoutes
