import { describe, expect, it } from 'vitest'
import type { Metadata } from '../metadata.ts'
import type { NewSchemaVersion, SchemaCatalog, SchemaVersion } from '../schema-catalog.ts'
import { type OpenMetadata, openWorld } from './world.ts'

export function draft(name: string, text: string, rest: Partial<NewSchemaVersion> = {}): NewSchemaVersion {
  return { name, kind: 'json', text, references: [], fingerprint: `fingerprint of ${text}`, ...rest }
}

/** Registers a version after what is the newest now. */
export async function added(metadata: Metadata, schema: NewSchemaVersion, nowMs = 1): Promise<SchemaVersion> {
  const newest = await metadata.schemas.newest(schema.name)
  const put = await metadata.schemas.put(schema, newest?.version ?? null, nowMs)
  if (put.outcome !== 'added') throw new Error(`putting ${schema.name} came to ${put.outcome}`)
  return put.schema
}

export function inShort({ name, version, isDeleted }: { name: string; version: number; isDeleted: boolean }): string {
  return `${name}:${version}${isDeleted ? ' deleted' : ''}`
}

export function schemaCatalogConformance(open: OpenMetadata): void {
  describe('registering', () => {
    it('returns what is then found, in every way', async () => {
      const { metadata } = await openWorld(open)
      const { schemas } = metadata
      const base = await added(metadata, draft('base', '{}'))
      const references = [{ importName: 'base.json', name: 'base', version: 1 }]
      const order = await added(metadata, draft('order', `it's\n"ö" 🦆`, { kind: 'avro', references }), 1234)
      expect(order).toEqual({
        name: 'order',
        version: 1,
        schemaId: base.schemaId + 1,
        kind: 'avro',
        text: `it's\n"ö" 🦆`,
        references,
        fingerprint: order.fingerprint,
        createdAtMs: 1234,
        isDeleted: false,
      })
      expect(await schemas.newest('order')).toEqual(order)
      expect(await schemas.get('order', 1)).toEqual(order)
      expect(await schemas.bySchemaId(order.schemaId)).toEqual(order)
      expect(await schemas.byFingerprint('order', order.fingerprint)).toEqual(order)
      expect(await schemas.versions('order', { after: 0, limit: 10, deleted: false })).toEqual([order])
      expect(await schemas.withSchemaId(order.schemaId, { limit: 10, deleted: false })).toEqual([order])
      expect(await schemas.referencedBy('base', 1, 10)).toEqual([order])
    })

    it('finds nothing where there is nothing', async () => {
      const { metadata } = await openWorld(open)
      const { schemas } = metadata
      await added(metadata, draft('a', '1'))
      expect(await schemas.newest('b')).toBe(null)
      expect(await schemas.get('a', 2)).toBe(null)
      expect(await schemas.bySchemaId(99)).toBe(null)
      expect(await schemas.byFingerprint('a', 'another')).toBe(null)
      expect(await schemas.versions('b', { after: 0, limit: 10, deleted: true })).toEqual([])
      expect(await schemas.withSchemaId(99, { limit: 10, deleted: true })).toEqual([])
      expect(await schemas.referencedBy('a', 1, 10)).toEqual([])
    })

    it('answers the version that means the same, whichever it is', async () => {
      const { metadata } = await openWorld(open)
      const first = await added(metadata, draft('a', '1'))
      await added(metadata, draft('a', '2'))
      const again = await metadata.schemas.put(draft('a', ' 1 ', { fingerprint: first.fingerprint }), null, 9)
      expect(again).toEqual({ outcome: 'known', schema: first })
    })

    it('gives what means the same one id, and what does not another', async () => {
      const { metadata } = await openWorld(open)
      const ids = []
      for (const [name, text] of [
        ['a', '1'],
        ['b', '1'],
        ['a', '2'],
        ['b', '3'],
      ] as const) {
        ids.push((await added(metadata, draft(name, text))).schemaId)
      }
      expect(ids).toEqual([1, 1, 2, 3])
      const found = await metadata.schemas.withSchemaId(1, { limit: 10, deleted: false })
      expect(found.map(inShort)).toEqual(['a:1', 'b:1'])
    })

    it('tells whoever checked against what is no longer the newest', async () => {
      const { metadata } = await openWorld(open)
      const { schemas } = metadata
      expect(await schemas.put(draft('a', '1'), 1, 1)).toEqual({ outcome: 'newest-changed', newest: null })
      await added(metadata, draft('a', '1'))
      await added(metadata, draft('a', '2'))
      for (const checkedAgainst of [null, 1, 3]) {
        const put = await schemas.put(draft('a', '3'), checkedAgainst, 1)
        expect(put).toEqual({ outcome: 'newest-changed', newest: 2 })
      }
      await schemas.remove('a', 2, 'soft')
      expect(await schemas.put(draft('a', '3'), 2, 1)).toEqual({ outcome: 'newest-changed', newest: 1 })
      expect(await schemas.put(draft('a', '3'), 1, 1)).toMatchObject({ outcome: 'added', schema: { version: 3 } })
    })

    it('names a reference that is not there, or deleted', async () => {
      const { metadata } = await openWorld(open)
      const { schemas } = metadata
      await added(metadata, draft('base', '1'))
      await added(metadata, draft('gone', '1'))
      await schemas.remove('gone', 1, 'soft')
      const good = { importName: 'x', name: 'base', version: 1 }
      for (const bad of [
        { importName: 'y', name: 'base', version: 2 },
        { importName: 'y', name: 'gone', version: 1 },
      ]) {
        const put = await schemas.put(draft('a', '1', { references: [good, bad] }), null, 1)
        expect(put).toEqual({ outcome: 'unknown-reference', reference: bad })
      }
      expect(await schemas.newest('a')).toBe(null)
    })

    it('takes the same version imported under two names', async () => {
      const { metadata } = await openWorld(open)
      await added(metadata, draft('base', '1'))
      const references = ['x', 'y'].map((importName) => ({ importName, name: 'base', version: 1 }))
      expect((await added(metadata, draft('a', '1', { references }))).references).toEqual(references)
    })

    it('lets everybody who registers the same at once have the same version', async () => {
      const { metadata } = await openWorld(open)
      const put = await Promise.all(Array.from({ length: 10 }, () => metadata.schemas.put(draft('a', '1'), null, 1)))
      expect(put.filter(({ outcome }) => outcome === 'added')).toHaveLength(1)
      expect(put.filter(({ outcome }) => outcome === 'known')).toHaveLength(9)
      expect(await metadata.schemas.versions('a', { after: 0, limit: 10, deleted: true })).toHaveLength(1)
    })

    it('lets one of those who register different ones at once be next, and gives no id twice', async () => {
      const { metadata } = await openWorld(open)
      const texts = Array.from({ length: 8 }, (_, index) => `${index}`)
      const register = async (text: string): Promise<number> => {
        let checkedAgainst: number | null = null
        for (;;) {
          const put = await metadata.schemas.put(draft('a', text), checkedAgainst, 1)
          if (put.outcome === 'added') return put.schema.schemaId
          if (put.outcome !== 'newest-changed') throw new Error(put.outcome)
          checkedAgainst = put.newest
        }
      }
      const ids = await Promise.all(texts.map(register))
      expect(ids.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
      const versions = await metadata.schemas.versions('a', { after: 0, limit: 10, deleted: true })
      expect(versions.map((schema) => schema.version)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    })
  })

  describe('listing', () => {
    it('pages through names under a prefix in byte order, each with its newest version', async () => {
      const { metadata } = await openWorld(open)
      for (const name of ['b', 'a', 'B', 'a-b', 'ab', 'a.c']) await added(metadata, draft(name, '1'))
      const newest = await added(metadata, draft('a', '2', { kind: 'avro' }))
      await metadata.schemas.setPolicy('a', 'full')
      await metadata.schemas.setPolicy('policy-only', 'full')
      const { schemas } = metadata
      const names = async (prefix: string, after: string | null, limit = 10) =>
        (await schemas.list({ prefix, after, limit, deleted: false })).map(({ name }) => name)
      expect(await names('', null)).toEqual(['B', 'a', 'a-b', 'a.c', 'ab', 'b'])
      expect(await names('', 'a', 2)).toEqual(['a-b', 'a.c'])
      expect(await names('a', null)).toEqual(['a', 'a-b', 'a.c', 'ab'])
      expect(await names('a', 'a.c')).toEqual(['ab'])
      expect(await names('a_', null)).toEqual([])
      expect(await schemas.list({ prefix: 'a', after: null, limit: 1, deleted: false })).toEqual([
        { name: 'a', version: 2, schemaId: newest.schemaId, kind: 'avro', policy: 'full', isDeleted: false },
      ])
    })

    it('shows what is deleted to who asks for it', async () => {
      const { metadata } = await openWorld(open)
      const { schemas } = metadata
      for (const [name, text] of [
        ['a', '1'],
        ['a', '2'],
        ['b', '1'],
      ] as const)
        await added(metadata, draft(name, text))
      await schemas.remove('a', 2, 'soft')
      await schemas.remove('b', null, 'soft')
      const list = async (deleted: boolean) =>
        (await schemas.list({ prefix: '', after: null, limit: 10, deleted })).map(inShort)
      expect(await list(false)).toEqual(['a:1'])
      expect(await list(true)).toEqual(['a:1', 'b:1 deleted'])
    })

    it('pages through the versions of a name', async () => {
      const { metadata } = await openWorld(open)
      const { schemas } = metadata
      for (const text of ['1', '2', '3', '4']) await added(metadata, draft('a', text))
      await schemas.remove('a', 2, 'soft')
      const versions = async (after: number, limit: number, deleted: boolean) =>
        (await schemas.versions('a', { after, limit, deleted })).map(inShort)
      expect(await versions(0, 2, false)).toEqual(['a:1', 'a:3'])
      expect(await versions(3, 2, false)).toEqual(['a:4'])
      expect(await versions(0, 10, true)).toEqual(['a:1', 'a:2 deleted', 'a:3', 'a:4'])
    })
  })

  describe('policies', () => {
    const policiesOf = async (schemas: SchemaCatalog) => [await schemas.policies('a'), await schemas.policies('b')]

    it('are set for a name, with or without versions, and for all', async () => {
      const { metadata } = await openWorld(open)
      const { schemas } = metadata
      expect(await policiesOf(schemas)).toEqual([
        { own: null, common: null },
        { own: null, common: null },
      ])
      await schemas.setPolicy('a', 'full')
      await schemas.setPolicy(null, 'none')
      expect(await policiesOf(schemas)).toEqual([
        { own: 'full', common: 'none' },
        { own: null, common: 'none' },
      ])
      await schemas.setPolicy('a', 'forward')
      await schemas.setPolicy(null, 'backward')
      expect(await policiesOf(schemas)).toEqual([
        { own: 'forward', common: 'backward' },
        { own: null, common: 'backward' },
      ])
      await schemas.setPolicy('a', null)
      await schemas.setPolicy(null, null)
      expect(await policiesOf(schemas)).toEqual([
        { own: null, common: null },
        { own: null, common: null },
      ])
      expect((await added(metadata, draft('a', '1'))).version).toBe(1)
      expect(await schemas.list({ prefix: '', after: null, limit: 9, deleted: true })).toHaveLength(1)
    })

    it('come with a version, new or known, and not with one that is refused', async () => {
      const { metadata } = await openWorld(open)
      const { schemas } = metadata
      const own = async () => (await schemas.policies('a')).own
      await added(metadata, draft('a', '1', { policy: 'full' }))
      expect(await own()).toBe('full')
      await schemas.put(draft('a', '2', { policy: 'none' }), null, 1)
      expect(await own()).toBe('full')
      await schemas.put(draft('a', '1', { policy: 'forward' }), null, 1)
      expect(await own()).toBe('forward')
      await added(metadata, draft('a', '2'))
      expect(await own()).toBe('forward')
    })
  })
}
