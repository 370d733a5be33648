import { recordsPerAppendMax } from '@pico/http-contract'
import { HttpError } from '../server/http-error.ts'
import { isJson } from '../server/json-scan.ts'

/**
 * The messages of a body: the elements of an array, or else the whole text; null when it is no JSON. Each is the text as it was sent,
 * a view of the body without the white space around it, so that big numbers, duplicate names and key order stay what they are.
 * @throws HttpError 413
 */
export function jsonMessages(body: Buffer): Buffer[] | null {
  if (!isJson(body)) return null
  const start = skipSpace(body, 0)
  return body[start] === openBracket ? elementsOf(body, start) : [trimmed(body, start, body.length)]
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

/** `body` is known to be JSON, so that strings and depth are all there is to watch. UTF-8 has no ASCII byte inside a character. */
function elementsOf(body: Buffer, arrayAt: number): Buffer[] {
  const elements: Buffer[] = []
  let depth = 1
  let elementAt = arrayAt + 1
  for (let at = elementAt; depth > 0; at++) {
    const byte = body[at]
    if (byte === quote) {
      at = endOfString(body, at)
    } else if (byte === openBracket || byte === openBrace) {
      depth++
    } else if (byte === closeBrace) {
      depth--
    } else if (byte === closeBracket) {
      depth--
      if (depth === 0) {
        const last = trimmed(body, elementAt, at)
        if (last.length > 0) elements.push(last)
      }
    } else if (byte === comma && depth === 1) {
      elements.push(trimmed(body, elementAt, at))
      elementAt = at + 1
      // What comes after a comma is one more.
      if (elements.length === recordsPerAppendMax) {
        throw new HttpError('too_large', `more than ${recordsPerAppendMax} messages`)
      }
    }
  }
  return elements
}

/** Where the string that begins at `at` has its closing quote. */
function endOfString(body: Buffer, at: number): number {
  for (let end = body.indexOf(quote, at + 1); ; end = body.indexOf(quote, end + 1)) {
    let escapes = 0
    while (body[end - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
}

function trimmed(body: Buffer, from: number, to: number): Buffer {
  const start = skipSpace(body, from)
  let end = to
  while (end > start && isSpace(body[end - 1])) end--
  return body.subarray(start, Math.max(start, end))
}

function skipSpace(body: Buffer, from: number): number {
  let at = from
  while (isSpace(body[at])) at++
  return at
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
