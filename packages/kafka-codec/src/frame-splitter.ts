import { FrameError } from './errors.ts'

export interface FrameSplitterSettings {
  /** Largest payload accepted. Kafka's `socket.request.max.bytes` is 100 MiB by default. */
  readonly maxFrameBytes: number
}

const lengthBytes = 4

/** Neighbouring pieces shorter than this are merged, so that a peer that sends single bytes cannot make us keep a view of each. */
const mergeMaxBytes = 4096

/**
 * Cuts a byte stream into frames: an int32 length, then that many bytes.
 *
 * Keeps what it is given until the frame is whole, so a chunk must not be written to after `push`. A frame that lies
 * within one chunk comes out as a view of it; a frame spread over several is copied once, when its last byte is here.
 * Nothing is allocated on the word of a length that has not arrived yet.
 */
export class FrameSplitter {
  readonly #maxFrameBytes: number
  #pieces: Uint8Array[] = []
  #bufferedBytes = 0
  /** Bytes that must be here before the next step: the length, or length and payload. */
  #neededBytes = lengthBytes

  constructor(settings: FrameSplitterSettings) {
    this.#maxFrameBytes = settings.maxFrameBytes
  }

  /** Bytes held of a frame that is not yet whole. */
  get bufferedBytes(): number {
    return this.#bufferedBytes
  }

  /**
   * The payloads that `chunk` completes, in order. Throws `FrameError` for a length that is negative or too large:
   * nothing after it can be understood, so the connection must be closed.
   */
  push(chunk: Uint8Array): Uint8Array[] {
    this.#keep(chunk)
    const payloads: Uint8Array[] = []
    while (this.#bufferedBytes >= this.#neededBytes) {
      if (this.#neededBytes === lengthBytes) this.#neededBytes += this.#peekLength()
      if (this.#bufferedBytes < this.#neededBytes) break
      payloads.push(this.#takeFrame().subarray(lengthBytes))
      this.#neededBytes = lengthBytes
    }
    return payloads
  }

  #keep(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#bufferedBytes += chunk.length
    const last = this.#pieces.at(-1)
    if (last !== undefined && last.length + chunk.length <= mergeMaxBytes) {
      this.#pieces[this.#pieces.length - 1] = Buffer.concat([last, chunk])
    } else {
      this.#pieces.push(chunk)
    }
  }

  #peekLength(): number {
    const { parts } = this.#front(lengthBytes)
    const first = parts[0]!
    const whole = first.length >= lengthBytes ? first : Buffer.concat(parts, lengthBytes)
    const length = new DataView(whole.buffer, whole.byteOffset).getInt32(0)
    if (length < 0) throw new FrameError('PICO_KAFKA_FRAME_BAD_LENGTH', length, this.#maxFrameBytes)
    if (length > this.#maxFrameBytes) throw new FrameError('PICO_KAFKA_FRAME_TOO_LARGE', length, this.#maxFrameBytes)
    return length
  }

  /** Removes length and payload of the first frame, which is here in full. */
  #takeFrame(): Uint8Array {
    const bytes = this.#neededBytes
    const { parts, heldBytes } = this.#front(bytes)
    const last = parts.at(-1)!
    const rest = last.subarray(last.length - (heldBytes - bytes))
    this.#pieces.splice(0, parts.length, ...(rest.length > 0 ? [rest] : []))
    this.#bufferedBytes -= bytes
    return parts.length === 1 ? last.subarray(0, bytes) : Buffer.concat(parts, bytes)
  }

  /** As many pieces from the front as it takes to hold `bytes`, which are here. */
  #front(bytes: number): { parts: Uint8Array[]; heldBytes: number } {
    let count = 0
    let heldBytes = 0
    for (; heldBytes < bytes; count++) heldBytes += this.#pieces[count]!.length
    return { parts: this.#pieces.slice(0, count), heldBytes }
  }
}
