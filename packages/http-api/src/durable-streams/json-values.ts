import { isUtf8 } from 'node:buffer'
import { isJson } from '../server/json-scan.ts'

const nullMessage = Buffer.from('null')

/**
 * A record's value as a message of a JSON stream. Kafka clients may write there what is no JSON, and one bad value must not make the
 * array that holds it unreadable: text that is no JSON is told as a string, other bytes as `{"b64":"…"}`, no value (a tombstone) as `null`.
 * What is JSON comes back as the same object.
 */
export function jsonMessageOf(value: Uint8Array | null): Uint8Array {
  if (value === null) return nullMessage
  const bytes = bufferOf(value)
  if (isJson(bytes)) return value
  if (isUtf8(bytes)) return Buffer.from(JSON.stringify(bytes.toString('utf8')))
  return Buffer.from(`{"b64":"${bytes.toString('base64')}"}`)
}

/** `[` the messages `]`. */
export function jsonArrayOf(messages: readonly Uint8Array[]): Buffer {
  const parts: Uint8Array[] = [openBracket]
  for (const [index, message] of messages.entries()) {
    if (index > 0) parts.push(comma)
    parts.push(message)
  }
  parts.push(closeBracket)
  return Buffer.concat(parts)
}

const openBracket = Buffer.from('[')
const comma = Buffer.from(',')
const closeBracket = Buffer.from(']')

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
