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
const { startSeq, nextSeq, timestamp, ttl, expiresAt, closed, upToDate, cursor } = picoHeaders

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
      errors: [400, 503],
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
        200: { description: 'It is there already, with this content type', headers: [startSeq, nextSeq] },
        201: { description: 'It was made', headers: ['Location', startSeq, nextSeq] },
      },
      errors: [400, 403, 409, 413, 422, 503],
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
          headers: [startSeq, nextSeq, timestamp, closed],
        },
      },
      errors: [400, 403, 404, 409, 412, 413, 422, 503],
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
        304: { description: 'What the client has is what there is', headers: ['ETag'] },
      },
      errors: [400, 404, 409, 410, 503],
    },
    {
      ...common,
      method: 'head',
      path: stream,
      operationId: 'streams.describe',
      summary: 'Describes a stream',
      answers: {
        200: { description: 'It is there', headers: [startSeq, nextSeq, ttl, expiresAt, closed, 'Content-Type'] },
        400: { description: 'The name is none' },
        404: { description: 'There is no such stream' },
        503: { description: 'Storage or metadata do not answer' },
      },
      errors: [],
    },
    {
      ...common,
      method: 'delete',
      path: stream,
      operationId: 'streams.delete',
      summary: 'Deletes a stream; its name is free at once',
      answers: { 204: { description: 'It is gone' } },
      errors: [400, 403, 404, 503],
    },
  ]
}
