import {
  appendHeadersSchema,
  createHeadersSchema,
  jsonAppendBatchSchema,
  jsonReadSchema,
  listingSchema,
  listQuerySchema,
  mediaTypes,
  picoHeaders,
  readQuerySchema,
} from '@pico/http-contract'
import type { z } from 'zod'
import type { Operation } from './operation.ts'

const stream = '/{stream}'
const { startSeq, nextSeq, timestamp, ttl, expiresAt, schema, closed, upToDate, cursor } = picoHeaders
const { producerEpoch, producerSeq, expectedSeq, receivedSeq } = picoHeaders

/** Of any request about a stream: a bad name, another node that has it (and where), storage or metadata that do not answer. */
const anyStream = { 307: ['Location'], 400: [], 409: [], 503: ['Retry-After'] } as const

/** A body is one record, or a batch of them. */
const records: Readonly<Record<string, z.ZodType | 'bytes'>> = {
  [mediaTypes.batchJson]: jsonAppendBatchSchema,
  [mediaTypes.batch]: 'bytes',
  '*/*': 'bytes',
}

/** The Pico protocol, in terms of the schemas by which its requests are read and its answers are typed. */
export function picoOperations(server: string): Operation[] {
  const common = { tag: 'streams', server }
  return [
    {
      ...common,
      method: 'get',
      path: '/',
      operationId: 'streams.list',
      summary: 'Streams in the order of their names, a page at a time',
      query: listQuerySchema,
      answers: { 200: { description: 'A page', body: { [mediaTypes.json]: listingSchema } } },
      errors: { 400: [], 503: ['Retry-After'] },
    },
    {
      ...common,
      method: 'put',
      path: stream,
      operationId: 'streams.create',
      summary: 'Makes a stream; a body becomes its first records',
      headers: createHeadersSchema,
      body: records,
      answers: {
        200: {
          description: 'It is there already, with this content type, and this schema where one is named',
          headers: ['Location', startSeq, nextSeq, schema, closed],
        },
        201: { description: 'It was made', headers: ['Location', startSeq, nextSeq, schema, closed] },
      },
      errors: { ...anyStream, 403: [], 413: [], 422: [] },
    },
    {
      ...common,
      method: 'post',
      path: stream,
      operationId: 'streams.append',
      summary: 'Appends records, all of them or none; or closes or trims the stream',
      headers: appendHeadersSchema,
      body: records,
      answers: {
        200: {
          description: 'They are durable; of a producer that repeats itself, they were before',
          headers: [startSeq, nextSeq, timestamp, closed, producerEpoch, producerSeq],
        },
      },
      errors: {
        ...anyStream,
        403: [producerEpoch],
        404: [],
        409: [closed, nextSeq, expectedSeq, receivedSeq],
        412: [nextSeq],
        413: [],
        422: [],
      },
    },
    {
      ...common,
      method: 'get',
      path: stream,
      operationId: 'streams.read',
      summary: 'Reads records, or follows the stream',
      query: readQuerySchema,
      answers: {
        200: {
          description: 'Records',
          headers: [startSeq, nextSeq, upToDate, closed, cursor, 'ETag'],
          body: {
            [mediaTypes.json]: jsonReadSchema,
            [mediaTypes.batch]: 'bytes',
            [mediaTypes.eventStream]: 'text',
            '*/*': 'bytes',
          },
        },
        204: { description: 'Nothing came while the long poll lasted', headers: [nextSeq, upToDate, closed, cursor] },
        304: { description: 'What the client has is what there is', headers: [nextSeq, upToDate, closed, 'ETag'] },
      },
      errors: { ...anyStream, 404: [], 410: [startSeq] },
    },
    {
      ...common,
      method: 'head',
      path: stream,
      operationId: 'streams.describe',
      summary: 'Describes a stream',
      answers: {
        200: {
          description: 'It is there',
          headers: [startSeq, nextSeq, ttl, expiresAt, schema, closed, 'Content-Type'],
        },
        ...withoutBody(anyStream),
        404: { description: 'There is no such stream' },
      },
      errors: {},
    },
    {
      ...common,
      method: 'delete',
      path: stream,
      operationId: 'streams.delete',
      summary: 'Deletes a stream; its name is free at once',
      answers: { 204: { description: 'It is gone' } },
      errors: { ...anyStream, 403: [], 404: [] },
    },
  ]
}

/** HEAD has the status and the headers, and no more. */
function withoutBody(errors: Operation['errors']): Operation['answers'] {
  return Object.fromEntries(
    Object.entries(errors).map(([status, headers]) => [status, { description: 'As of GET, without a body', headers }]),
  )
}
