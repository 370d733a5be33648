/** XXH32 with seed 0 (xxHash specification 0.1.1), the checksum of the LZ4 frame format; unsigned. */
export function xxhash32(bytes: Uint8Array): number {
  const length = bytes.length
  let at = 0
  let hash: number
  if (length >= 16) {
    let a = (prime1 + prime2) | 0
    let b = prime2 | 0
    let c = 0
    let d = -prime1 | 0
    for (; at + 16 <= length; at += 16) {
      a = round(a, littleInt32At(bytes, at))
      b = round(b, littleInt32At(bytes, at + 4))
      c = round(c, littleInt32At(bytes, at + 8))
      d = round(d, littleInt32At(bytes, at + 12))
    }
    hash = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0
  } else {
    hash = prime5 | 0
  }
  hash = (hash + length) | 0
  for (; at + 4 <= length; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(littleInt32At(bytes, at), prime3)) | 0, 17), prime4)
  }
  for (; at < length; at++) {
    hash = Math.imul(rotate((hash + Math.imul(bytes[at] as number, prime5)) | 0, 11), prime1)
  }
  hash = Math.imul(hash ^ (hash >>> 15), prime2)
  hash = Math.imul(hash ^ (hash >>> 13), prime3)
  return (hash ^ (hash >>> 16)) >>> 0
}

const prime1 = 0x9e3779b1
const prime2 = 0x85ebca77
const prime3 = 0xc2b2ae3d
const prime4 = 0x27d4eb2f
const prime5 = 0x165667b1

function round(accumulator: number, lane: number): number {
  return Math.imul(rotate((accumulator + Math.imul(lane, prime2)) | 0, 13), prime1)
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

/** `at + 4` is within `bytes`. */
function littleInt32At(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}
