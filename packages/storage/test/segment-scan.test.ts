import assert from 'node:assert/strict'
import { crc32c } from '@pico/binary'
import {
  encodeSegmentHeader,
  ObjectMissingError,
  type ObjectStore,
  ObjectTruncatedError,
  SegmentDamagedError,
  type SegmentScan,
  type SegmentScanOptions,
  scanSegment,
  UnsupportedVersionError,
  WAL_FRAME_HEADER_BYTES,
  WAL_SEGMENT_HEADER_BYTES,
} from '@pico/storage'
import { openMemoryStore } from '@pico/storage/memory'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { frameOf, identity, type RunContent, textRun } from './wal-fixtures.ts'

const key = 'wal/7/11/13'
const sizeBytes = 4096
const previous = { sequence: 12, committedBytes: 2048 }

interface Segment {
  readonly bytes: Buffer
  /** Where each frame begins, and where the last one ends. */
  readonly ends: readonly number[]
}

/** A segment with a frame per list of runs, over what a recycled file had in it. */
function segmentOf(frames: readonly (readonly RunContent[])[], recycled = Buffer.alloc(sizeBytes)): Segment {
  const bytes = Buffer.from(recycled)
  const ends: number[] = [WAL_SEGMENT_HEADER_BYTES]
  Buffer.from(encodeSegmentHeader({ identity, sizeBytes: bytes.length, previous })).copy(bytes)
  for (const contents of frames) {
    const position = ends.at(-1)!
    const frame = frameOf(contents, position)
    assert(position + frame.lengthBytes <= bytes.length, 'the frames fit')
    Buffer.concat(frame.buffers).copy(bytes, position)
    ends.push(position + frame.lengthBytes)
  }
  return { bytes, ends }
}

function scan(bytes: Buffer, options: Partial<SegmentScanOptions> = {}): Promise<SegmentScan> {
  const read = async (offset: number, length: number) => {
    if (offset + length > bytes.length) throw new ObjectTruncatedError(key, { offset, length })
    return bytes.subarray(offset, offset + length)
  }
  return scanSegment(read, { key, identity, sizeBytes: bytes.length, committedBytes: null, ...options })
}

function scanIn(store: ObjectStore, options: Partial<SegmentScanOptions>): Promise<SegmentScan> {
  const read = (offset: number, length: number) => store.get(key, { offset, length })
  return scanSegment(read, { key, identity, sizeBytes, committedBytes: null, ...options })
}

/** The texts of all runs, read by their positions, as the engine does. */
function texts(bytes: Buffer, { frames }: SegmentScan): string[] {
  return frames.flatMap((frame) =>
    frame.runs.map(({ position, lengthBytes }) => {
      const at = frame.position + position
      return bytes.toString('utf8', at, at + lengthBytes)
    }),
  )
}

const three = segmentOf([
  [textRun('first'), textRun('frame', 0, 2)],
  [textRun('second', 1)],
  [textRun(`third, over a sector: ${'x'.repeat(600)}`, 2)],
])
const [firstAt, secondAt, thirdAt, threeEnd] = three.ends as [number, number, number, number]

describe('an intact segment', () => {
  test('gives every frame, its end and where the segment before it ended', async () => {
    const result = await scan(three.bytes)
    expect(result).toMatchObject({ endBytes: threeEnd, previous, empty: false })
    expect(result.frames.map((frame) => frame.position)).toEqual([firstAt, secondAt, thirdAt])
    expect(texts(three.bytes, result).map((text) => text.slice(0, 6))).toEqual(['first', 'frame', 'second', 'third,'])
  })

  test('gives the same when its end is known, and reads nothing beyond it', async () => {
    const store = openMemoryStore()
    await store.put(key, [three.bytes])
    let readTo = 0
    const read = (offset: number, length: number) => {
      readTo = Math.max(readTo, offset + length)
      return store.get(key, { offset, length })
    }
    const result = await scanSegment(read, { key, identity, sizeBytes, committedBytes: thirdAt })
    expect(result).toMatchObject({ endBytes: thirdAt, previous })
    expect(result.frames.length).toBe(2)
    expect(readTo).toBe(thirdAt)
  })

  test('may be full to its last byte', async () => {
    const full = segmentOf([[textRun('a')], [textRun('b', 1)]], Buffer.alloc(WAL_SEGMENT_HEADER_BYTES * 3))
    expect(await scan(full.bytes)).toMatchObject({ endBytes: full.bytes.length, frames: { length: 2 } })
  })

  test('with a header and no frame is empty', async () => {
    const { bytes } = segmentOf([])
    expect(await scan(bytes)).toEqual({
      frames: [],
      endBytes: WAL_SEGMENT_HEADER_BYTES,
      previous,
      empty: true,
      droppedTail: null,
    })
  })

  test('in which nothing was committed is empty, whatever is in it, and is not read', async () => {
    for (const committedBytes of [0, WAL_SEGMENT_HEADER_BYTES]) {
      expect(await scanIn(openMemoryStore(), { committedBytes })).toEqual({
        frames: [],
        endBytes: 0,
        previous: null,
        empty: true,
        droppedTail: null,
      })
    }
  })
})

describe('a segment never written to', () => {
  const nothing = { frames: [], endBytes: 0, previous: null, empty: true, droppedTail: null }

  test('is empty when it is all zeros', async () => {
    expect(await scan(Buffer.alloc(sizeBytes))).toEqual(nothing)
  })

  test('is empty when it is a recycled one, full of another segment’s frames', async () => {
    expect(await scan(three.bytes, { identity: { ...identity, sequence: 14 } })).toEqual(nothing)
    expect(await scan(three.bytes, { identity: { ...identity, nodeEpoch: 12 } })).toEqual(nothing)
  })

  test('that has no file is the caller’s to judge', async () => {
    await expect(scanIn(openMemoryStore(), {})).rejects.toThrow(ObjectMissingError)
  })
})

describe('old frames in a recycled file', () => {
  test('never pass for new ones, whatever the new ones leave uncovered', async () => {
    const other = { ...identity, sequence: 12 }
    const old = Buffer.alloc(sizeBytes)
    for (let at = WAL_SEGMENT_HEADER_BYTES; at < sizeBytes; at += 512) {
      Buffer.concat(frameOf([textRun('old')], at, other).buffers).copy(old, at)
    }
    const { bytes, ends } = segmentOf([[textRun('new')], [textRun('newer', 1)]], old)
    const result = await scan(bytes)
    expect(result.endBytes).toBe(ends.at(-1))
    expect(texts(bytes, result)).toEqual(['new', 'newer'])
  })
})

describe('a flipped byte', () => {
  /** Every byte of the segment, each with two different changes. */
  async function flipEach(segment: Segment, check: (at: number, bytes: Buffer) => Promise<void>): Promise<void> {
    for (let at = 0; at < segment.bytes.length; at++) {
      for (const change of [0x01, 0xff]) {
        const bytes = Buffer.from(segment.bytes)
        bytes[at]! ^= change
        await check(at, bytes)
      }
    }
  }

  test('anywhere in acknowledged frames or the header is a refusal that names the file; in the last frame, a dropped tail', async () => {
    const intact = await scan(three.bytes)
    await flipEach(three, async (at, bytes) => {
      const result = await scan(bytes).catch((error: unknown) => error)
      if (at < thirdAt) {
        expect(result, `byte ${at}`).toBeInstanceOf(SegmentDamagedError)
        const damage = result as SegmentDamagedError
        expect(damage.key).toBe(key)
        expect(damage.position).toBe(at < firstAt ? 0 : at < secondAt ? firstAt : secondAt)
        expect(damage.message).toContain(key)
      } else if (at < threeEnd) {
        // Where the frame's own header is intact it is known that one was begun, and that is told.
        const droppedTail = at < thirdAt + WAL_FRAME_HEADER_BYTES ? null : expect.any(String)
        const kept = { frames: intact.frames.slice(0, 2), endBytes: thirdAt, droppedTail }
        expect(result, `byte ${at}`).toEqual({ ...intact, ...kept })
      } else {
        expect(result, `byte ${at}`).toEqual(intact)
      }
    })
  })

  test('anywhere before a known end is a refusal, the last frame too; behind it, it does not matter', async () => {
    const intact = await scan(three.bytes)
    await flipEach(three, async (at, bytes) => {
      const result = await scan(bytes, { committedBytes: threeEnd }).catch((error: unknown) => error)
      if (at < threeEnd) expect(result, `byte ${at}`).toBeInstanceOf(SegmentDamagedError)
      else expect(result).toEqual(intact)
    })
  })

  test('in the only frame leaves an empty segment, in the header before it a refusal', async () => {
    const one = segmentOf([[textRun('only')]])
    await flipEach(one, async (at, bytes) => {
      const result = await scan(bytes).catch((error: unknown) => error)
      if (at < firstAt) expect(result, `byte ${at}`).toBeInstanceOf(SegmentDamagedError)
      else if (at < one.ends[1]!) expect(result).toMatchObject({ empty: true, endBytes: firstAt, previous })
      else expect(result).toMatchObject({ empty: false, endBytes: one.ends[1] })
    })
  })
})

describe('a write that tore', () => {
  /** The file as a crash in the last frame's write may leave it: of its sectors, those in `kept`. */
  function torn(segment: Segment, before: Buffer, kept: (sector: number) => boolean): Buffer {
    const bytes = Buffer.from(segment.bytes)
    const [start, end] = segment.ends.slice(-2) as [number, number]
    for (let at = start; at < end; at += 512) {
      if (!kept((at - start) / 512)) before.copy(bytes, at, at, at + 512)
    }
    return bytes
  }

  test('is dropped wherever its beginning ends, and whichever of its sectors are missing', async () => {
    const long = segmentOf([[textRun('kept')], [textRun('y'.repeat(2500), 1)]])
    const sectors = (long.ends[2]! - long.ends[1]!) / 512
    for (let present = 0; present < 2 ** sectors - 1; present++) {
      const bytes = torn(long, Buffer.alloc(sizeBytes), (sector) => (present & (1 << sector)) !== 0)
      const result = await scan(bytes)
      expect(result.endBytes).toBe(long.ends[1])
      expect(texts(bytes, result)).toEqual(['kept'])
    }
  })

  test('at every single byte is dropped', async () => {
    for (let cut = thirdAt; cut < threeEnd; cut++) {
      const bytes = Buffer.from(three.bytes).fill(0, cut, threeEnd)
      // A trailer's last bytes may be zeros that were there anyway: nothing is torn then.
      if (bytes.equals(three.bytes)) continue
      expect((await scan(bytes)).endBytes, `cut at ${cut}`).toBe(thirdAt)
    }
  })

  test('with the bytes of another frame within its data is dropped all the same', async () => {
    // What a client wrote may look like a frame of this very segment, at the very place it is stored at.
    const lure = Buffer.concat(frameOf([textRun('not a frame but data')], thirdAt + 512).buffers)
    const data = Buffer.concat([Buffer.alloc(512 - 52), lure, Buffer.alloc(512)])
    const content = [textRun('first')]
    const segment = segmentOf([content, [textRun('second', 1)], [{ ...textRun('', 2), bytes: data }]])
    expect((await scan(segment.bytes)).frames.length).toBe(3)
    const cut = Buffer.from(segment.bytes).fill(0, segment.ends[3]! - 600, segment.ends[3])
    expect(await scan(cut)).toMatchObject({ endBytes: segment.ends[2], frames: { length: 2 } })
  })
})

describe('frames that were on their way at once', () => {
  /** One frame that is durable, then three that were begun before any of them was. */
  const texts3 = ['y'.repeat(700), 'short', 'z'.repeat(300)]
  const durable = segmentOf([[textRun('kept')]])
  const from = durable.ends[1]!
  const ends = [from]
  const together = Buffer.from(durable.bytes)
  for (const [i, text] of texts3.entries()) {
    const position = ends.at(-1)!
    const frame = frameOf([textRun(text, i + 1)], position, identity, from)
    ends.push(position + Buffer.concat(frame.buffers).copy(together, position))
  }
  const sectors = (ends[3]! - from) / 512

  /** How many of the three are whole up to the first that is not. */
  function wholePrefix(bytes: Buffer): number {
    const torn = texts3.findIndex(
      (_, i) => !bytes.subarray(ends[i], ends[i + 1]).equals(together.subarray(ends[i], ends[i + 1])),
    )
    return torn === -1 ? texts3.length : torn
  }

  test('are kept up to the first that is not whole, whichever of their sectors a crash leaves', async () => {
    for (let present = 0; present < 2 ** sectors; present++) {
      const bytes = Buffer.from(together)
      for (let sector = 0; sector < sectors; sector++) {
        if ((present & (1 << sector)) === 0) bytes.fill(0, from + sector * 512, from + sector * 512 + 512)
      }
      const result = await scan(bytes)
      const whole = wholePrefix(bytes)
      expect(result.endBytes, `sectors ${present.toString(2)}`).toBe(ends[whole])
      expect(texts(bytes, result)).toEqual(['kept', ...texts3.slice(0, whole)])
    }
  })

  test('are told of when they are dropped, also where only a later one is left', async () => {
    const bytes = Buffer.from(together).fill(0, from, ends[1])
    expect((await scan(bytes)).droppedTail).toContain(`a later frame was begun at byte ${ends[1]}`)
  })

  test('do not hide damage to what was durable before them', async () => {
    for (let at = WAL_SEGMENT_HEADER_BYTES; at < from; at++) {
      const bytes = Buffer.from(together)
      bytes[at]! ^= 0x10
      await expect(scan(bytes), `byte ${at}`).rejects.toThrow(SegmentDamagedError)
    }
  })

  test('are damaged, not dropped, once a frame after them says that they were durable', async () => {
    const next = frameOf([textRun('next', 4)], ends[3]!, identity, ends[2]!)
    const bytes = Buffer.from(together)
    Buffer.concat(next.buffers).copy(bytes, ends[3]!)
    for (const at of [ends[0]!, ends[1]! + 60, ends[2]! - 1]) {
      const flipped = Buffer.from(bytes)
      flipped[at]! ^= 1
      await expect(scan(flipped), `byte ${at}`).rejects.toThrow(SegmentDamagedError)
    }
    const flipped = Buffer.from(bytes)
    flipped[ends[2]! + 60]! ^= 1
    expect(await scan(flipped)).toMatchObject({ endBytes: ends[2] })
  })
})

describe('damage', () => {
  test('to several frames in a row is found by the frame after them, even if only its header is left', async () => {
    const bytes = Buffer.from(three.bytes).fill(0, firstAt, thirdAt)
    await expect(scan(bytes)).rejects.toThrow(SegmentDamagedError)
    bytes.fill(0, thirdAt + 52, threeEnd)
    await expect(scan(bytes)).rejects.toThrow(SegmentDamagedError)
  })

  test('that cuts the file short is a refusal that names the file, unless the cut is behind a known end', async () => {
    for (let length = 0; length < sizeBytes; length++) {
      const bytes = three.bytes.subarray(0, length)
      await expect(scan(bytes, { sizeBytes }), `${length} bytes`).rejects.toThrow(SegmentDamagedError)
      const known = scan(bytes, { sizeBytes, committedBytes: thirdAt })
      if (length < thirdAt) await expect(known, `${length} bytes`).rejects.toThrow(SegmentDamagedError)
      else expect((await known).frames.length).toBe(2)
    }
  })

  test('is a known end in the middle of a frame, or behind the last one', async () => {
    for (const committedBytes of [firstAt + 100, thirdAt + 512, threeEnd + 512]) {
      await expect(scan(three.bytes, { committedBytes })).rejects.toThrow(SegmentDamagedError)
    }
  })

  test('is a header that tells of another length', async () => {
    await expect(scan(Buffer.concat([three.bytes, Buffer.alloc(512)]))).rejects.toThrow(SegmentDamagedError)
  })
})

test('an intact segment of a newer version is refused as such, not taken for damaged or empty', async () => {
  const bytes = Buffer.from(three.bytes)
  bytes.writeUInt32BE(3, 8)
  bytes.writeUInt32BE(crc32c(bytes.subarray(0, 508)), 508)
  const error = await scan(bytes).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(UnsupportedVersionError)
  expect(error).toMatchObject({ key, version: 3 })
})

test('frames longer than what is read at once are read, and memory is bounded by the longest', async () => {
  const large = 9 * 1024 * 1024
  const contents = [5, 6 * 1024 * 1024, 100_000, 2 * 1024 * 1024].map((length, i) => ({
    ...textRun('', i),
    bytes: Buffer.alloc(length, i + 1),
  }))
  const segment = segmentOf(
    contents.map((run) => [run]),
    Buffer.alloc(large),
  )
  const store = openMemoryStore()
  await store.put(key, [segment.bytes])
  let longest = 0
  const result = await scanSegment(
    (offset, length) => {
      longest = Math.max(longest, length)
      return store.get(key, { offset, length })
    },
    { key, identity, sizeBytes: large, committedBytes: null },
  )
  expect(result.frames.map((frame) => frame.runs[0]?.lengthBytes)).toEqual([
    5,
    6 * 1024 * 1024,
    100_000,
    2 * 1024 * 1024,
  ])
  expect(longest).toBeLessThan(6 * 1024 * 1024 + 2048)
})

test('any bytes are an empty segment or a refusal, never frames', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 2048, maxLength: 2048 }), async (bytes) => {
      expect(await scan(Buffer.from(bytes))).toMatchObject({ empty: true })
    }),
    { numRuns: 200 },
  )
})
