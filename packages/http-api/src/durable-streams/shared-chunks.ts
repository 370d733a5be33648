import type { PathStream } from '@pico/streams'
import type { KnownJson } from './known-json.ts'
import { offsetToken, type StreamPosition } from './offset-token.ts'
import { type Chunk, type ChunkMiss, readChunk } from './read-chunk.ts'

type ReadOfChunk = Promise<Chunk | ChunkMiss>

interface StreamChunks {
  readonly tail: number
  readonly isClosed: boolean
  readonly byPosition: Map<string, ReadOfChunk>
}

/**
 * Chunks for those who follow streams. The readers of a stream are woken together, and most of them stand at the same position: what one of
 * them reads is the others' too. Kept for one turn of the event loop.
 */
export class SharedChunks {
  readonly #knownJson: KnownJson
  readonly #maxBytes: number
  readonly #streams = new Map<PathStream, StreamChunks>()

  constructor(knownJson: KnownJson, maxBytes: number) {
    this.#knownJson = knownJson
    this.#maxBytes = maxBytes
  }

  /** See readChunk. */
  read(stream: PathStream, at: StreamPosition, beyond: number): ReadOfChunk {
    const chunks = this.#chunksOf(stream)
    const key = `${offsetToken(at)} ${beyond}`
    let chunk = chunks.byPosition.get(key)
    if (chunk === undefined) {
      chunk = readChunk({ stream, knownJson: this.#knownJson, maxBytes: this.#maxBytes }, at, beyond)
      chunks.byPosition.set(key, chunk)
    }
    return chunk
  }

  /** A chunk says whether it is the last one, so those of another tail, or of before the closing, say the wrong thing. */
  #chunksOf(stream: PathStream): StreamChunks {
    const known = this.#streams.get(stream)
    if (known !== undefined && known.tail === stream.highWatermark && known.isClosed === stream.closed) return known
    if (this.#streams.size === 0) setImmediate(() => this.#streams.clear())
    const chunks = { tail: stream.highWatermark, isClosed: stream.closed, byPosition: new Map() }
    this.#streams.set(stream, chunks)
    return chunks
  }
}
