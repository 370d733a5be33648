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

/** Where in the text the two digits of each byte are. */
const digitsAt = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

/** Throws `WriteError` unless `uuid` is 8-4-4-4-12 hexadecimal digits, in either case. */
export function uuidToBytes(uuid: string): Uint8Array {
  const dashed = uuid?.length === 36 && uuid[8] === '-' && uuid[13] === '-' && uuid[18] === '-' && uuid[23] === '-'
  if (!dashed) throw notUuid(uuid)
  const bytes = new Uint8Array(16)
  let at = 0
  for (const digits of digitsAt) {
    const byte = (digitOf(uuid.charCodeAt(digits)) << 4) | digitOf(uuid.charCodeAt(digits + 1))
    if (byte < 0) throw notUuid(uuid)
    bytes[at++] = byte
  }
  return bytes
}

/** Value of a hexadecimal digit, or -1, which stays negative in whatever byte it becomes part of. */
function digitOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 0x20
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

function notUuid(given: unknown): WriteError {
  return new WriteError(`not a UUID: ${JSON.stringify(given)}`)
}
