import { describe, expect, it } from 'vitest'
import { StreamExistsError, TopicCollisionError } from '../errors.ts'
import { httpStream, type OpenMetadata, openWorld, topicStream } from './world.ts'

export function streamCatalogConformance(open: OpenMetadata): void {
  describe('creating streams', () => {
    it('returns what is then found', async () => {
      const { metadata } = await openWorld(open)
      const config = { 'retention.ms': '1000', 'odd "key"': "it's\nö" }
      const [created] = await metadata.streams.create([{ ...topicStream('orders.eu'), config }], 1234)
      expect(created).toEqual({
        ...topicStream('orders.eu'),
        config,
        streamId: expect.any(Number),
        createdAtMs: 1234,
        life: 'live',
        isClosed: false,
        closedBy: null,
        expiresAtMs: null,
        idleTtlMs: null,
        fork: null,
        owner: null,
        leaderEpoch: 0,
        startOffset: 0,
        packedOffset: 0,
        packedBytes: 0,
      })
      expect(await metadata.streams.byName(['/orders.eu'])).toEqual([created])
    })

    it('creates none where one name is taken, and names the first that is', async () => {
      const { metadata } = await openWorld(open)
      await metadata.streams.create([topicStream('b'), topicStream('c')], 1)
      const creating = metadata.streams.create([topicStream('a'), topicStream('b'), topicStream('c')], 1)
      await expect(creating).rejects.toMatchObject({ code: 'PICO_METADATA_STREAM_EXISTS', streamName: '/b' })
      expect(await metadata.streams.byName(['/a'])).toEqual([])
      expect(await metadata.streams.count()).toBe(2)
    })

    it('refuses a topic and partition that another name has', async () => {
      const { metadata } = await openWorld(open)
      await metadata.streams.create([topicStream('a')], 1)
      const creating = metadata.streams.create([{ ...topicStream('a'), name: '/other' }], 1)
      await expect(creating).rejects.toMatchObject({ code: 'PICO_METADATA_STREAM_EXISTS', streamName: '/other' })
    })

    it('refuses what is there twice in one call', async () => {
      const { metadata } = await openWorld(open)
      await expect(metadata.streams.create([httpStream('/a'), httpStream('/a')], 1)).rejects.toThrow(StreamExistsError)
      const sameTopic = metadata.streams.create([topicStream('a'), { ...topicStream('a'), name: '/b' }], 1)
      await expect(sameTopic).rejects.toThrow(StreamExistsError)
      const colliding = metadata.streams.create([topicStream('a.b'), topicStream('a_b')], 1)
      await expect(colliding).rejects.toThrow(TopicCollisionError)
      expect(await metadata.streams.count()).toBe(0)
    })

    it('refuses a topic that differs from another in . and _ only', async () => {
      const { metadata } = await openWorld(open)
      await metadata.streams.create([topicStream('metrics.cpu_load')], 1)
      const creating = metadata.streams.create([topicStream('metrics_cpu.load')], 1)
      await expect(creating).rejects.toMatchObject({
        code: 'PICO_METADATA_TOPIC_COLLISION',
        topic: 'metrics_cpu.load',
        existingTopic: 'metrics.cpu_load',
      })
    })

    it('lets any number of streams without a topic be', async () => {
      const { metadata } = await openWorld(open)
      await metadata.streams.create([httpStream('/a.b'), httpStream('/a_b')], 1)
      expect(await metadata.streams.count()).toBe(2)
    })

    it('adds partitions to a topic, under its topic id only', async () => {
      const { metadata } = await openWorld(open)
      await metadata.streams.create([topicStream('a')], 1)
      await metadata.streams.create([topicStream('a', 2), topicStream('a', 1)], 1)
      const partitions = await metadata.streams.byTopic(['a'])
      expect(partitions.map((stream) => stream.partition)).toEqual([0, 1, 2])
      const other = { ...topicStream('a', 3), topicId: '00000000-0000-4000-8000-000000000000' }
      await expect(metadata.streams.create([other], 1)).rejects.toThrow('one topic id')
    })

    it('gives a stream that is created again another id', async () => {
      const { metadata } = await openWorld(open)
      const [first] = await metadata.streams.create([topicStream('a')], 1)
      await metadata.streams.delete([first?.streamId ?? 0], 2)
      const [second] = await metadata.streams.create([topicStream('a')], 3)
      expect(second?.streamId).toBeGreaterThan(first?.streamId ?? Number.POSITIVE_INFINITY)
    })

    it('lets one of many who create the same stream at once succeed', async () => {
      const { metadata } = await openWorld(open)
      const attempts = Array.from({ length: 20 }, () => metadata.streams.create([topicStream('a')], 1))
      const outcomes = await Promise.allSettled(attempts)
      expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StreamExistsError)
      }
    })

    it('creates nothing when asked for nothing', async () => {
      const { metadata } = await openWorld(open)
      expect(await metadata.streams.create([], 1)).toEqual([])
    })
  })

  describe('finding streams', () => {
    it('answers in the order asked, unknown ones left out, each once', async () => {
      const { metadata } = await openWorld(open)
      const [a, b] = await metadata.streams.create([topicStream('a'), topicStream('b')], 1)
      expect(await metadata.streams.byName(['/b', '/none', '/a', '/b'])).toEqual([b, a])
      expect(await metadata.streams.byTopic(['b', 'none', 'a', 'b'])).toEqual([b, a])
      expect(await metadata.streams.byTopicId([b?.topicId ?? '', 'none', a?.topicId ?? ''])).toEqual([b, a])
      expect(await metadata.streams.byStreamId([b?.streamId ?? 0, 99, a?.streamId ?? 0])).toEqual([b, a])
      expect(await metadata.streams.byName([])).toEqual([])
    })

    it('finds all partitions of a topic, in order', async () => {
      const { metadata } = await openWorld(open)
      await metadata.streams.create(
        [2, 0, 10, 1].map((partition) => topicStream('a', partition)),
        1,
      )
      await metadata.streams.create([topicStream('b')], 1)
      const inOrder = ['a 0', 'a 1', 'a 2', 'a 10']
      const short = (stream: { topic: string | null; partition: number }) => `${stream.topic} ${stream.partition}`
      expect((await metadata.streams.byTopic(['a'])).map(short)).toEqual(inOrder)
      expect((await metadata.streams.byTopicId([topicStream('a').topicId])).map(short)).toEqual(inOrder)
    })

    it('finds thousands at once', async () => {
      const { metadata } = await openWorld(open)
      const topics = Array.from({ length: 3000 }, (_, index) => `t${index}`)
      await metadata.streams.create(
        topics.map((topic) => topicStream(topic)),
        1,
      )
      expect((await metadata.streams.byTopic(topics)).map((stream) => stream.topic)).toEqual(topics)
    })
  })

  describe('listing topics', () => {
    it('pages through whole topics in byte order, leaving out streams without one', async () => {
      const { metadata } = await openWorld(open)
      const streams = ['a', 'B', 'a-b', 'ab'].map((topic) => topicStream(topic))
      await metadata.streams.create([...streams, topicStream('a', 1), topicStream('a', 2), httpStream('/x')], 1)
      const pages: string[][] = []
      for (let after: string | null = null; ; ) {
        const page = await metadata.streams.listTopics({ after, limit: 3 })
        if (page.length === 0) break
        pages.push(page.map((stream) => `${stream.topic} ${stream.partition}`))
        after = page.at(-1)?.topic ?? null
      }
      expect(pages).toEqual([['B 0'], ['a 0', 'a 1', 'a 2'], ['a-b 0', 'ab 0']])
    })

    it('gives a topic that is larger than a page whole', async () => {
      const { metadata } = await openWorld(open)
      await metadata.streams.create(
        [0, 1, 2, 3].map((partition) => topicStream('a', partition)),
        1,
      )
      await metadata.streams.create([topicStream('b')], 1)
      expect(await metadata.streams.listTopics({ after: null, limit: 2 })).toHaveLength(4)
      expect(await metadata.streams.listTopics({ after: 'a', limit: 2 })).toHaveLength(1)
    })
  })

  describe('listing streams', () => {
    it('pages through the names under a prefix in byte order', async () => {
      const { metadata } = await openWorld(open)
      const names = ['/a', '/a/1', '/a/10', '/a/2', '/a/ö', '/aa', '/A/1', '/b']
      await metadata.streams.create(names.map(httpStream), 1)
      const list = async (prefix: string, after: string | null, limit: number) =>
        (await metadata.streams.list({ prefix, after, limit })).map((stream) => stream.name)
      expect(await list('/a/', null, 10)).toEqual(['/a/1', '/a/10', '/a/2', '/a/ö'])
      expect(await list('/a/', null, 2)).toEqual(['/a/1', '/a/10'])
      expect(await list('/a/', '/a/10', 2)).toEqual(['/a/2', '/a/ö'])
      expect(await list('', null, 3)).toEqual(['/A/1', '/a', '/a/1'])
      expect(await list('/a/', '/b', 3)).toEqual([])
    })

    it('takes % and _ in a prefix as they are', async () => {
      const { metadata } = await openWorld(open)
      await metadata.streams.create(['/a_c', '/abc', '/a%c'].map(httpStream), 1)
      const list = async (prefix: string) =>
        (await metadata.streams.list({ prefix, after: null, limit: 9 })).map((stream) => stream.name)
      expect(await list('/a_')).toEqual(['/a_c'])
      expect(await list('/a%')).toEqual(['/a%c'])
    })
  })

  describe('settings of a stream', () => {
    it('replaces them, and says when the stream is gone', async () => {
      const { metadata } = await openWorld(open)
      const [stream] = await metadata.streams.create([topicStream('a', 0, { 'retention.ms': '5', x: 'y' })], 1)
      const streamId = stream?.streamId ?? 0
      expect(await metadata.streams.setConfig(streamId, { z: '' })).toBe(true)
      expect((await metadata.streams.byStreamId([streamId]))[0]?.config).toEqual({ z: '' })
      await metadata.streams.delete([streamId], 1)
      expect(await metadata.streams.setConfig(streamId, {})).toBe(false)
    })

    it('replaces them for all partitions of a topic, unless somebody else has changed them', async () => {
      const { metadata } = await openWorld(open)
      const before = { 'retention.ms': '5', x: 'y' }
      const [first, second] = await metadata.streams.create(
        [topicStream('a', 0, before), topicStream('a', 1, before), topicStream('b', 0, before)],
        1,
      )
      const topicId = first?.topicId ?? ''
      const configs = async () => (await metadata.streams.byTopic(['a', 'b'])).map(({ config }) => config)
      const set = (from: Record<string, string>, to: Record<string, string>) =>
        metadata.streams.setTopicConfig(topicId, { from, to })
      expect(await set(before, { z: '1' })).toBe('set')
      expect(await configs()).toEqual([{ z: '1' }, { z: '1' }, before])
      expect(await set(before, {})).toBe('changed-meanwhile')
      expect(await configs()).toEqual([{ z: '1' }, { z: '1' }, before])
      await metadata.streams.delete([first?.streamId ?? 0, second?.streamId ?? 0], 1)
      expect(await set({ z: '1' }, {})).toBe('gone')
    })
  })
}
