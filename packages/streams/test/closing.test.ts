import { type Metadata, MetadataUnavailableError } from '@pico/metadata'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PathStream } from '../src/index.ts'
import { appended, created, newStream, opened, put, requests, values, why } from './path-system.ts'
import {
  append,
  batchOf,
  type Node,
  openPartition,
  readValues,
  refused,
  TestSystem,
  walKinds,
  write,
} from './system.ts'

/** What becomes of `streams.close`: its answer is lost, before or after it was done. */
type Lost = 'before' | 'after' | null

describe.each(walKinds)('closing, over a %s WAL', (kind) => {
  let system: TestSystem
  let node: Node
  let stream: PathStream
  let lost: Lost
  /** A database that loses answers. */
  const unreliable = (metadata: Metadata): Metadata => {
    const { streams } = metadata
    return {
      ...metadata,
      streams: {
        ...streams,
        close: async (...closing) => {
          const now = lost
          if (now !== 'before') {
            const answer = await streams.close(...closing)
            if (now === null) return answer
          }
          throw new MetadataUnavailableError('closing', { cause: new Error('lost') })
        },
      },
    }
  }
  const restart = async () => {
    node = await system.start({}, {}, { metadata: unreliable(system.metadata) })
    stream = await opened(node.streams, '/a')
  }
  beforeEach(async () => {
    lost = null
    system = await TestSystem.open(kind)
    node = await system.start({}, {}, { metadata: unreliable(system.metadata) })
    created(await node.streams.paths.create(newStream('/a')))
    stream = await opened(node.streams, '/a')
  })
  afterEach(() => system.close())

  const row = async () => (await system.metadata.streams.byName(['/a']))[0]

  it('with an append is one with it: told to readers together, and to the row before it is acknowledged', async () => {
    const seen: [number, boolean][] = []
    stream.watch(() => seen.push([stream.highWatermark, stream.closed]))
    const last = appended(stream.appendRecords(values('x'), { close: true, producer: requests('p', 2, 0) }))
    await last.committed
    expect(seen).toEqual([[1, true]])
    expect(await row()).toMatchObject({ isClosed: true, closedBy: expect.stringContaining('p') })
  })

  it('with an append is in the log although a crash came before the row had it, and the row has it after the start', async () => {
    lost = 'before'
    const last = appended(stream.appendRecords(values('x'), { close: true, producer: requests('p', 2, 0) }))
    await expect(last.committed).rejects.toThrow(MetadataUnavailableError)
    expect(await row()).toMatchObject({ isClosed: false })
    expect(stream.closed).toBe(true)
    lost = null
    const { streams } = await system.start()
    expect(await streams.paths.describe('/a')).toMatchObject({ closed: true, nextOffset: 1 })
    expect(await streams.paths.list({ prefix: '', after: null, limit: 1 })).toMatchObject([{ closed: true }])
    stream = await opened(streams, '/a')
    expect(stream.closed).toBe(true)
    const again = stream.appendRecords(values('x'), { close: true, producer: requests('p', 2, 0) })
    expect(again).toMatchObject({ kind: 'duplicate', of: { baseOffset: 0, nextOffset: 1 }, closed: true })
    expect(why(stream.appendRecords(values('y'), { producer: requests('p', 2, 1) }))).toMatchObject({ kind: 'closed' })
  })

  it('with an append reaches the row when its repeat comes, or the node stops', async () => {
    for (const how of ['repeat', 'stop'] as const) {
      lost = 'before'
      const terms = { close: true, producer: requests('p', 0, 0) }
      const last = appended(stream.appendRecords(values('x'), terms))
      await expect(last.committed).rejects.toThrow(MetadataUnavailableError)
      lost = null
      if (how === 'stop') await node.streams.close()
      else {
        const again = stream.appendRecords(values('x'), terms)
        if (again.kind !== 'duplicate') throw new Error(again.kind)
        await again.committed
      }
      expect(await row()).toMatchObject({ isClosed: true })
      if (how === 'stop') return
      await node.streams.paths.delete('/a')
      created(await node.streams.paths.create(newStream('/a')))
      stream = await opened(node.streams, '/a')
    }
  })

  it('comes after what is in flight, and does not mind if that fails', async () => {
    system.failFlushes()
    const doomed = appended(stream.appendRecords(values('x')))
    const closing = stream.closeNow()
    expect(why(stream.appendRecords(values('y')))).toEqual({ kind: 'closed', nextOffset: 1 })
    expect(refused(append(stream, batchOf(['z']))).errorCode).toBe(44)
    await expect(doomed.committed).rejects.toThrow()
    system.store.heal()
    expect(await closing).toEqual({ kind: 'closed', nextOffset: 0 })
    expect(await row()).toMatchObject({ isClosed: true, closedBy: null })
    await restart()
    expect(stream.closed).toBe(true)
    expect(await stream.closeNow()).toEqual({ kind: 'closed', nextOffset: 0 })
  })

  it('is judged again when an append of its producer, on its way before it, fails', async () => {
    system.failFlushes()
    const doomed = appended(stream.appendRecords(values('x'), { producer: requests('p', 0, 0) }))
    const closing = stream.closeNow(requests('p', 0, 1))
    await expect(doomed.committed).rejects.toThrow()
    system.store.heal()
    expect(why(await closing)).toEqual({ kind: 'sequence-gap', expectedSequence: 0 })
    expect(stream.closed).toBe(false)
    expect(await put(stream, 'y')).toBe(0)
  })

  it('twice at once closes once, and both are told', async () => {
    const outcomes = await Promise.all([stream.closeNow(), stream.closeNow(), stream.closeNow(requests('p', 0, 0))])
    expect(outcomes.slice(0, 2)).toEqual(Array.from({ length: 2 }, () => ({ kind: 'closed', nextOffset: 0 })))
    expect(outcomes[2]).toEqual({ kind: 'refused', why: { kind: 'closed', nextOffset: 0 } })
  })

  it('takes a sequence of its producer, and is recognised when it comes again, after a crash too', async () => {
    await appended(stream.appendRecords(values('x'), { producer: requests('p', 0, 0) })).committed
    expect(why(await stream.closeNow(requests('p', 0, 2)))).toEqual({ kind: 'sequence-gap', expectedSequence: 1 })
    expect(await stream.closeNow(requests('p', 0, 0))).toMatchObject({ kind: 'duplicate', closed: false })
    expect(stream.closed).toBe(false)
    expect(await stream.closeNow(requests('p', 0, 1))).toEqual({ kind: 'closed', nextOffset: 1 })
    await restart()
    expect(await stream.closeNow(requests('p', 0, 1))).toMatchObject({
      kind: 'duplicate',
      closed: true,
      lastSequence: 1,
    })
    expect(stream.appendRecords(values('y'), { close: true, producer: requests('p', 0, 1) })).toMatchObject({
      kind: 'duplicate',
      closed: true,
    })
    for (const other of [requests('p', 0, 2), requests('p', 1, 1), requests('q', 0, 1)]) {
      expect(why(await stream.closeNow(other))).toEqual({ kind: 'closed', nextOffset: 1 })
    }
  })

  it.each(['before', 'after'] as const)(
    'whose answer was lost %s it was done lets nothing pass until it is known',
    async (when) => {
      await put(stream, 'x')
      lost = when
      await expect(stream.closeNow()).rejects.toThrow(MetadataUnavailableError)
      lost = null
      expect(why(stream.appendRecords(values('y')))).toEqual({ kind: 'not-serving' })
      expect(refused(append(stream, batchOf(['y']))).errorCode).toBe(6)
      await new Promise((resolve) => setTimeout(resolve, 10))
      expect(stream.closed).toBe(when === 'after')
      if (when === 'before') expect(await put(stream, 'y')).toBe(1)
      else expect(why(stream.appendRecords(values('y')))).toEqual({ kind: 'closed', nextOffset: 1 })
      expect(await stream.closeNow()).toEqual({ kind: 'closed', nextOffset: when === 'after' ? 1 : 2 })
      await restart()
      expect(await readValues(stream)).toEqual(when === 'after' ? ['0=x'] : ['0=x', '1=y'])
    },
  )

  it('of a stream that is deleted meanwhile closes nothing', async () => {
    system.holdFlushes()
    const doomed = appended(stream.appendRecords(values('x')))
    const closing = stream.closeNow()
    const deleting = node.streams.paths.delete('/a')
    await new Promise((resolve) => setTimeout(resolve, 10))
    system.store.heal()
    expect(await deleting).toBe('deleted')
    await expect(doomed.committed).rejects.toThrow('was deleted')
    expect(why(await closing)).toEqual({ kind: 'not-serving' })
    created(await node.streams.paths.create(newStream('/a')))
    expect((await opened(node.streams, '/a')).closed).toBe(false)
  })

  it('does not keep readers, trims and Kafka clients from what is there', async () => {
    await write(await openPartition(node.streams, 'a'), batchOf(['x', 'y']))
    await stream.closeNow()
    expect(await readValues(stream)).toEqual(['0=x', '1=y'])
    expect(await stream.trim(1)).toBe(1)
    expect(stream.startOffset).toBe(1)
  })
})
