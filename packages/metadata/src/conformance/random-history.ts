import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Metadata } from '../metadata.ts'
import type { OpenedStream } from '../stream-catalog.ts'
import { expectSound } from './audit.ts'
import { contains, HistoryModel, offsetBytes, sameNode } from './history-model.ts'
import { operationKinds, perform, stateAt } from './history-operations.ts'
import type { OpenMetadata } from './world.ts'

const numbers = fc.nat({ max: 127 })
const operation = fc.record({ kind: fc.constantFrom(...operationKinds), a: numbers, b: numbers, c: numbers })

/** Random histories of two nodes against a model in plain memory. A failure prints its seed and the shortest history that fails. */
export function randomHistoryConformance(open: OpenMetadata, runs: number): void {
  it('keeps logs whole and objects exactly as long as something points into them, whatever happens in which order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 40 }), async (operations) => {
        const metadata = await open({ onStatement: () => {} })
        const model = new HistoryModel()
        for (const nodeId of [1, 2]) {
          model.nodes.set(nodeId, await metadata.nodes.register({ nodeId, addresses: {}, slots: 1 }, 1))
        }
        for (const step of operations) {
          await perform(metadata, model, step)
          await check(metadata, model)
        }
        await expectSound(metadata)
        await metadata.close()
      }),
      { numRuns: runs },
    )
  }, 120_000)
}

async function check(metadata: Metadata, model: HistoryModel): Promise<void> {
  const streams: OpenedStream[] = []
  for (const node of model.nodes.values()) {
    const owned = model.owned(node).map((stream) => stream.streamId)
    streams.push(...(await metadata.streams.open(node, owned)))
  }
  expect(streams).toHaveLength(model.streams.size)
  for (const stream of streams) checkStream(model, stream)
  const deleted = await metadata.streams.byStreamId([...model.deleted.keys()])
  expect(deleted.map(({ streamId }) => streamId).sort((a, b) => a - b)).toEqual(model.goneIds)
  expect(deleted.every(({ life }) => life === 'gone')).toBe(true)
  await checkWal(metadata, model)
  await checkObjects(metadata, model, streams)
  await checkRetention(metadata, model, streams)
}

/** Its extents are gapless, hold no trimmed offset more than they must, and lie where those offsets were written. */
function checkStream(model: HistoryModel, stream: OpenedStream): void {
  const { startOffset, packedOffset, extents } = stream
  const expected = model.streams.get(stream.streamId)
  expect({ startOffset, packedOffset }).toEqual({
    startOffset: expected?.startOffset,
    packedOffset: expected?.packedOffset,
  })
  const first = extents[0]
  if (first === undefined) expect(startOffset).toBeGreaterThanOrEqual(packedOffset)
  else {
    expect(first.baseOffset).toBeLessThanOrEqual(startOffset)
    expect(first.endOffset).toBeGreaterThan(startOffset)
    expect(extents.at(-1)?.endOffset).toBe(packedOffset)
  }
  for (const [index, extent] of extents.entries()) {
    if (index > 0) expect(extent.baseOffset).toBe(extents[index - 1]?.endOffset)
    expect(extent.lengthBytes).toBe((extent.endOffset - extent.baseOffset) * offsetBytes)
    expect(contains(model.contents.get(extent.objectKey) ?? [], extent), `${extent.objectKey} has the extent`).toBe(
      true,
    )
    expect(model.collectedKeys.has(extent.objectKey), `${extent.objectKey} is collected`).toBe(false)
  }
  const isStateless = packedOffset <= (expected?.statelessUntil ?? 0)
  expect(stream.state).toEqual(isStateless ? null : stateAt(packedOffset))
}

async function checkWal(metadata: Metadata, model: HistoryModel): Promise<void> {
  for (const { nodeId } of model.nodes.values()) {
    const rows = [...(await metadata.log.walObjects(nodeId)), ...(await metadata.log.walSegments(nodeId))]
    const expected = model.walOf(nodeId)
    expect(rows.map((row) => row.key)).toEqual(expected.map((wal) => wal.key))
    expect(rows.every((row, index) => sameNode(row.node, expected[index]?.node ?? null))).toBe(true)
  }
}

/** Doomed are exactly the objects that were uploaded, not yet collected, and that neither an extent nor the WAL refers to. */
async function checkObjects(metadata: Metadata, model: HistoryModel, streams: readonly OpenedStream[]): Promise<void> {
  const liveBytes = new Map<string, number>()
  for (const { objectKey, lengthBytes } of streams.flatMap((stream) => stream.extents)) {
    liveBytes.set(objectKey, (liveBytes.get(objectKey) ?? 0) + lengthBytes)
  }
  const referenced = new Set([...liveBytes.keys(), ...model.wal.map((wal) => wal.key)])
  const kept = [...model.contents.keys()].filter((key) => !model.collectedKeys.has(key))
  const doomed = (await metadata.log.doomed(model.nowMs, 10_000)).map((object) => object.key)
  expect(doomed.sort()).toEqual(kept.filter((key) => !referenced.has(key)).sort())
  expect(await metadata.log.knownKeys([...model.contents.keys()])).toEqual(new Set(kept))
  const candidates = await metadata.log.compactionCandidates({ maxBytes: 1e9, limit: 10_000 })
  expect(new Map(candidates.map((object) => [object.key, object.liveBytes]))).toEqual(liveBytes)
  expect(await metadata.log.totals()).toMatchObject({ objects: liveBytes.size, doomed: doomed.length })
}

async function checkRetention(
  metadata: Metadata,
  model: HistoryModel,
  streams: readonly OpenedStream[],
): Promise<void> {
  const expected = new Map<number, number>()
  for (const { streamId, extents } of streams) {
    let bytes = extents.reduce((sum, extent) => sum + extent.lengthBytes, 0)
    for (const { endOffset, lengthBytes } of extents) {
      bytes -= lengthBytes
      if (bytes < 60) break
      expected.set(streamId, endOffset)
    }
  }
  const due: { streamId: number; trimTo: number }[] = []
  for (const node of model.nodes.values()) {
    const owned = new Set(model.owned(node).map((stream) => stream.streamId))
    const found = await metadata.streams.retentionDue({ node, unowned: false }, model.nowMs, 10_000)
    expect(found.filter(({ streamId }) => !owned.has(streamId))).toEqual([])
    due.push(...found)
  }
  expect(new Map(due.map(({ streamId, trimTo }) => [streamId, trimTo]))).toEqual(expected)
}
