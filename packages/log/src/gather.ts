import type { SharedMemory } from '@pico/binary'
import type { EntryFormat, EntryHeader } from './entry-format.ts'
import type { LogRead } from './log-stream.ts'

/** Whole entries of one stream, back to back, ascending. */
export interface EntryBytes {
  readonly bytes: Uint8Array
  readonly baseOffset: number
  readonly endOffset: number
  /** Where they lie; held for whoever was given them. */
  readonly memory: SharedMemory
}

/** The entries in `bytes`, each with where it begins. */
export function* entries(format: EntryFormat, bytes: Uint8Array): Generator<{ at: number; header: EntryHeader }> {
  let at = 0
  while (at < bytes.length) {
    if (bytes.length - at < format.headerBytes) throw new RangeError(`an entry header is cut off at ${at}`)
    const header = format.measure(bytes, at)
    if (header.lengthBytes <= 0 || at + header.lengthBytes > bytes.length) {
      throw new RangeError(`the entry at ${at} claims ${header.lengthBytes} of ${bytes.length - at} bytes`)
    }
    yield { at, header }
    at += header.lengthBytes
  }
}

/** What a data object is built from: whole entries, cut so that no checksum covers much more than `chunkBytes`. */
export function* pieces(
  format: EntryFormat,
  streamId: number,
  bytes: Uint8Array,
  chunkBytes: number,
): Generator<EntryPiece> {
  let start = 0
  let baseOffset = -1
  let endOffset = -1
  let maxTimestampMs = -1
  const cut = (end: number): EntryPiece => ({
    streamId,
    baseOffset,
    endOffset,
    maxTimestampMs,
    bytes: bytes.subarray(start, end),
  })
  for (const { at, header } of entries(format, bytes)) {
    if (baseOffset >= 0 && at - start >= chunkBytes) {
      yield cut(at)
      start = at
      baseOffset = -1
      maxTimestampMs = -1
    }
    if (baseOffset < 0) baseOffset = header.baseOffset
    endOffset = header.endOffset
    maxTimestampMs = Math.max(maxTimestampMs, header.maxTimestampMs)
  }
  if (baseOffset >= 0) yield cut(bytes.length)
}

interface EntryPiece {
  readonly streamId: number
  readonly baseOffset: number
  readonly endOffset: number
  readonly maxTimestampMs: number
  readonly bytes: Uint8Array
}

/** Collects a read: from the entry that holds the offset asked for, whole entries, up to a size but at least one. */
export class Gather {
  readonly #format: EntryFormat
  readonly #maxBytes: number
  readonly #buffers: Uint8Array[] = []
  readonly #memories: SharedMemory[] = []
  /** The offset the next piece must hold. */
  nextOffset: number
  lengthBytes = 0
  full = false
  #baseOffset = -1

  constructor(format: EntryFormat, offset: number, maxBytes: number) {
    this.#format = format
    this.nextOffset = offset
    this.#maxBytes = maxBytes
  }

  /**
   * Takes what belongs to the read from the piece that holds `nextOffset`: it may begin before, and end past what there is room for.
   * The piece's memory is this read's to release from now on.
   */
  add(piece: EntryBytes): void {
    const room = this.#maxBytes - this.lengthBytes
    if (piece.baseOffset === this.nextOffset && piece.bytes.length <= room) {
      this.#push(piece.bytes, piece.baseOffset, piece.endOffset, piece.memory)
      return
    }
    let start = -1
    let end = -1
    let baseOffset = -1
    let endOffset = -1
    for (const { at, header } of entries(this.#format, piece.bytes)) {
      if (header.endOffset <= this.nextOffset) continue
      const isFirstOfRead = this.lengthBytes === 0 && start < 0
      if (start < 0) {
        start = at
        baseOffset = header.baseOffset
      }
      if (at + header.lengthBytes - start > room && !isFirstOfRead) {
        this.full = true
        break
      }
      end = at + header.lengthBytes
      endOffset = header.endOffset
    }
    if (end > start) {
      this.#push(piece.bytes.subarray(start, end), baseOffset, endOffset, piece.memory)
      return
    }
    piece.memory.release()
    if (start < 0) this.nextOffset = piece.endOffset // the offset fell into a hole
  }

  finish(): LogRead | null {
    if (this.lengthBytes === 0) return null
    return {
      buffers: this.#buffers,
      lengthBytes: this.lengthBytes,
      baseOffset: this.#baseOffset,
      endOffset: this.nextOffset,
      release: () => {
        for (const memory of this.#memories.splice(0)) memory.release()
      },
    }
  }

  #push(bytes: Uint8Array, baseOffset: number, endOffset: number, memory: SharedMemory): void {
    if (this.#memories.at(-1) === memory) memory.release()
    else this.#memories.push(memory)
    if (this.lengthBytes === 0) this.#baseOffset = baseOffset
    this.lengthBytes += bytes.length
    this.nextOffset = endOffset
    if (this.lengthBytes >= this.#maxBytes) this.full = true
    const last = this.#buffers.at(-1)
    // Pieces that lie side by side in memory go out as one buffer: a slab's runs, or the chunks of one GET.
    if (last !== undefined && last.buffer === bytes.buffer && last.byteOffset + last.length === bytes.byteOffset) {
      this.#buffers[this.#buffers.length - 1] = new Uint8Array(last.buffer, last.byteOffset, last.length + bytes.length)
    } else {
      this.#buffers.push(bytes)
    }
  }
}
