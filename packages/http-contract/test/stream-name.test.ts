import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isReservedName, pathOfStreamName, streamNameOfPath, streamNameProblem } from '../src/index.ts'

test.each([
  ['/orders', '/orders'],
  ['/orders/eu', '/orders/eu'],
  ['/orders.eu', '/orders.eu'],
  ['/a/.hidden', '/a/.hidden'],
  ['/...', '/...'],
  ['/a%20b', '/a b'],
  ['/a%2Fb', '/a/b'],
  ['/%25', '/%'],
  ['/%252F', '/%2F'],
  ['/%F0%9F%98%80', '/😀'],
  ['/a+b', '/a+b'],
  ['/a;b=c', '/a;b=c'],
  ['/%3Fx', '/?x'],
  ['/a%5Cb', '/a\\b'],
])('%s is %s', (path, name) => {
  expect(streamNameOfPath(path)).toEqual({ name })
})

test.each([
  '',
  'orders',
  '/',
  '//',
  '/a/',
  '/a//b',
  '/.',
  '/a/..',
  '/%2e',
  '/a%2F',
  '/%',
  '/%f',
  '/%ff',
  '/%00',
  '/%7F',
  '/é',
  '/a b',
  '/%ED%A0%80',
])('%j is no name', (path) => {
  expect(streamNameOfPath(path).problem).toEqual(expect.any(String))
})

test('every name has a path, which names it', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }), (segments) => {
      const name = `/${segments.join('/')}`
      fc.pre(streamNameProblem(name) === null)
      expect(streamNameOfPath(pathOfStreamName(name))).toEqual({ name })
    }),
  )
})

test('a path never comes to a name that is none', () => {
  const part = fc.oneof(fc.constantFrom('/', '.', '..', '%2e', '%2F', '%25', '%00', 'a', '%C3%A9', '%'), fc.string())
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const { name } = streamNameOfPath(`/${parts.join('')}`)
      if (name !== undefined) expect(streamNameProblem(name)).toBeNull()
    }),
    { numRuns: 1000 },
  )
})

test('what is the system’s own is told by the first segment', () => {
  const reserved = ['/_sys', '/_sys/groups/g', '/_schemas/x', '/_streams/t/1'].map(isReservedName)
  const free = ['/sys', '/_system', '/x/_sys', '/_sys.x'].map(isReservedName)
  expect([...reserved, ...free]).toEqual([true, true, true, true, false, false, false, false])
})
