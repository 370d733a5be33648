import { records } from '@pico/record-batch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { produce } from '../produce.ts'
import { controlsOf, dataOf, openTestServer, readEvents, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openTestServer()
})
afterAll(async () => {
  await server.close()
  expect(server.complaints).toEqual([])
})

const json = { 'Content-Type': 'application/json' }
const text = { 'Content-Type': 'text/plain' }
const contentOf = async (path: string) => (await server.request('GET', path)).text()

describe('records of Kafka clients', () => {
  it.each(['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const)('are read whatever their codec: %s', async (codec) => {
    await server.request('PUT', `/kafka/${codec}`, text, 'a')
    await produce(await server.stream(`/kafka/${codec}`), [{ value: 'b' }, { value: 'c' }, { value: 'd' }], { codec })
    await server.request('POST', `/kafka/${codec}`, text, 'e')
    expect(await contentOf(`/kafka/${codec}`)).toBe('abcde')
    const middle = await server.request('GET', `/kafka/${codec}?offset=0000000000000002_0000000000000000`)
    expect(await middle.text()).toBe('cde')
  })

  it('are their values alone', async () => {
    await server.request('PUT', '/kafka/values', text)
    const headers = [{ key: 'h', value: 'v' }]
    await produce(await server.stream('/kafka/values'), [
      { key: 'k', value: 'a', headers },
      { key: 'k', value: null },
      { key: null, value: '' },
      { key: 'k', value: 'b' },
    ])
    const response = await server.request('GET', '/kafka/values')
    expect(await response.text()).toBe('ab')
    expect(response.headers.get('stream-next-offset')).toBe('0000000000000004_0000000000000000')
    const tombstones = await server.request('GET', '/kafka/values?offset=0000000000000001_0000000000000000')
    expect(await tombstones.text()).toBe('b')
  })

  it('do not make a JSON stream unreadable', async () => {
    await server.request('PUT', '/kafka/json', json, '[{"a":1}]')
    await produce(await server.stream('/kafka/json'), [
      { value: '{"a":12345678901234567890}' },
      { value: 'plain' },
      { value: Uint8Array.of(0xff, 0xfe) },
      { value: null },
      { value: '' },
      { value: '1,2' },
    ])
    const expected = '[{"a":1},{"a":12345678901234567890},"plain",{"b64":"//4="},null,"","1,2"]'
    expect(await contentOf('/kafka/json')).toBe(expected)
    expect(await contentOf('/kafka/json')).toBe(expected)
    const events = await readEvents(await server.request('GET', '/kafka/json?offset=-1&live=sse'), (seen) =>
      controlsOf(seen).some(({ upToDate }) => upToDate === true),
    )
    expect(dataOf(events).flatMap((data) => JSON.parse(data) as unknown[])).toEqual(JSON.parse(expected))
  })

  it('of an HTTP request are one batch', async () => {
    await server.request('PUT', '/kafka/batch', json)
    await server.request('POST', '/kafka/batch', json, '[1,2,3]')
    const stream = await server.stream('/kafka/batch')
    const read = await stream.read(0, 1)
    if (read === null || read === 'out-of-range') throw new Error('nothing to read')
    const { batches } = await import('@pico/record-batch')
    const [batch, ...more] = [...batches(Buffer.concat(read.buffers))]
    if (batch === undefined) throw new Error('no batch')
    expect(more).toEqual([])
    const values = [...records(batch)].map(({ key, value, headers }) => [
      key,
      String(value && Buffer.from(value)),
      headers,
    ])
    expect(values).toEqual([
      [null, '1', []],
      [null, '2', []],
      [null, '3', []],
    ])
  })

  it('are refused once the stream is closed', async () => {
    await server.request('PUT', '/kafka/closed', { ...text, 'Stream-Closed': 'true' }, 'end')
    await expect(produce(await server.stream('/kafka/closed'), [{ value: 'late' }])).rejects.toThrow()
    expect(await contentOf('/kafka/closed')).toBe('end')
  })
})
