import { describe, expect, it } from 'vitest'
import { SchemaMissingError } from '../errors.ts'
import type { Metadata } from '../metadata.ts'
import { added, draft, inShort } from './schema-catalog.ts'
import { httpStream, type OpenMetadata, openWorld, topicStream } from './world.ts'

/** A world in which schema `a` has these versions. */
async function withVersions(open: OpenMetadata, ...texts: string[]): Promise<Metadata> {
  const { metadata } = await openWorld(open)
  for (const text of texts) await added(metadata, draft('a', text))
  return metadata
}

const bound = (version: string) => ({ 'pico.schema': version })

export function schemaRemovalConformance(open: OpenMetadata): void {
  it('hides a version softly, which is still found by number, id and meaning', async () => {
    const metadata = await withVersions(open, '1', '2')
    const { schemas } = metadata
    expect(await schemas.remove('a', 2, 'soft')).toEqual({ outcome: 'removed', versions: [2] })
    expect((await schemas.newest('a'))?.version).toBe(1)
    expect(await schemas.get('a', 2)).toMatchObject({ text: '2', schemaId: 2, isDeleted: true })
    expect(await schemas.bySchemaId(2)).toMatchObject({ version: 2, isDeleted: true })
    expect(await schemas.byFingerprint('a', 'fingerprint of 2')).toMatchObject({ version: 2, isDeleted: true })
    expect(await schemas.withSchemaId(2, { limit: 9, deleted: false })).toEqual([])
    expect((await schemas.withSchemaId(2, { limit: 9, deleted: true })).map(inShort)).toEqual(['a:2 deleted'])
  })

  it('removes all versions of a name', async () => {
    const metadata = await withVersions(open, '1', '2', '3')
    const { schemas } = metadata
    await schemas.remove('a', 2, 'soft')
    expect(await schemas.remove('a', null, 'soft')).toEqual({ outcome: 'removed', versions: [1, 3] })
    expect(await schemas.newest('a')).toBe(null)
    expect(await schemas.remove('a', null, 'final')).toEqual({ outcome: 'removed', versions: [1, 2, 3] })
    expect(await schemas.get('a', 1)).toBe(null)
    expect(await schemas.bySchemaId(1)).toBe(null)
    expect(await schemas.list({ prefix: '', after: null, limit: 9, deleted: true })).toEqual([])
  })

  it('forgets the policy of a name with the last of its versions', async () => {
    const metadata = await withVersions(open, '1', '2')
    const { schemas } = metadata
    await schemas.setPolicy('a', 'full')
    await schemas.remove('a', null, 'soft')
    await schemas.remove('a', 1, 'final')
    expect((await schemas.policies('a')).own).toBe('full')
    await schemas.remove('a', 2, 'final')
    expect((await schemas.policies('a')).own).toBe(null)
  })

  it('gives a number to nothing else, and an id to nothing that means something else', async () => {
    const metadata = await withVersions(open, '1', '2')
    const { schemas } = metadata
    await schemas.remove('a', null, 'soft')
    expect(await added(metadata, draft('a', '2'))).toMatchObject({ version: 3, schemaId: 2 })
    await schemas.remove('a', null, 'soft')
    await schemas.remove('a', null, 'final')
    expect(await added(metadata, draft('a', '3'))).toMatchObject({ version: 4, schemaId: 3 })
    expect(await added(metadata, draft('a', '1'))).toMatchObject({ version: 5, schemaId: 1 })
  })

  it('says of what cannot be removed why not', async () => {
    const metadata = await withVersions(open, '1', '2')
    const { schemas } = metadata
    expect(await schemas.remove('b', null, 'soft')).toEqual({ outcome: 'missing' })
    expect(await schemas.remove('a', 3, 'soft')).toEqual({ outcome: 'missing' })
    expect(await schemas.remove('a', 2, 'final')).toEqual({ outcome: 'not-deleted-softly' })
    await schemas.remove('a', 2, 'soft')
    expect(await schemas.remove('a', 2, 'soft')).toEqual({ outcome: 'deleted-already' })
    expect(await schemas.remove('a', null, 'final')).toEqual({ outcome: 'not-deleted-softly' })
    expect(await schemas.remove('a', 2, 'final')).toEqual({ outcome: 'removed', versions: [2] })
    expect(await schemas.remove('a', 2, 'final')).toEqual({ outcome: 'missing' })
  })

  describe('of what others import', () => {
    it('is refused, naming them, until they are gone', async () => {
      const metadata = await withVersions(open, '1', '2')
      const { schemas } = metadata
      const references = [{ importName: 'x', name: 'a', version: 1 }]
      for (const [name, text] of [
        ['c', '1'],
        ['b', '1'],
        ['b', '2'],
      ] as const) {
        await added(metadata, draft(name, text, { references }))
      }
      const by = [
        ['b', 1],
        ['b', 2],
        ['c', 1],
      ].map(([name, version]) => ({ name, version }))
      for (const version of [1, null]) {
        expect(await schemas.remove('a', version, 'soft')).toEqual({ outcome: 'referenced', by, count: 3 })
      }
      expect(await schemas.remove('a', 2, 'soft')).toMatchObject({ outcome: 'removed' })
      await schemas.remove('b', null, 'soft')
      await schemas.remove('c', null, 'soft')
      expect(await schemas.remove('a', 1, 'soft')).toMatchObject({ outcome: 'removed' })
      // What is deleted softly is still read by its id, with all that it imports.
      expect(await schemas.remove('a', 1, 'final')).toEqual({ outcome: 'referenced', by, count: 3 })
      await schemas.remove('b', null, 'final')
      await schemas.remove('c', null, 'final')
      expect(await schemas.remove('a', null, 'final')).toMatchObject({ outcome: 'removed' })
    })

    it('takes a name whose versions import one another as a whole', async () => {
      const metadata = await withVersions(open, '1')
      const { schemas } = metadata
      await added(metadata, draft('a', '2', { references: [{ importName: 'x', name: 'a', version: 1 }] }))
      expect(await schemas.remove('a', 1, 'soft')).toMatchObject({ outcome: 'referenced' })
      expect(await schemas.remove('a', null, 'soft')).toMatchObject({ outcome: 'removed' })
      expect(await schemas.remove('a', 1, 'final')).toMatchObject({ outcome: 'referenced' })
      expect(await schemas.remove('a', null, 'final')).toMatchObject({ outcome: 'removed' })
    })
  })

  describe('of what streams are bound to', () => {
    it('is refused, naming topics and streams without one, however they were bound', async () => {
      const metadata = await withVersions(open, '1', '2')
      const { schemas, streams } = metadata
      const [, , http, late] = await streams.create(
        [
          topicStream('t', 0, bound('a:1')),
          topicStream('t', 1, bound('a:1')),
          { ...httpStream('/h'), config: bound('a:1') },
          topicStream('late'),
          topicStream('other'),
        ],
        1,
      )
      const fork = { sourceStreamId: http?.streamId ?? 0, offset: 0, subOffset: 0, sharedEnd: 0, cut: null }
      await streams.fork({ stream: { ...httpStream('/f'), config: bound('a:1') }, ...fork }, 1)
      await streams.setTopicConfig(late?.topicId ?? '', { from: {}, to: bound('a:1') })
      const to = ['/f', '/h', 'late', 't']
      for (const version of [1, null]) {
        expect(await schemas.remove('a', version, 'soft')).toEqual({ outcome: 'bound', to, count: 4 })
      }
      expect(await schemas.remove('a', 2, 'soft')).toEqual({ outcome: 'removed', versions: [2] })
      expect((await schemas.newest('a'))?.version).toBe(1)
    })

    it('goes when they are deleted, or bound to something else', async () => {
      const metadata = await withVersions(open, '1', '2')
      const { schemas, streams } = metadata
      const created = await streams.create(
        ['x', 'y', 'z'].map((topic) => topicStream(topic, 0, bound('a:1'))),
        1,
      )
      const [x, y, z] = created.map((stream) => stream.streamId)
      await streams.delete([x ?? 0], 1)
      await streams.setConfig(y ?? 0, {})
      expect(await schemas.remove('a', 1, 'soft')).toEqual({ outcome: 'bound', to: ['z'], count: 1 })
      await streams.setConfig(z ?? 0, bound('a:2'))
      expect(await schemas.remove('a', 1, 'soft')).toEqual({ outcome: 'removed', versions: [1] })
      expect(await schemas.remove('a', null, 'soft')).toEqual({ outcome: 'bound', to: ['z'], count: 1 })
    })

    it('goes although a deleted stream is kept for its forks', async () => {
      const metadata = await withVersions(open, '1')
      const { schemas, streams } = metadata
      const [source] = await streams.create([{ ...httpStream('/s'), config: bound('a:1') }], 1)
      const sourceStreamId = source?.streamId ?? 0
      await streams.fork(
        { stream: httpStream('/f'), sourceStreamId, offset: 0, subOffset: 0, sharedEnd: 0, cut: null },
        1,
      )
      await streams.delete([sourceStreamId], 1)
      expect(await schemas.remove('a', 1, 'soft')).toMatchObject({ outcome: 'removed' })
    })

    it('names the first ten', async () => {
      const metadata = await withVersions(open, '1')
      const topics = Array.from({ length: 15 }, (_, index) => `t${10 + index}`)
      await metadata.streams.create(
        topics.map((topic) => topicStream(topic, 0, bound('a:1'))),
        1,
      )
      const removed = await metadata.schemas.remove('a', null, 'soft')
      expect(removed).toEqual({ outcome: 'bound', to: topics.slice(0, 10), count: 15 })
    })
  })

  it('binds no stream to what is not there, and changes nothing then', async () => {
    const metadata = await withVersions(open, '1', '2')
    const { schemas, streams } = metadata
    await schemas.remove('a', 2, 'soft')
    const before = bound('a:1')
    const [stream] = await streams.create([topicStream('t', 0, before)], 1)
    const { streamId = 0, topicId = '' } = stream ?? {}
    for (const version of ['a:2', 'a:3', 'b:1']) {
      const to = { ...bound(version), 'retention.ms': '5' }
      await expect(streams.create([topicStream('u', 0, to)], 1)).rejects.toThrow(SchemaMissingError)
      await expect(streams.setConfig(streamId, to)).rejects.toMatchObject({ code: 'PICO_METADATA_SCHEMA_MISSING' })
      await expect(streams.setTopicConfig(topicId, { from: before, to })).rejects.toThrow(`schema ${version[0]}`)
      const fork = { sourceStreamId: streamId, offset: 0, subOffset: 0, sharedEnd: 0, cut: null }
      await expect(streams.fork({ stream: { ...httpStream('/f'), config: to }, ...fork }, 1)).rejects.toThrow(
        SchemaMissingError,
      )
    }
    expect(await streams.byStreamId([streamId])).toEqual([stream])
    expect(await streams.count()).toBe(1)
  })

  it('never leaves a stream bound to what is deleted, when both happen at once', async () => {
    const { metadata } = await openWorld(open)
    const { schemas, streams } = metadata
    for (let round = 0; round < 12; round++) {
      const name = `s${round}`
      await added(metadata, draft(name, '1'))
      const [removed, created] = await Promise.all([
        schemas.remove(name, 1, 'soft'),
        streams.create([topicStream(name, 0, bound(`${name}:1`))], 1).then(
          () => 'created',
          (error: unknown) => (error instanceof SchemaMissingError ? 'refused' : String(error)),
        ),
      ])
      expect([`bound created`, `removed refused`]).toContain(`${removed.outcome} ${created}`)
    }
  })
}
