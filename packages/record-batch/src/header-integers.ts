/**
 * Fixed-width big-endian integers at positions the caller has already checked against the end of `bytes`.
 * Plain index arithmetic, because hopping over batches must not allocate a DataView for each.
 */

const two32 = 2 ** 32

export function int16At(bytes: Uint8Array, at: number): number {
  return (((bytes[at] as number) << 24) >> 16) | (bytes[at + 1] as number)
}

export function int32At(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  )
}

export function uint32At(bytes: Uint8Array, at: number): number {
  return int32At(bytes, at) >>> 0
}

/**
 * An int64 as the nearest double. Exact whenever the result is a safe integer: a value beyond 2^53 rounds to
 * something at or beyond 2^53, so `Number.isSafeInteger` on the result tells.
 */
export function int64At(bytes: Uint8Array, at: number): number {
  return int32At(bytes, at) * two32 + uint32At(bytes, at + 4)
}

export function setInt16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8
  bytes[at + 1] = value
}

/** Also for uint32: only the low 32 bits of `value` are written. */
export function setInt32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

/** `value` is a safe integer. */
export function setInt64(bytes: Uint8Array, at: number, value: number): void {
  setInt32(bytes, at, Math.floor(value / two32))
  setInt32(bytes, at + 4, value >>> 0)
}
