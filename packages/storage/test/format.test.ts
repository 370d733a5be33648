import { readFileSync } from 'node:fs'
import { decodeWalFrame, encodeSegmentHeader, readDataObjectIndex, scanSegment, type WalRun } from '@pico/storage'
import { openMemoryStore } from '@pico/storage/memory'
import { describe, expect, test } from 'vitest'
import { dataObjectContent, goldenFiles, segmentContent, walObjectContent } from './golden/golden-content.ts'
import { readDataObject, readFrame, readSegment, strangerCrc32c } from './stranger-reader.ts'

function golden(name: string): Buffer {
  return readFileSync(new URL(`golden/${name}.bin`, import.meta.url))
}

/** Both are read; what is written is of the last one. */
const walVersions = [1, 2]

const dataChunks = [
  {
    streamId: 4,
    baseOffset: 0,
    endOffset: 1,
    chunks: [{ baseOffset: 0, maxTimestampMs: -1, text: 'four' }],
  },
  {
    streamId: 300,
    baseOffset: 100,
    endOffset: 111,
    chunks: [
      { baseOffset: 100, maxTimestampMs: 1_700_000_000_005, text: 'three hundred times two' },
      { baseOffset: 110, maxTimestampMs: 1_700_000_000_003, text: 'after a gap' },
    ],
  },
  {
    streamId: 2 ** 40,
    baseOffset: 2 ** 50,
    endOffset: 2 ** 50 + 1,
    chunks: [{ baseOffset: 2 ** 50, maxTimestampMs: 7, text: 'a large id' }],
  },
]

test.each(Object.entries(goldenFiles()))('%s is written as it always was, to the byte', (name, bytes) => {
  expect(bytes.toString('hex')).toBe(golden(name).toString('hex'))
})

describe('a reader written from FORMAT.md alone', () => {
  test('knows CRC-32C', () => {
    expect(strangerCrc32c(Buffer.from('123456789'))).toBe(0xe3069283)
  })

  test.each(walVersions)('reads the WAL object, version %s', (version) => {
    const bytes = golden(`wal-object-v${version}`)
    const { identity, runs } = walObjectContent
    expect(readFrame(bytes, 0)).toEqual({ identity, runs, length: bytes.length })
  })

  test.each(walVersions)('reads the WAL segment, version %s, and drops its torn tail', (version) => {
    const { identity, sizeBytes, previous, frames } = segmentContent
    expect(readSegment(golden(`wal-segment-v${version}`))).toEqual({ identity, sizeBytes, previous, frames, end: 2048 })
  })

  test.each(walVersions)('sees the segment’s damage as the package does, version %s', (version) => {
    const bytes = golden(`wal-segment-v${version}`)
    bytes[600]! ^= 1
    expect(() => readSegment(bytes)).toThrow('damaged at 512')
  })

  test('knows a segment without one before it', () => {
    const { identity, sizeBytes } = segmentContent
    const bytes = Buffer.alloc(sizeBytes)
    Buffer.from(encodeSegmentHeader({ identity, sizeBytes, previous: null })).copy(bytes)
    expect(readSegment(bytes)).toEqual({ identity, sizeBytes, previous: null, frames: [], end: 512 })
  })

  test('reads the data object', () => {
    expect(readDataObject(golden('data-object-v1'))).toEqual(dataChunks)
  })
})

describe('the package', () => {
  const textsOf = (bytes: Buffer, at: number, runs: readonly WalRun[]) =>
    runs.map(({ position, lengthBytes, crc32c: _, summary, ...run }) => ({
      ...run,
      text: bytes.toString('utf8', at + position, at + position + lengthBytes),
      summary: Buffer.from(summary).toString(),
    }))

  test.each(walVersions)('reads the golden WAL object, version %s', (version) => {
    const bytes = golden(`wal-object-v${version}`)
    const { identity, runs } = walObjectContent
    const frame = decodeWalFrame(bytes, 0, { identity, position: 0 })
    if ('invalid' in frame) throw new Error(frame.invalid)
    expect(textsOf(bytes, 0, frame.runs)).toEqual(runs)
  })

  test.each(walVersions)('reads the golden WAL segment, version %s', async (version) => {
    const bytes = golden(`wal-segment-v${version}`)
    const { identity, sizeBytes, previous, frames } = segmentContent
    const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length)
    const scan = await scanSegment(read, { key: 'golden', identity, sizeBytes, committedBytes: null })
    expect(scan).toMatchObject({ previous, endBytes: 2048, empty: false })
    expect(scan.frames.map((frame) => textsOf(bytes, frame.position, frame.runs))).toEqual(frames)
  })

  test('reads the golden data object', async () => {
    const bytes = golden('data-object-v1')
    const store = openMemoryStore()
    await store.put('golden', [bytes])
    const index = await readDataObjectIndex(store, 'golden', bytes.length)
    const found = dataChunks.map(({ streamId }) => {
      const { baseOffset, endOffset, chunks } = index.slice(streamId)!
      const texts = chunks.map(({ baseOffset: first, maxTimestampMs, position, lengthBytes }) => ({
        baseOffset: first,
        maxTimestampMs,
        text: bytes.toString('utf8', position, position + lengthBytes),
      }))
      return { streamId, baseOffset, endOffset, chunks: texts }
    })
    expect(found).toEqual(dataChunks)
    expect(dataObjectContent.entries.map(({ text }) => text).join('')).toBe(bytes.toString('utf8', 0, 48))
  })
})

test('the bytes shown in FORMAT.md are those of the golden file', () => {
  const page = readFileSync(new URL('../FORMAT.md', import.meta.url), 'utf8')
  const lines = [...page.matchAll(/^([0-9a-f]{8}) {2}((?:[0-9a-f]{2} ){15}[0-9a-f]{2}) /gm)]
  expect(lines.length).toBe(7)
  const bytes = golden('wal-segment-v2')
  for (const [, at = '', hex = ''] of lines) {
    const position = Number.parseInt(at, 16)
    expect(bytes.toString('hex', position, position + 16)).toBe(hex.replaceAll(' ', ''))
  }
})
