import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DurableStreamsClient } from '../src/index.ts'
import { collected } from './collected.ts'
import { ServedStreams } from './served-streams.ts'

describe.each([{ http2: false }, { http2: true }])('a stream by Durable Streams, http2 $http2', ({ http2 }) => {
  let served: ServedStreams
  let client: DurableStreamsClient

  beforeAll(async () => {
    served = await ServedStreams.open({ protocol: 'ds' })
    client = new DurableStreamsClient({ endpoint: served.url, http2 })
  })

  afterAll(async () => {
    await client.close()
    await served.close()
    expect(served.problems).toEqual([])
  })

  test('is bytes, read from any offset that the server gave', async () => {
    const stream = client.stream('bytes')
    expect(await stream.create()).toMatchObject({ created: true })
    expect(await stream.create()).toMatchObject({ created: false })
    const { nextOffset } = await stream.append(new Uint8Array([0, 255]))
    await stream.append('ä')
    expect([...(await stream.read()).bytes]).toEqual([0, 255, 195, 164])
    expect((await stream.read({ from: nextOffset })).text).toBe('ä')
    expect(await stream.read({ from: 'now' })).toMatchObject({ empty: true, upToDate: true })
    expect(await stream.head()).toMatchObject({
      name: '/bytes',
      contentType: 'application/octet-stream',
      closed: false,
    })
    await expect(stream.append('')).rejects.toMatchObject({ code: 'bad_request' })
  })

  test('keeps the messages of JSON apart', async () => {
    const stream = client.stream('json')
    await stream.create({ contentType: 'application/json', content: '[1,2]' })
    await stream.append('[{"a":1},null]')
    await stream.appendJson([3])
    expect((await stream.read()).messages()).toEqual([1, 2, { a: 1 }, null, [3]])
    await expect(stream.append('{')).rejects.toMatchObject({ code: 'bad_request', status: 400 })
  })

  test.each(['text/plain', 'application/octet-stream', 'application/json'])(
    'of %s is followed by both ways until it is closed',
    async (contentType) => {
      const stream = client.stream(`followed/${contentType}`)
      const isJson = contentType === 'application/json'
      await stream.create({ contentType })
      const append = (text: string) => (isJson ? stream.appendJson(text) : stream.append(text))
      await append('before')
      const followers = (['long-poll', 'sse'] as const).map(async (live) => {
        const chunks = await collected(stream.tail({ from: 'earliest', live }))
        return chunks.map((chunk) => (isJson ? chunk.messages().join('') : chunk.text)).join('')
      })
      const late = collected(stream.tail()).then((chunks) => chunks.length)
      await new Promise((resolve) => setTimeout(resolve, 400)) // a long poll, empty
      await append(' after')
      await append(' ä\n')
      await stream.close()
      expect(await Promise.all(followers)).toEqual(['before after ä\n', 'before after ä\n'])
      expect(await late).toBeGreaterThan(0)
      await expect(append('too late')).rejects.toMatchObject({ code: 'closed', status: 409 })
    },
  )

  test('gives a producer the offset after each request', async () => {
    const stream = client.stream('produced')
    await stream.create({ contentType: 'text/plain' })
    const producer = await stream.producer({ batchRecordsMax: 2 })
    const receipts = await Promise.all(['a', 'b', 'c'].map((piece) => producer.append(piece)))
    await producer.close()
    const [first, second, third] = await Promise.all(receipts.map(({ acknowledged }) => acknowledged))
    expect(first).toBe(second)
    expect((await stream.read({ from: first ?? '' })).text).toBe('c')
    expect((await stream.head()).nextOffset).toBe(third)
  })

  test('forks at an offset', async () => {
    const source = client.stream('fork/source')
    await source.create({ contentType: 'text/plain' })
    const { nextOffset } = await source.append('shared ')
    await source.append('own')
    const fork = client.stream('fork/copy')
    await fork.create({ fork: { from: source.name, offset: nextOffset } })
    await fork.append('other')
    expect((await collected(fork.chunks())).map(({ text }) => text).join('')).toBe('shared other')
  })

  test('keeps writers in order by Stream-Seq, and is gone when it is deleted', async () => {
    const stream = client.stream('ordered')
    await stream.create({ contentType: 'text/plain' })
    await stream.append('a', { streamSeq: '2' })
    await expect(stream.append('b', { streamSeq: '1' })).rejects.toMatchObject({ code: 'conflict' })
    await stream.delete()
    await expect(stream.read()).rejects.toMatchObject({ code: 'not_found', status: 404 })
  })
})
