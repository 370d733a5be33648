/** Zigzag varints as records have them (Kafka's ByteUtils), for the writing side; `RecordCursor` has the reading. */

const two31 = 2 ** 31

/** Bytes of the zigzag varint of `value`, an integer between -2^52 and 2^52. */
export function varintLength(value: number): number {
  let raw = zigzag(value)
  let length = 1
  while (raw >= two31) {
    raw = Math.floor(raw / 128)
    length++
  }
  for (let rest = raw >>> 7; rest !== 0; rest >>>= 7) length++
  return length
}

/** Writes the zigzag varint of `value`, an integer between -2^52 and 2^52, and returns where it ends. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let raw = zigzag(value)
  let end = at
  while (raw >= two31) {
    bytes[end++] = (raw % 128) | 0x80
    raw = Math.floor(raw / 128)
  }
  while (raw >= 0x80) {
    bytes[end++] = (raw & 0x7f) | 0x80
    raw >>>= 7
  }
  bytes[end++] = raw
  return end
}

function zigzag(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1
}
