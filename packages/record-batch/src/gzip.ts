import { gunzipSync, gzipSync } from 'node:zlib'
import { badCompression } from './decompression-errors.ts'
import { inflateBounded } from './zlib-inflation.ts'

export function gzip(bytes: Uint8Array): Uint8Array {
  return gzipSync(bytes)
}

/** One or more gzip members (RFC 1952), whose CRC-32 and length are verified. */
export function gunzip(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const { output, consumedBytes } = inflateBounded('gzip', gunzipSync, bytes, maxBytes)
  if (consumedBytes !== bytes.length) throw badCompression('gzip', 'bytes follow the last member')
  return output
}
