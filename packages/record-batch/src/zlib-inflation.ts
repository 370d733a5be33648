import { badCompression, decompressedTooLarge, reasonOf } from './decompression-errors.ts'

type ZlibOptions = { readonly chunkSize: number; readonly maxOutputLength: number; readonly info: true }

/** What `node:zlib`'s sync functions return with `info: true`, which its types do not describe. */
type ZlibOutcome = { readonly buffer: Uint8Array; readonly engine: { readonly bytesWritten: number } }

/**
 * Runs one of `node:zlib`'s sync decompressors within `maxBytes`; output is allocated a chunk at a time.
 * Also returns how many bytes of the input belonged to it.
 */
export function inflateBounded(
  codec: string,
  inflate: (bytes: Uint8Array, options: ZlibOptions) => unknown,
  bytes: Uint8Array,
  maxBytes: number,
): { output: Uint8Array; consumedBytes: number } {
  // node:zlib refuses a bound of 0; nothing that a client compresses is empty anyway.
  const options: ZlibOptions = {
    chunkSize: chunkSizeFor(bytes.length),
    maxOutputLength: Math.max(1, maxBytes),
    info: true,
  }
  const outcome = runChecked(codec, () => inflate(bytes, options) as ZlibOutcome, maxBytes)
  if (outcome.buffer.length > maxBytes) throw decompressedTooLarge(codec, maxBytes)
  return { output: outcome.buffer, consumedBytes: outcome.engine.bytesWritten }
}

function runChecked(codec: string, inflate: () => ZlibOutcome, maxBytes: number): ZlibOutcome {
  try {
    return inflate()
  } catch (error) {
    if (isCode(error, 'ERR_BUFFER_TOO_LARGE')) throw decompressedTooLarge(codec, maxBytes, error)
    throw badCompression(codec, reasonOf(error), error)
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** Chunks of about the likely output: one allocation for an ordinary batch, little waste for a small one. */
function chunkSizeFor(compressedBytes: number): number {
  return Math.min(512 * 1024, Math.max(16 * 1024, compressedBytes * 4))
}
