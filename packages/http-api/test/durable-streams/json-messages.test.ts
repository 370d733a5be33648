import { recordsPerAppendMax } from '@pico/http-contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonMessages } from '../../src/durable-streams/json-messages.ts'
import { jsonArrayOf, jsonMessageOf } from '../../src/durable-streams/json-values.ts'
import { HttpError } from '../../src/server/http-error.ts'
import { isJson, scanJson } from '../../src/server/json-scan.ts'

const messagesOf = (text: string) => jsonMessages(Buffer.from(text))?.map(String)

describe('messages of a JSON body', () => {
  it('are the elements of an array, flattened by one level', () => {
    expect(messagesOf('[1, "a" ,null,[1,2], {"x":[1]}]')).toEqual(['1', '"a"', 'null', '[1,2]', '{"x":[1]}'])
    expect(messagesOf('[[1,2]]')).toEqual(['[1,2]'])
    expect(messagesOf(' [\n] ')).toEqual([])
  })

  it('are the body itself when it is no array', () => {
    expect(messagesOf(' {"a": 1}\n')).toEqual(['{"a": 1}'])
    expect(messagesOf('null')).toEqual(['null'])
    expect(messagesOf('"[1,2]"')).toEqual(['"[1,2]"'])
  })

  it('keep big numbers, duplicate names, key order and spelling', () => {
    const elements = ['12345678901234567890', '1.0', '1e2', '{"b":1,"a":2,"b":3}', '"\\u0041"', '{ "x" :\t1 }']
    expect(messagesOf(`[${elements.join(' , ')}]`)).toEqual(elements)
  })

  it('are not cut inside strings', () => {
    const elements = ['"a,b"', '"]"', '"\\""', '"\\\\"', '"\\\\\\"],["', '{"[":"}"}', '"é€😀"']
    expect(messagesOf(`[${elements.join(',')}]`)).toEqual(elements)
  })

  it.each(['', ' ', '[1,', '[1,]', '{a:1}', '1 2', '[1]]', 'NaN', '\ufeff[1]', '[01]', "['a']"])(
    'do not exist in %j',
    (text) => expect(messagesOf(text)).toBeUndefined(),
  )

  it('do not exist in what is not UTF-8', () => {
    expect(jsonMessages(Buffer.from('22ff22', 'hex'))).toBeNull()
    expect(jsonMessages(Buffer.from('22eda08022', 'hex'))).toBeNull()
  })

  it('do not overflow the stack, however deep they are', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    expect(messagesOf(deep)?.[0]?.length).toBe(399_998)
    expect(messagesOf('['.repeat(1_000_000))).toBeUndefined()
  })

  it('mean what the body means, whatever the white space', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 8 }),
        fc.constantFrom(undefined, 1, '\t', '\r\n '),
        (values, space) => {
          const messages = jsonMessages(Buffer.from(JSON.stringify(values, null, space)))
          expect(messages?.map((message) => JSON.parse(message.toString()))).toEqual(
            values.map((value) => JSON.parse(JSON.stringify(value))),
          )
        },
      ),
    )
  })
})

describe('JSON', () => {
  const isJsonByParse = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch (error) {
      if (error instanceof SyntaxError) return false
      throw error
    }
  }
  const token = fc.constantFrom(
    ...[
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      '\\u00e9',
      '\\x',
      '1',
      '0',
      '-',
      '.',
      'e',
      '+',
      'E5',
      'true',
      'null',
    ],
    ...['false', 'nul', ' ', '\n', '\u00a0', '\u0000', '\t', 'é', '"\\ud800"', '"\\""', '{"a":', '[1,', '1.5e-7', '01'],
  )

  it('is what JSON.parse takes for it', () => {
    const text = fc.oneof(
      fc.array(token, { maxLength: 8 }).map((tokens) => tokens.join('')),
      fc.json(),
      fc.tuple(fc.json(), fc.nat(), token).map(([json, at, token]) => {
        const cut = at % (json.length + 1)
        return `${json.slice(0, cut)}${token}${json.slice(cut + (at % 2))}`
      }),
    )
    fc.assert(
      fc.property(text, (text) => {
        expect(isJson(Buffer.from(text))).toBe(isJsonByParse(text.toWellFormed()))
      }),
      { numRuns: 5000 },
    )
  })

  it('is judged without being made', () => {
    const size = 1024 * 1024
    const before = process.memoryUsage().heapUsed
    expect(isJson(Buffer.from('['.repeat(size) + ']'.repeat(size)))).toBe(true)
    expect(scanJson(Buffer.from('['.repeat(size)), { depthMax: 16, valuesMax: 100 })).toBe('too much')
    expect(scanJson(Buffer.from(`[${'0,'.repeat(size)}0]`), { depthMax: 16, valuesMax: 1000 })).toBe('too much')
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 * size)
  })

  it('holds so many messages at most', () => {
    const array = (count: number) => Buffer.from(`[${Array.from({ length: count }, () => '0').join(',')}]`)
    expect(jsonMessages(array(recordsPerAppendMax))).toHaveLength(recordsPerAppendMax)
    expect(() => jsonMessages(array(recordsPerAppendMax + 1))).toThrow(HttpError)
  })
})

describe('records read as JSON messages', () => {
  it('are what they are when they are JSON', () => {
    const value = Buffer.from('{"a":12345678901234567890}')
    expect(jsonMessageOf(value)).toEqual(value)
  })

  it('stay readable when a Kafka client wrote something else', () => {
    const values = [null, Buffer.from(''), Buffer.from('say "hi"'), Buffer.from([0xff, 0x00]), Buffer.from('1,2')]
    const array = JSON.parse(jsonArrayOf(values.map(jsonMessageOf)).toString())
    expect(array).toEqual([null, '', 'say "hi"', { b64: '/wA=' }, '1,2'])
  })

  it('are an array also when there are none', () => {
    expect(jsonArrayOf([]).toString()).toBe('[]')
  })
})
