import { BufferPool } from '@pico/binary'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameReceiver, type ReceivedFrame } from '../src/frame-receiver.ts'

/** Puts every chunk into one buffer, as reads do, and overwrites it after each. */
function receiveInto(
  receiver: FrameReceiver,
  chunks: readonly Uint8Array[],
  take: (frame: ReceivedFrame) => boolean,
): void {
  const shared = Buffer.alloc(Math.max(1, ...chunks.map(({ length }) => length)))
  for (const chunk of chunks) {
    shared.set(chunk)
    receiver.receive(shared.subarray(0, chunk.length), take)
    shared.fill(0xee)
  }
}

function framed(payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(4 + payload.length)
  frame.writeInt32BE(payload.length)
  frame.set(payload, 4)
  return frame
}

/** The stream in pieces of these lengths, over and over. */
function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1
    chunks.push(bytes.subarray(at, at + length))
    at += length
  }
  return chunks
}

describe('frames', () => {
  it('come out whole, however the stream is cut, and last once they are kept', () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 200 }), { minLength: 1, maxLength: 20 })
    const lengths = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(payloads, lengths, (sent, sizes) => {
        const seen: Buffer[] = []
        const kept: ReceivedFrame[] = []
        receiveInto(new FrameReceiver(new BufferPool(), 1000), cut(Buffer.concat(sent.map(framed)), sizes), (frame) => {
          seen.push(Buffer.from(frame.bytes))
          frame.keep()
          kept.push(frame)
          return true
        })
        expect(seen).toEqual(sent.map((payload) => Buffer.from(payload)))
        expect(kept.map(({ bytes }) => Buffer.from(bytes))).toEqual(seen)
      }),
    )
  })

  it('are views of what was received where they are whole in it', () => {
    const bytes = Buffer.concat([framed(Buffer.from('one')), framed(Buffer.from('two'))])
    new FrameReceiver(new BufferPool(), 100).receive(bytes, (frame) => {
      expect(frame.bytes.buffer).toBe(bytes.buffer)
      return true
    })
  })

  it('may be longer than what is trusted at once', () => {
    const payload = Buffer.alloc(3_500_000, 'x')
    let received = 0
    receiveInto(new FrameReceiver(new BufferPool(), 1 << 22), cut(framed(payload), [65_536]), ({ bytes }) => {
      received++
      expect(payload.equals(bytes)).toBe(true)
      return true
    })
    expect(received).toBe(1)
  })

  it('stop coming when nobody wants more', () => {
    const seen: string[] = []
    new FrameReceiver(new BufferPool(), 100).receive(
      Buffer.concat(['a', 'b'].map((text) => framed(Buffer.from(text)))),
      ({ bytes }) => {
        seen.push(Buffer.from(bytes).toString())
        return false
      },
    )
    expect(seen).toEqual(['a'])
  })

  it.each([-1, -(2 ** 31), 101])('of %i bytes are refused', (length) => {
    const prefix = Buffer.alloc(4)
    prefix.writeInt32BE(length)
    for (const sizes of [[4], [1]]) {
      expect(() => receiveInto(new FrameReceiver(new BufferPool(), 100), cut(prefix, sizes), () => true)).toThrow(
        /0 to 100/,
      )
    }
  })
})

describe('memory', () => {
  class CountingMemory extends BufferPool {
    taken = 0
    outstanding = 0
    override take(bytes: number): Buffer {
      this.taken += bytes
      this.outstanding++
      return super.take(bytes)
    }
    override giveBack(buffer: Buffer): void {
      this.outstanding--
      super.giveBack(buffer)
    }
  }

  it('is not taken on the word of a length', () => {
    const memory = new CountingMemory()
    const prefix = Buffer.alloc(4)
    prefix.writeInt32BE(100 << 20)
    new FrameReceiver(memory, 100 << 20).receive(Buffer.concat([prefix, Buffer.alloc(10)]), () => true)
    expect(memory.taken).toBeLessThanOrEqual(1 << 20)
  })

  it('is all given back: by release, and for a frame that never became whole by close', () => {
    const memory = new CountingMemory()
    const receiver = new FrameReceiver(memory, 1 << 22)
    const stream = Buffer.concat([
      framed(Buffer.alloc(300)),
      framed(Buffer.alloc(2_500_000)),
      framed(Buffer.alloc(500)),
    ])
    receiveInto(receiver, cut(stream.subarray(0, stream.length - 1), [70_000]), (frame) => {
      frame.keep()
      frame.keep()
      frame.release()
      return true
    })
    receiver.close()
    expect(memory.outstanding).toBe(0)
  })
})
