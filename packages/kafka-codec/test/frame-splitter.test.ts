import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FrameError, FrameSplitter } from '../src/index.ts'

const maxFrameBytes = 100_000

function frame(payload: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(payload.length)
  return Buffer.concat([length, payload])
}

function thrownBy(run: () => unknown): FrameError {
  try {
    run()
  } catch (error) {
    if (error instanceof FrameError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('a frame splitter', () => {
  test('gives the same payloads however the bytes are cut into chunks', () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 6000 }), { maxLength: 8 })
    fc.assert(
      fc.property(
        payloads,
        fc.array(fc.nat({ max: 9000 }), { minLength: 1, maxLength: 30 }),
        (expected, chunkLengths) => {
          const stream = Buffer.concat(expected.map(frame))
          const splitter = new FrameSplitter({ maxFrameBytes })
          const given: Uint8Array[] = []
          for (let at = 0, turn = 0; at < stream.length; turn++) {
            const length = Math.max(1, chunkLengths[turn % chunkLengths.length]!)
            given.push(...splitter.push(stream.subarray(at, at + length)))
            at += length
          }
          expect(given.map((payload) => Buffer.from(payload))).toEqual(expected.map((payload) => Buffer.from(payload)))
          expect(splitter.bufferedBytes).toBe(0)
        },
      ),
    )
  })

  test('gives views of a chunk that holds whole frames', () => {
    const chunk = Buffer.concat([frame(Buffer.from('one')), frame(Buffer.from('two'))])
    const payloads = new FrameSplitter({ maxFrameBytes }).push(chunk)
    chunk.fill('x')
    expect(payloads.map((payload) => Buffer.from(payload).toString())).toEqual(['xxx', 'xxx'])
  })

  test('gives empty payloads too', () => {
    expect(new FrameSplitter({ maxFrameBytes }).push(Buffer.alloc(8))).toHaveLength(2)
  })

  test('counts what it holds of a frame that is not whole', () => {
    const splitter = new FrameSplitter({ maxFrameBytes })
    expect(splitter.push(frame(Buffer.alloc(100)).subarray(0, 50))).toEqual([])
    expect(splitter.bufferedBytes).toBe(50)
    expect(splitter.push(Buffer.alloc(0))).toEqual([])
    expect(splitter.push(Buffer.alloc(54))).toHaveLength(1)
    expect(splitter.bufferedBytes).toBe(0)
  })

  test('refuses a length above the limit as soon as it is here, and keeps to the limit exactly', () => {
    const splitter = new FrameSplitter({ maxFrameBytes: 10 })
    expect(splitter.push(frame(Buffer.alloc(10)))).toHaveLength(1)
    expect(thrownBy(() => splitter.push(Buffer.from([0, 0, 0, 11])))).toMatchObject({
      code: 'PICO_KAFKA_FRAME_TOO_LARGE',
      lengthBytes: 11,
    })
  })

  test('refuses a negative length', () => {
    const splitter = new FrameSplitter({ maxFrameBytes })
    expect(thrownBy(() => splitter.push(Buffer.from([0xff, 0xff, 0xff, 0xff])))).toMatchObject({
      code: 'PICO_KAFKA_FRAME_BAD_LENGTH',
      lengthBytes: -1,
    })
  })

  test('allocates nothing for a length whose bytes have not come', () => {
    const before = process.memoryUsage().arrayBuffers
    const splitters = Array.from({ length: 200 }, () => new FrameSplitter({ maxFrameBytes: 100 * 2 ** 20 }))
    for (const splitter of splitters) splitter.push(Buffer.from([0x06, 0, 0, 0, 1, 2, 3]))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5 * 2 ** 20)
    expect(splitters[0]?.bufferedBytes).toBe(7)
  })

  test('takes a frame byte by byte without keeping every byte apart', () => {
    const splitter = new FrameSplitter({ maxFrameBytes: 2 ** 20 })
    const bytes = frame(Buffer.alloc(60_000, 7))
    const started = performance.now()
    const payloads = Array.from(bytes, (byte) => splitter.push(Buffer.of(byte))).flat()
    expect(payloads).toHaveLength(1)
    expect(Buffer.from(payloads[0]!)).toEqual(Buffer.alloc(60_000, 7))
    expect(performance.now() - started).toBeLessThan(5000)
  })
})
