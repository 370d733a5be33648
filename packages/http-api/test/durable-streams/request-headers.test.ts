import { describe, expect, it } from 'vitest'
import { parseLifetime, parseRfc3339 } from '../../src/durable-streams/lifetime.ts'
import { givenContentType, isSameMediaType, modeOf } from '../../src/durable-streams/media-type.ts'
import { Problem } from '../../src/durable-streams/problem.ts'
import { parseProducer } from '../../src/durable-streams/producer-headers.ts'
import { parseCanonicalNumber, parseWholeNumber } from '../../src/durable-streams/whole-number.ts'

describe('whole numbers', () => {
  it.each(['', '-1', '+1', '1.5', '1e3', '1abc', ' 1', '0x10', '９', '9007199254740992', '9'.repeat(400)])(
    'refuse %j',
    (text) => expect(parseWholeNumber(text)).toBeNull(),
  )

  it('take what is up to 2^53 - 1', () => {
    expect(parseWholeNumber('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER)
    expect(parseWholeNumber('007')).toBe(7)
  })

  it('have no leading zeros where the protocol wants none', () => {
    expect(parseCanonicalNumber('007')).toBeNull()
    expect(parseCanonicalNumber('0')).toBe(0)
  })
})

describe('lifetimes', () => {
  it('are a TTL or an end, not both', () => {
    expect(parseLifetime('60', undefined)).toEqual({ kind: 'idle', ttlSeconds: 60 })
    expect(parseLifetime(undefined, '2030-01-02T03:04:05Z')).toEqual({
      kind: 'at',
      expiresAtMs: Date.UTC(2030, 0, 2, 3, 4, 5),
    })
    expect(parseLifetime(undefined, undefined)).toBeNull()
    expect(parseLifetime('60', '2030-01-02T03:04:05Z')).toBeInstanceOf(Problem)
  })

  it.each(['', '-1', '060', '1.5', '1e3', 'abc', '9007199254740991'])('refuse a TTL of %j', (ttl) => {
    expect(parseLifetime(ttl, undefined)).toBeInstanceOf(Problem)
  })

  it.each([
    ['2024-02-29T12:00:00+02:00', Date.UTC(2024, 1, 29, 10)],
    ['2024-02-29T23:59:59.123456-00:30', Date.UTC(2024, 2, 1, 0, 29, 59, 123)],
    ['2016-12-31t23:59:60z', Date.UTC(2017, 0, 1)],
    ['0001-01-01T00:00:00Z', -62135596800000],
  ])('read %s', (text, ms) => expect(parseRfc3339(text)).toBe(ms))

  it.each([
    '2023-02-29T12:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:00',
    '2024-01-01 00:00:00Z',
    '2024-01-01T00:00:00+0200',
    '2024-01-01',
    'tomorrow',
    '1735689600000',
  ])('refuse %s', (text) => expect(parseRfc3339(text)).toBeNull())
})

describe('producer headers', () => {
  const given = { id: 'p', epoch: '1', seq: '2' }

  it('are all there, or none', () => {
    expect(parseProducer(given)).toEqual({ id: 'p', epoch: 1, sequence: 2, counts: 'requests' })
    expect(parseProducer({ id: undefined, epoch: undefined, seq: undefined })).toBeNull()
    for (const name of ['id', 'epoch', 'seq']) {
      expect(parseProducer({ ...given, [name]: undefined })).toBeInstanceOf(Problem)
    }
  })

  it('hold whole numbers up to 2^53 - 1 and a name', () => {
    expect(parseProducer({ ...given, seq: '9007199254740991' })).toMatchObject({ sequence: Number.MAX_SAFE_INTEGER })
    expect(parseProducer({ ...given, seq: '9007199254740992' })).toBeInstanceOf(Problem)
    expect(parseProducer({ ...given, epoch: '9007199254740992' })).toBeInstanceOf(Problem)
    expect(parseProducer({ ...given, epoch: '1e3' })).toBeInstanceOf(Problem)
    expect(parseProducer({ ...given, id: '' })).toBeInstanceOf(Problem)
  })
})

describe('media types', () => {
  it('are compared without case and parameters', () => {
    expect(isSameMediaType('Text/Plain; charset=utf-8', 'text/plain')).toBe(true)
    expect(isSameMediaType('text/plain', 'text/html')).toBe(false)
  })

  it('are kept to the letter, unless they are none', () => {
    expect(givenContentType('Text/Plain;  charset="x"')).toBe('Text/Plain;  charset="x"')
    expect(givenContentType('')).toBeNull()
    expect(givenContentType('plain')).toBeNull()
    expect(givenContentType(undefined)).toBeNull()
  })

  it('say how a stream is read', () => {
    expect(modeOf('application/JSON; charset=utf-8')).toBe('json')
    expect(modeOf('application/ld+json')).toBe('bytes')
    expect(modeOf('application/x-ndjson')).toBe('bytes')
    expect(modeOf('text/markdown')).toBe('text')
  })
})
