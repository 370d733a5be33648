import type { GrowingBytes } from './growing-bytes.ts'

const [quote, backslash] = [0x22, 0x5c]

/** By the byte that has to be escaped in a JSON string (RFC 8259, 7): the letter after the backslash; `u` for those without one of their own. */
const escapes = new Uint8Array(256)
escapes.fill(0x75, 0, 0x20)
for (const [byte, letter] of [
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0c, 'f'],
  [0x0d, 'r'],
  [quote, '"'],
  [backslash, '\\'],
] as const) {
  escapes[byte] = letter.charCodeAt(0)
}
const hexDigits = Buffer.from('0123456789abcdef')
/** From so many bytes on, one `set` is faster than a loop. */
const longRun = 48
/** `\u0000`. */
const escapedBytesMax = 6

/** Writes valid UTF-8 as a JSON string, quotes included, without making a JavaScript string of it. */
export function writeJsonText(out: GrowingBytes, text: Uint8Array): void {
  out.reserve(text.length * escapedBytesMax + 2)
  const { bytes } = out
  let at = out.length
  bytes[at++] = quote
  let runAt = 0
  for (let i = 0; i < text.length; i++) {
    const byte = text[i] as number
    const letter = escapes[byte] as number
    if (letter === 0) continue
    at = copyRun(bytes, at, text, runAt, i)
    runAt = i + 1
    bytes[at++] = backslash
    bytes[at++] = letter
    if (letter !== 0x75) continue
    bytes[at++] = 0x30
    bytes[at++] = 0x30
    bytes[at++] = hexDigits[byte >> 4] as number
    bytes[at++] = hexDigits[byte & 0xf] as number
  }
  at = copyRun(bytes, at, text, runAt, text.length)
  bytes[at++] = quote
  out.length = at
}

function copyRun(bytes: Uint8Array, at: number, text: Uint8Array, from: number, to: number): number {
  if (to - from >= longRun) {
    bytes.set(text.subarray(from, to), at)
    return at + to - from
  }
  let end = at
  for (let i = from; i < to; i++) bytes[end++] = text[i] as number
  return end
}
