import type { DurableChunk, StreamRecord } from '@pico/client'
import type { ClientFlags, GivenFlags } from './given-flags.ts'
import { recordToJson } from './record-json.ts'

export type RecordFormat = 'text' | 'json' | 'raw'

export const formatFlags: ClientFlags = {
  format: {
    describe: 'text: a body a line; json: a record a line, with all it has; raw: bodies with nothing between them',
    choices: ['text', 'json', 'raw'],
    default: 'text',
  },
  json: { describe: 'The same as --format json', switch: true },
}

export function recordFormat(flags: GivenFlags): RecordFormat {
  const format = flags.text('format') as RecordFormat | undefined // one of the choices
  return flags.isOn('json') ? 'json' : (format ?? 'text')
}

/** As bytes: bodies need not be text. */
export function recordsText(records: readonly StreamRecord[], format: RecordFormat): Uint8Array {
  const pieces: Uint8Array[] = []
  for (const record of records) {
    if (format === 'json') pieces.push(Buffer.from(recordToJson(record)))
    else if (record.bytes !== null) pieces.push(record.bytes)
    if (format !== 'raw') pieces.push(lineFeed)
  }
  return Buffer.concat(pieces)
}

/** Of a JSON stream, a message a line; of another its bytes as they are, or in JSON a chunk a line. */
export function durableText(chunk: DurableChunk, format: RecordFormat): Uint8Array | string {
  if (chunk.isJson && format !== 'raw')
    return chunk
      .messages()
      .map((message) => `${JSON.stringify(message)}\n`)
      .join('')
  if (format !== 'json') return chunk.bytes
  const { text, bytes, next } = chunk
  const isText = Buffer.from(text).equals(bytes)
  return `${JSON.stringify({ ...(isText ? { text } : { b64: Buffer.from(bytes).toString('base64') }), next })}\n`
}

const lineFeed = Buffer.from('\n')
