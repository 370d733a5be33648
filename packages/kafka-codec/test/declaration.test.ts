import { describe, expect, test } from 'vitest'
import { api, apiOf, apis, array, boolean, float64, int32, message, string, struct, uint32 } from '../src/index.ts'

describe('a declaration of your own', () => {
  const point = { x: float64(), y: float64({ default: 0.5 }) }
  const shape = message({
    name: 'Shape',
    versions: [0, 2],
    flexibleFrom: 2,
    fields: {
      title: string({ nullable: '1+' }),
      closed: boolean({ default: true }),
      points: array(point),
      tags: array(string(), { versions: '1+', nullable: '2+', default: null, ignorable: true }),
      centre: struct(point, { versions: '2+', nullable: '2+', default: null, tag: 0, ignorable: true }),
      id: uint32({ versions: '1', default: 7 }),
    },
  })

  test('is read and written in each version', () => {
    const value = { title: 't', points: [{ x: 1 }] }
    expect(shape.version(0).decode(shape.version(0).encode(value))).toEqual({
      title: 't',
      closed: true,
      points: [{ x: 1, y: 0.5 }],
      tags: null,
      centre: null,
      id: 7,
    })
    const full = { title: null, closed: false, points: [], tags: ['a'], centre: { x: 1, y: 2 }, id: 7 }
    expect(shape.version(2).decode(shape.version(2).encode(full))).toEqual(full)
    expect(shape.version(0).decode(shape.version(0).encode({ ...full, title: '' })).centre).toBeNull()
  })

  test('cannot tag a field in a version that is not flexible', () => {
    const wrong = message({ name: 'Wrong', versions: [0, 0], fields: { a: int32({ tag: 0 }) } })
    expect(() => wrong.version(0)).toThrow('tagged fields need a flexible version')
  })

  test('cannot make a number nullable', () => {
    const wrong = message({ name: 'Wrong', versions: [0, 0], fields: { a: int32({ nullable: '0+', default: null }) } })
    expect(() => wrong.version(0)).toThrow('cannot be null')
  })

  test('cannot put source code into the generated reader through a name', () => {
    const wrong = message({ name: 'Wrong', versions: [0, 0], fields: { 'a: process.exit(), b': int32() } })
    expect(() => wrong.version(0)).toThrow('a field cannot be named')
    const absent = message({ name: 'Wrong', versions: [0, 0], fields: { 'x-y': int32({ versions: '1+' }) } })
    expect(() => absent.version(0)).toThrow('a field cannot be named')
  })

  test('may be an API as well', () => {
    const ping = api({ key: 999, name: 'Ping', versions: [0, 0], request: { n: int32() }, response: { n: int32() } })
    expect(ping.response(0).decode(ping.response(0).encode({ n: 5 }))).toEqual({ n: 5 })
    expect(ping.isFlexible(0)).toBe(false)
  })
})

test('the registry has every API once, by ascending key', () => {
  const keys = apis.map(({ key }) => key)
  expect(keys).toEqual([...new Set(keys)].sort((a, b) => a - b))
  expect(apis.every((each) => apiOf(each.key) === each)).toBe(true)
  expect(apiOf(7)).toBeUndefined()
})
