import { WriteError } from './errors.ts'

/**
 * UUIDs travel as 16 raw bytes and live in programs as canonical lower-case text: comparable with `===`, usable as a
 * map key, what `crypto.randomUUID()` returns and what SQL stores. (Kafka's own tools print URL-safe base64 instead.)
 */
export const zeroUuid = '00000000-0000-0000-0000-000000000000'

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The 16 bytes at `offset`, which the caller has checked to be there. */
export function uuidFromBytes(bytes: Uint8Array, offset = 0): string {
  const hex = (index: number) => hexOfByte[bytes[offset + index] ?? 0]
  return (
    `${hex(0)}${hex(1)}${hex(2)}${hex(3)}-${hex(4)}${hex(5)}-${hex(6)}${hex(7)}-` +
    `${hex(8)}${hex(9)}-${hex(10)}${hex(11)}${hex(12)}${hex(13)}${hex(14)}${hex(15)}`
  )
}

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Throws `WriteError` unless `uuid` is 8-4-4-4-12 hexadecimal digits, in either case. */
export function uuidToBytes(uuid: string): Uint8Array {
  if (!canonical.test(uuid)) throw new WriteError(`not a UUID: ${JSON.stringify(uuid)}`)
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}
