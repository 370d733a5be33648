import { crc32c } from '@pico/binary'
import { encodeSegmentHeader, encodeWalFrame, scanSegment, type WalIdentity, type WalRun } from '@pico/storage'
import { openFileStore } from '@pico/storage/file'
import { openMemoryStore } from '@pico/storage/memory'
import { expect, test } from 'vitest'

const identity: WalIdentity = { nodeId: 1, nodeEpoch: 2, sequence: 3 }
const sizeBytes = 4096

function frame(position: number, texts: readonly string[], of = identity) {
  let at = 52
  const body = texts.map((text) => Buffer.from(text))
  const runs = body.map((bytes, i): WalRun => {
    const run = {
      streamId: i,
      baseOffset: position,
      endOffset: position + 1,
      position: at,
      lengthBytes: bytes.length,
      maxTimestampMs: 1_700_000_000_000,
      crc32c: crc32c(bytes),
      summary: Buffer.from('s'),
    }
    at += bytes.length
    return run
  })
  return encodeWalFrame({ identity: of, position, body, runs })
}

test('frames written to a segment are read back', async () => {
  for (const store of [openMemoryStore(), await openFileStore('/tmp/pico-smoke')]) {
    await store.delete(['wal/1'])
    const segment = await store.create('wal/1', sizeBytes)
    const first = frame(512, ['hello', 'world'])
    await segment.write(0, [encodeSegmentHeader({ identity, sizeBytes, previous: null }), ...first.buffers])
    const second = frame(512 + first.lengthBytes, ['again'])
    await segment.write(512 + first.lengthBytes, second.buffers)
    await segment.close()
    const scan = await scanSegment((offset, length) => store.get('wal/1', { offset, length }), {
      key: 'wal/1',
      identity,
      sizeBytes,
      committedBytes: null,
    })
    expect(scan.frames.length).toBe(2)
    expect(scan.endBytes).toBe(1536)
    expect(scan.frames[0]?.runs.map((run) => run.lengthBytes)).toEqual([5, 5])
    await store.put('data/x', [Buffer.from('abc'), Buffer.from('def')])
    expect(Buffer.from(await store.get('data/x', { offset: 2, length: 3 })).toString()).toBe('cde')
    const keys = []
    for await (const info of store.list('')) keys.push(info)
    expect(keys).toEqual([
      { key: 'data/x', sizeBytes: 6 },
      { key: 'wal/1', sizeBytes },
    ])
  }
})
