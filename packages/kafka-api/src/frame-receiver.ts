import type { BufferPool } from '@pico/binary'
import { FrameError } from '@pico/kafka-codec'

/** A request as it was received, without its length prefix. */
export interface ReceivedFrame {
  readonly bytes: Uint8Array
  /** Makes the bytes last until `release`: before that they are only there during the call that gave the frame. */
  keep(): void
  /** Nobody looks at the bytes any more. */
  release(): void
}

const lengthBytes = 4
/** Claimed lengths up to this get their memory at once; longer ones as their bytes arrive. */
const trustedBytes = 1024 * 1024

/**
 * Cuts received bytes into frames: an int32 length, then that many bytes. What is received is borrowed: it lies in a buffer that the
 * next read overwrites. A frame that is whole in it is given as a view of it, and nothing is copied unless somebody keeps it; one that
 * arrives in pieces is put together in memory that is used again.
 */
export class FrameReceiver {
  readonly #memory: BufferPool
  readonly #frameBytesMax: number
  readonly #prefix = Buffer.alloc(lengthBytes)
  #prefixBytes = 0
  /** The frame that is being put together. */
  #partial: Buffer | null = null
  #partialBytes = 0
  #frameBytes = 0

  constructor(memory: BufferPool, frameBytesMax: number) {
    this.#memory = memory
    this.#frameBytesMax = frameBytesMax
  }

  /**
   * Calls `take` with every frame that these bytes complete, in order. `take` says whether to go on.
   * @throws FrameError for a length that is negative or too large: nothing after it can be understood
   */
  receive(bytes: Buffer, take: (frame: ReceivedFrame) => boolean): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#partial !== null) {
        at += this.#append(bytes, at)
        if (this.#partialBytes < this.#frameBytes) return
        if (!take(this.#finish(this.#partial))) return
        continue
      }
      const isWholePrefix = this.#prefixBytes === 0 && bytes.length - at >= lengthBytes
      if (!isWholePrefix) {
        at += this.#appendPrefix(bytes, at)
        if (this.#prefixBytes < lengthBytes) return
        this.#prefixBytes = 0
        this.#frameBytes = this.#checked(this.#prefix.readInt32BE(0))
      } else {
        this.#frameBytes = this.#checked(bytes.readInt32BE(at))
        at += lengthBytes
      }
      const end = at + this.#frameBytes
      if (end > bytes.length) {
        this.#partial = this.#memory.take(Math.min(this.#frameBytes, trustedBytes))
        this.#partialBytes = 0
      } else {
        if (!take(new BorrowedFrame(this.#memory, bytes.subarray(at, end)))) return
        at = end
      }
    }
  }

  /** Gives back what a frame that never became whole has taken. */
  close(): void {
    if (this.#partial !== null) this.#memory.giveBack(this.#partial)
    this.#partial = null
  }

  #checked(length: number): number {
    if (length < 0) throw new FrameError('PICO_KAFKA_FRAME_BAD_LENGTH', length, this.#frameBytesMax)
    if (length > this.#frameBytesMax) throw new FrameError('PICO_KAFKA_FRAME_TOO_LARGE', length, this.#frameBytesMax)
    return length
  }

  #appendPrefix(bytes: Buffer, at: number): number {
    const copied = bytes.copy(this.#prefix, this.#prefixBytes, at, at + lengthBytes - this.#prefixBytes)
    this.#prefixBytes += copied
    return copied
  }

  /** Copies what belongs to the frame under construction; returns how much that was. */
  #append(bytes: Buffer, at: number): number {
    const wanted = Math.min(bytes.length - at, this.#frameBytes - this.#partialBytes)
    const partial = this.#withRoomFor(this.#partialBytes + wanted)
    bytes.copy(partial, this.#partialBytes, at, at + wanted)
    this.#partialBytes += wanted
    return wanted
  }

  #withRoomFor(needed: number): Buffer {
    const partial = this.#partial
    if (partial !== null && needed <= partial.length) return partial
    const grown = this.#memory.take(Math.min(this.#frameBytes, needed * 2))
    if (partial !== null) {
      partial.copy(grown, 0, 0, this.#partialBytes)
      this.#memory.giveBack(partial)
    }
    this.#partial = grown
    return grown
  }

  #finish(partial: Buffer): ReceivedFrame {
    this.#partial = null
    return new PooledFrame(this.#memory, partial, this.#frameBytes)
  }
}

/** Lies in the receive buffer, until somebody keeps it. */
class BorrowedFrame implements ReceivedFrame {
  readonly #memory: BufferPool
  #kept: Buffer | null = null
  bytes: Buffer

  constructor(memory: BufferPool, bytes: Buffer) {
    this.#memory = memory
    this.bytes = bytes
  }

  keep(): void {
    if (this.#kept !== null) return
    this.#kept = this.#memory.take(this.bytes.length)
    this.bytes.copy(this.#kept)
    this.bytes = this.#kept.subarray(0, this.bytes.length)
  }

  release(): void {
    if (this.#kept !== null) this.#memory.giveBack(this.#kept)
    this.#kept = null
  }
}

/** Was put together from pieces. */
class PooledFrame implements ReceivedFrame {
  readonly #memory: BufferPool
  readonly #buffer: Buffer
  readonly bytes: Buffer

  constructor(memory: BufferPool, buffer: Buffer, length: number) {
    this.#memory = memory
    this.#buffer = buffer
    this.bytes = buffer.subarray(0, length)
  }

  keep(): void {} // it lasts already

  release(): void {
    this.#memory.giveBack(this.#buffer)
  }
}
