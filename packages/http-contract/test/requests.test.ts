import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  appendHeadersSchema,
  createHeadersSchema,
  errorBodySchema,
  isMediaType,
  jsonAppendBatchSchema,
  jsonReadSchema,
  listingSchema,
  listQuerySchema,
  mediaTypeOf,
  problemText,
  readQuerySchema,
  rfc3339Of,
} from '../src/index.ts'

describe('points in time', () => {
  const parse = (text: string) => createHeadersSchema.safeParse({ 'pico-expires-at': text }).data?.['pico-expires-at']

  test.each([
    ['2100-01-01T00:00:00Z', 4_102_444_800_000],
    ['2100-01-01T02:00:00.5+02:00', 4_102_444_800_500],
    ['4102444800000', 4_102_444_800_000],
  ])('%s is %i', (text, ms) => {
    expect(parse(text)).toBe(ms)
  })

  test.each([
    '',
    '2100-01-01',
    '2100-01-01T00:00:00',
    '2100-13-01T00:00:00Z',
    '1e12',
    '-1',
    'Thu, 01 Jan 2100 00:00:00 GMT',
  ])('%j is none', (text) => {
    expect(parse(text)).toBeUndefined()
  })

  test('are told without a fraction where there is none', () => {
    expect([rfc3339Of(4_102_444_800_000), rfc3339Of(4_102_444_800_120)]).toEqual([
      '2100-01-01T00:00:00Z',
      '2100-01-01T00:00:00.120Z',
    ])
  })
})

test('what a query leaves out has its default', () => {
  expect(readQuerySchema.parse({})).toEqual({ format: 'json', version: '1' })
  expect(readQuerySchema.parse({ seq: 'now', count: '3' })).toMatchObject({ seq: 'now', count: 3 })
  expect(listQuerySchema.parse({})).toEqual({ prefix: '', limit: 100 })
})

test('producer headers go together', () => {
  const given = { 'pico-producer-id': 'p', 'pico-producer-epoch': '1', 'pico-producer-seq': '2' }
  expect(appendHeadersSchema.parse(given)).toEqual({
    'pico-producer-id': 'p',
    'pico-producer-epoch': 1,
    'pico-producer-seq': 2,
  })
  for (const name of Object.keys(given)) {
    expect(appendHeadersSchema.safeParse({ ...given, [name]: undefined }).success).toBe(false)
  }
})

test('a problem is one line that names what has it', () => {
  const { error } = readQuerySchema.safeParse({ seq: 'x' })
  expect(error && problemText(error)).toBe('seq: is neither a sequence number nor "now"')
})

test.each(['text/plain', 'application/json; charset=utf-8', 'a/b;', 'application/vnd.x+json;a="b c"'])(
  '%s is a media type',
  (text) => {
    expect(isMediaType(text)).toBe(true)
  },
)

test.each([
  '',
  'text',
  '/plain',
  'text/',
  'text/plain\r\nX: y',
  'text/plain; a=é',
  'text /plain',
  `text/${'x'.repeat(300)}`,
])('%j is no media type', (text) => {
  expect(isMediaType(text)).toBe(false)
})

test('media types are compared without parameters and case', () => {
  expect(mediaTypeOf(' Application/JSON ; charset=utf-8')).toBe('application/json')
})

test('every schema can be told in OpenAPI', () => {
  for (const schema of [
    readQuerySchema,
    listQuerySchema,
    createHeadersSchema,
    appendHeadersSchema,
    jsonAppendBatchSchema,
  ]) {
    expect(z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' })).toMatchObject({ type: 'object' })
  }
  for (const schema of [errorBodySchema, listingSchema, jsonReadSchema]) {
    expect(z.toJSONSchema(schema, { target: 'draft-2020-12' })).toMatchObject({ type: expect.any(String) })
  }
})
