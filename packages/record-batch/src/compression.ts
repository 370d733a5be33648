import { decompressedTooLarge } from './decompression-errors.ts'
import { RecordBatchError } from './errors.ts'
import { gunzip, gzip } from './gzip.ts'
import { compressLz4Frame, decompressLz4Frame, type Lz4ReadRules } from './lz4-frame.ts'
import { compressSnappy, decompressSnappy } from './snappy-framing.ts'
import { compressZstd, decompressZstd } from './zstd.ts'

/** Names and ids as Kafka's compression.type and batch attributes have them. */
export const codecIds = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const

export type CompressionCodec = keyof typeof codecIds

const codecs: readonly CompressionCodec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** Throws `PICO_RECORD_BATCH_UNKNOWN_CODEC` for an id that Kafka has not given a meaning. */
export function codecOf(codecId: number): CompressionCodec {
  const codec = codecs[codecId]
  if (codec === undefined) {
    throw new RecordBatchError('PICO_RECORD_BATCH_UNKNOWN_CODEC', `compression id ${codecId} names no codec`)
  }
  return codec
}

/**
 * Compresses the records of a batch, in a form that every Kafka client reads: gzip; snappy in the Java framing;
 * LZ4 frames of independent blocks; zstd. `none` returns `bytes` itself.
 */
export function compress(codec: CompressionCodec, bytes: Uint8Array): Uint8Array {
  switch (codec) {
    case 'none':
      return bytes
    case 'gzip':
      return gzip(bytes)
    case 'snappy':
      return compressSnappy(bytes)
    case 'lz4':
      return compressLz4Frame(bytes)
    case 'zstd':
      return compressZstd(bytes)
  }
}

/**
 * The decompressed bytes, at most `maxBytes` of them; `none` returns a view of `bytes` itself.
 *
 * Never allocates because of a length the input claims. Throws `PICO_RECORD_BATCH_DECOMPRESSED_TOO_LARGE` once the
 * output would pass `maxBytes`, and `PICO_RECORD_BATCH_BAD_COMPRESSION` for anything the codec's format does not allow,
 * which includes bytes after its end.
 */
export function decompress(
  codec: CompressionCodec,
  bytes: Uint8Array,
  maxBytes: number,
  lz4Rules: Lz4ReadRules = {},
): Uint8Array {
  switch (codec) {
    case 'none':
      if (bytes.length > maxBytes) throw decompressedTooLarge(codec, maxBytes)
      return bytes
    case 'gzip':
      return gunzip(bytes, maxBytes)
    case 'snappy':
      return decompressSnappy(bytes, maxBytes)
    case 'lz4':
      return decompressLz4Frame(bytes, maxBytes, lz4Rules)
    case 'zstd':
      return decompressZstd(bytes, maxBytes)
  }
}
