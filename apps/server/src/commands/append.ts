import type { RecordInput } from '@pico/client'
import { UsageError } from '../exit-errors.ts'
import { openAppending } from './appending.ts'
import { type ClientCommand, type CommandContext, streamWord } from './client-command.ts'
import { inputLines, wholeInput } from './input-lines.ts'
import { recordFromJson } from './record-json.ts'
import { TerminalProgress } from './terminal-progress.ts'

export const appendCommand: ClientCommand = {
  command: 'append <stream> [record..]',
  describe: 'Append records: those given, or else each line of the standard input, each exactly once',
  words: { stream: 'Its name', record: 'Records to append instead of the standard input' },
  flags: {
    batch: { describe: 'Records in a request at most', default: '1000' },
    input: {
      describe:
        'lines: a record a line; json: a record in JSON a line, as pico read --json prints them; whole: all of it is one',
      choices: ['lines', 'json', 'whole'],
      default: 'lines',
    },
    json: { describe: 'Say in JSON what was appended', switch: true },
  },
  async run(context) {
    const { flags, stdout, say, signal } = context
    const input = flags.text('input') ?? 'lines'
    const settings = { batchRecordsMax: flags.wholeNumber('batch', 1) ?? 1000, signal }
    const connection = context.connection()
    if (connection.protocol === 'ds' && input === 'json')
      throw new UsageError('--input json: Durable Streams have no records (a JSON stream takes a message a line)')
    const appending = await openAppending(connection, streamWord(context), settings)
    const progress = new TerminalProgress(process.stderr)
    let [records, bytes] = [0, 0]
    try {
      for await (const record of recordsOf(context, input)) {
        await appending.append(record)
        records++
        bytes += sizeOf(record)
        progress.show(records, bytes)
      }
      const { first, last } = await appending.finish()
      progress.clear()
      if (flags.isOn('json')) await stdout.writeJson({ records, bytes, first, last })
      say(`appended ${progress.line(records, bytes)}${typeof last === 'number' ? `; the last one is ${last}` : ''}`)
    } finally {
      progress.clear()
      await appending.close()
    }
  },
}

async function* recordsOf(context: CommandContext, input: string): AsyncGenerator<RecordInput, void, undefined> {
  const given = (context.words['record'] ?? []) as readonly string[]
  if (given.length > 0) {
    yield* given
    return
  }
  const stdin: AsyncIterable<Uint8Array> = process.stdin
  const interrupted = () => process.stdin.destroy()
  context.signal.addEventListener('abort', interrupted, { once: true })
  try {
    if (input === 'whole') yield await wholeInput(stdin)
    else if (input === 'lines') yield* inputLines(stdin)
    else {
      let line = 0
      for await (const text of inputLines(stdin)) if (text.length > 0) yield recordFromJson(text, ++line)
    }
  } finally {
    context.signal.removeEventListener('abort', interrupted)
    process.stdin.destroy() // or an input that never ends would keep us
    context.signal.throwIfAborted()
  }
}

function sizeOf(record: RecordInput): number {
  if (typeof record === 'string') return Buffer.byteLength(record)
  const body = record instanceof Uint8Array ? record : record.body
  return typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0)
}
