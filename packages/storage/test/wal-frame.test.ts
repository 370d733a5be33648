import { AssertionError } from 'node:assert'
import { crc32c } from '@pico/binary'
import {
  decodeWalFrame,
  decodeWalIndex,
  encodeWalFrame,
  MalformedError,
  WAL_FRAME_ALIGNMENT,
  WAL_FRAME_HEADER_BYTES,
} from '@pico/storage'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { frameOf, identity, type RunContent, runsOf, textRun } from './wal-fixtures.ts'

const anyOffset = fc.oneof(
  fc.nat(1000),
  fc.maxSafeNat().filter((offset) => offset < 2 ** 52),
)
const anyRun: fc.Arbitrary<RunContent> = fc.record({
  streamId: fc.oneof(fc.nat(100), fc.maxSafeNat()),
  baseOffset: anyOffset,
  count: fc.integer({ min: 1, max: 2 ** 31 }),
  maxTimestampMs: fc.oneof(fc.constant(-1), fc.maxSafeInteger()),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 700 }),
  summary: fc.uint8Array({ maxLength: 40 }),
})
const anyIdentity = fc.record({
  nodeId: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  nodeEpoch: fc.maxSafeNat(),
  sequence: fc.maxSafeNat(),
})

test('what was encoded is decoded, wherever the frame lies in its file', () => {
  fc.assert(
    fc.property(fc.array(anyRun, { maxLength: 8 }), anyIdentity, fc.nat(100), (contents, of, sectors) => {
      const position = sectors * WAL_FRAME_ALIGNMENT
      const frame = frameOf(contents, position, of)
      const bytes = Buffer.concat([Buffer.alloc(37), ...frame.buffers])
      expect(bytes.length - 37).toBe(frame.lengthBytes)
      expect(frame.lengthBytes % WAL_FRAME_ALIGNMENT).toBe(0)
      const decoded = decodeWalFrame(bytes, 37, { identity: of, position })
      const runs = runsOf(contents)
      expect(decoded).toEqual({ identity: of, runs, lengthBytes: frame.lengthBytes })
      expect(decodeWalIndex(frame.index)).toEqual(runs)
      expect(decodeWalFrame(bytes, 37, { position })).toEqual(decoded)
    }),
    { numRuns: 300 },
  )
})

test('a frame without runs is a frame', () => {
  const frame = frameOf([], 0)
  expect(decodeWalFrame(Buffer.concat(frame.buffers), 0, { identity, position: 0 })).toEqual({
    identity,
    runs: [],
    lengthBytes: WAL_FRAME_ALIGNMENT,
  })
})

test('the body is the caller’s own buffers, and only the runs say where one entry ends', () => {
  const contents = [textRun('one'), textRun('two', 1), textRun('three', 2)]
  const [onetwo, three] = [Buffer.from('onetwo'), Buffer.from('three')]
  const frame = encodeWalFrame({
    identity,
    position: 0,
    committedBytes: 0,
    body: [onetwo, three],
    runs: runsOf(contents),
  })
  expect(frame.buffers[1]).toBe(onetwo)
  expect(frame.buffers[2]).toBe(three)
  expect(decodeWalFrame(Buffer.concat(frame.buffers), 0, { identity, position: 0 })).not.toHaveProperty('invalid')
})

describe('every byte is covered', () => {
  const bytes = Buffer.concat(frameOf([textRun('some bytes'), textRun('more of them', 1, 2)], 1024).buffers)
  const expected = { identity, position: 1024 }

  test('each single bit that is flipped makes the frame invalid', () => {
    for (let at = 0; at < bytes.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        bytes[at]! ^= 1 << bit
        expect(decodeWalFrame(bytes, 0, expected), `bit ${bit} of byte ${at}`).toHaveProperty('invalid')
        bytes[at]! ^= 1 << bit
      }
    }
    expect(decodeWalFrame(bytes, 0, expected)).not.toHaveProperty('invalid')
  })

  test('each truncation makes the frame invalid', () => {
    for (let length = 0; length < bytes.length; length++) {
      expect(decodeWalFrame(bytes.subarray(0, length), 0, expected)).toHaveProperty('invalid')
    }
  })

  test('a frame of another node, epoch or segment, or from another place, is invalid', () => {
    for (const other of [
      { ...identity, nodeId: 8 },
      { ...identity, nodeEpoch: 12 },
      { ...identity, sequence: 12 },
    ]) {
      expect(decodeWalFrame(bytes, 0, { identity: other, position: 1024 })).toHaveProperty('invalid')
    }
    expect(decodeWalFrame(bytes, 0, { identity, position: 512 })).toHaveProperty('invalid')
  })

  test('a header over the body and trailer of an older frame of the same shape is invalid', () => {
    const older = frameOf([textRun('some bytes'), textRun('more of them', 1, 2)], 1024, { ...identity, sequence: 12 })
    const mixed = Buffer.concat(older.buffers)
    bytes.copy(mixed, 0, 0, WAL_FRAME_HEADER_BYTES)
    expect(decodeWalFrame(mixed, 0, expected)).toHaveProperty('invalid')
  })
})

describe('an encoder’s mistakes are caught before they are written', () => {
  const contents = [textRun('one'), textRun('two', 1)]
  const body = contents.map(({ bytes }) => bytes)
  const [first, second] = runsOf(contents) as [ReturnType<typeof runsOf>[0], ReturnType<typeof runsOf>[0]]

  test.each([
    ['a gap between runs', [first, { ...second, position: second.position + 1 }]],
    ['runs out of order', [second, first]],
    ['a body longer than its runs', [first]],
    ['a run without offsets', [first, { ...second, endOffset: second.baseOffset }]],
  ])('%s', (_, runs) => {
    expect(() => encodeWalFrame({ identity, position: 0, committedBytes: 0, body, runs })).toThrow(AssertionError)
  })

  test('a frame that does not begin at a multiple of the alignment', () => {
    expect(() => encodeWalFrame({ identity, position: 100, committedBytes: 0, body: [], runs: [] })).toThrow(
      AssertionError,
    )
  })
})

describe('an index that is not one', () => {
  const { index } = frameOf([textRun('one'), textRun('two', 1)], 0)

  test('each truncation throws MalformedError', () => {
    for (let length = 0; length < index.length; length++) {
      expect(() => decodeWalIndex(index.subarray(0, length))).toThrow(MalformedError)
    }
  })

  test('bytes behind it throw MalformedError', () => {
    expect(() => decodeWalIndex(Buffer.concat([index, Buffer.from([0])]))).toThrow(MalformedError)
  })

  test('a count that the bytes cannot hold throws before anything is allocated', () => {
    expect(() => decodeWalIndex(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]))).toThrow(MalformedError)
  })

  test('any bytes either decode or throw MalformedError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decodeWalIndex(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedError)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

test('a frame whose trailer is right but whose index is not, is invalid and no exception', () => {
  const bytes = Buffer.concat(frameOf([textRun('one')], 0).buffers)
  // The count of runs, first byte of the footer.
  bytes[WAL_FRAME_HEADER_BYTES + 3] = 2
  const crcAt = bytes.length - 16
  const covered = Buffer.concat([
    bytes.subarray(0, WAL_FRAME_HEADER_BYTES),
    bytes.subarray(WAL_FRAME_HEADER_BYTES + 3, crcAt),
  ])
  bytes.writeUInt32BE(crc32c(covered), crcAt)
  expect(decodeWalFrame(bytes, 0, { identity, position: 0 })).toHaveProperty('invalid')
})
