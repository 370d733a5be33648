/** What one checksum covers: whole entries of one stream, about 64 KiB. */
export interface Chunk {
  readonly baseOffset: number
  /** From the start of the object. */
  readonly position: number
  readonly lengthBytes: number
  readonly maxTimestampMs: number
  readonly crc32c: number
}

/** One stream's part of a data object: contiguous bytes, ascending offsets. */
export interface StreamSlice {
  readonly streamId: number
  readonly baseOffset: number
  readonly endOffset: number
  readonly position: number
  readonly lengthBytes: number
  readonly maxTimestampMs: number
  readonly chunks: readonly Chunk[]
}

// class DataObjectBuilder { add(entry: {streamId, baseOffset, endOffset, maxTimestampMs, bytes}) ; finish(): Uint8Array[] (footer+trailer) ; slices ; byteLength }
// readDataObjectIndex(store, key, sizeBytes) -> index with slice(streamId): StreamSlice | undefined
