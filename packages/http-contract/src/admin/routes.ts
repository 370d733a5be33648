import type { z } from 'zod'
import { listQuerySchema } from '../read-query.ts'
import { adminClusterSchema, adminNodeChangeSchema, adminNodeSchema, adminNodesSchema } from './cluster.ts'
import { adminGroupSchema, adminGroupsQuerySchema, adminGroupsSchema } from './groups.ts'
import { healthSchema, readySchema } from './health.ts'
import { adminStreamSchema, adminStreamsSchema } from './streams.ts'
import { adminTransferRequestSchema, adminTransferSchema } from './transfers.ts'

/** What the admin listener answers at a path, by status. `text`: not JSON. */
export interface AdminRoute {
  /** Default 'get'. What changes something is a 'post'. */
  readonly method?: 'get' | 'post'
  /** As OpenAPI writes it. A name or an id stands percent-encoded in its place; slashes need not be. */
  readonly path: string
  readonly summary: string
  readonly query?: z.ZodObject
  /** JSON, with that Content-Type: web pages of other origins cannot send it without being asked for permission, which they do not get. */
  readonly body?: z.ZodObject
  readonly answers: Readonly<Record<number, z.ZodType | 'text' | 'openapi'>>
  /** Error statuses it may answer besides, with the usual body. */
  readonly errors: readonly number[]
}

/** Every route of the admin listener: the server serves these, its OpenAPI document and its tests are made of them. */
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
  changeNode: {
    method: 'post',
    path: '/admin/nodes/{id}',
    summary: 'Sets what share of the streams a node takes',
    body: adminNodeChangeSchema,
    answers: { 200: adminNodeSchema },
    errors: [400, 404, 413, 415, 503],
  },
  transfer: {
    method: 'post',
    path: '/admin/transfer',
    summary: 'Moves a stream to another node; 200 when that has it already. May be repeated',
    body: adminTransferRequestSchema,
    answers: { 200: adminTransferSchema, 202: adminTransferSchema },
    errors: [400, 404, 409, 413, 415, 503],
  },
  transferById: {
    path: '/admin/transfers/{id}',
    summary: 'How far a transfer is; 404 when it ended long ago, or its stream has been deleted',
    answers: { 200: adminTransferSchema },
    errors: [400, 404, 503],
  },
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
