/**
 * How many bytes at the end of `bytes` begin a character of UTF-8 that needs more than is there: 0 to 3. Bytes that can be no such
 * beginning count as ends: waiting for more would not help them.
 */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue // a continuation: look for what it continues
    return lengthOf(byte) > back && isBeginning(bytes.subarray(bytes.length - back)) ? back : 0
  }
  return 0
}

/** Of the character that `lead` begins; 1 for what begins none. */
function lengthOf(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2
  if (lead >= 0xe0 && lead <= 0xef) return 3
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 1
}

/** Whether a second byte fits its lead (Unicode 3.9, table 3-7): no overlong forms, no surrogates, nothing past U+10FFFF. */
function isBeginning(bytes: Uint8Array): boolean {
  const [lead, second] = bytes
  if (second === undefined) return true
  if (lead === 0xe0) return second >= 0xa0
  if (lead === 0xed) return second <= 0x9f
  if (lead === 0xf0) return second >= 0x90
  return lead !== 0xf4 || second <= 0x8f
}
