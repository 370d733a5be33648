import { crc32c as native } from '@node-rs/crc32'

/**
 * CRC-32C (Castagnoli, RFC 3720 appendix B.4) as an unsigned 32-bit number.
 * Pass the checksum of what came before as `previous` to go on over several buffers.
 */
export function crc32c(bytes: Uint8Array, previous = 0): number {
  return native(bytes, previous)
}
