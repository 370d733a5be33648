import type { StreamRecord } from '@pico/client'
import { UsageError } from '../exit-errors.ts'
import { type ClientCommand, type CommandContext, streamWord } from './client-command.ts'
import { type ConnectionSettings, durableStreamsClient, picoClient } from './connection.ts'
import { type GivenFlags, wholeNumber } from './given-flags.ts'
import { durableText, formatFlags, recordFormat, recordsText } from './record-text.ts'

export const readCommand: ClientCommand = {
  command: 'read <stream>',
  describe: 'Print the records of a stream, up to its end as it is now',
  words: { stream: 'Its name' },
  flags: {
    from: { describe: 'Number of the first one, earliest, or with --protocol ds an offset', default: 'earliest' },
    count: { describe: 'Print so many records at most' },
    ...formatFlags,
  },
  async run(context) {
    const connection = context.connection()
    if (connection.protocol === 'ds') await readDurable(context, connection)
    else await readPico(context, connection)
  },
}

async function readPico(context: CommandContext, connection: ConnectionSettings): Promise<void> {
  const { flags, stdout, signal } = context
  const from = fromFlag(flags)
  const count = flags.wholeNumber('count', 1) ?? Number.POSITIVE_INFINITY
  const format = recordFormat(flags)
  await using client = picoClient(connection, 'first')
  const stream = client.stream(streamWord(context))
  let left = count
  const limit = Number.isFinite(count) ? { count } : {}
  for await (const { records } of stream.pages({ from, signal, ...limit })) {
    const wanted: readonly StreamRecord[] = records.length > left ? records.slice(0, left) : records
    await stdout.write(recordsText(wanted, format))
    left -= wanted.length
    if (left === 0) return
  }
}

async function readDurable(context: CommandContext, connection: ConnectionSettings): Promise<void> {
  const { flags, stdout, signal } = context
  if (flags.text('count') !== undefined) throw new UsageError('--count: Durable Streams have no records to count')
  const format = recordFormat(flags)
  await using client = durableStreamsClient(connection, 'first')
  const from = flags.text('from') ?? 'earliest'
  for await (const chunk of client.stream(streamWord(context)).chunks({ from, signal }))
    await stdout.write(durableText(chunk, format))
}

/** @throws UsageError */
function fromFlag(flags: GivenFlags): number | 'earliest' {
  const from = flags.text('from') ?? 'earliest'
  return from === 'earliest' ? from : wholeNumber(from, '--from')
}
