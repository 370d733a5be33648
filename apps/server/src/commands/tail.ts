import { UsageError } from '../exit-errors.ts'
import { type ClientCommand, type CommandContext, Interrupted, streamWord } from './client-command.ts'
import { type ConnectionSettings, durableStreamsClient, picoClient } from './connection.ts'
import type { GivenFlags } from './given-flags.ts'
import { durableText, formatFlags, recordFormat, recordsText } from './record-text.ts'

export const tailCommand: ClientCommand = {
  command: 'tail <stream>',
  describe: 'Print the last records of a stream, and with -f what comes',
  words: { stream: 'Its name' },
  flags: {
    follow: { describe: 'Go on with what comes, until the stream is closed', alias: 'f', switch: true },
    lines: { describe: 'How many of the last records', alias: 'n', default: '10' },
    live: { describe: 'How to wait for what comes', choices: ['long-poll', 'sse'], default: 'long-poll' },
    ...formatFlags,
  },
  async run(context) {
    const connection = context.connection()
    try {
      if (connection.protocol === 'ds') await tailDurable(context, connection)
      else await tailPico(context, connection)
    } catch (error) {
      // Ctrl-C is how following ends.
      if (!(error instanceof Interrupted && context.flags.isOn('follow'))) throw error
    }
  },
}

async function tailPico(context: CommandContext, connection: ConnectionSettings): Promise<void> {
  const { flags, stdout, signal } = context
  const lines = flags.wholeNumber('lines') ?? 10
  const live = liveFlag(flags)
  const format = recordFormat(flags)
  const name = streamWord(context)
  await using first = picoClient(connection, 'first')
  const { startSeq, nextSeq } = await first.stream(name).head({ signal })
  const from = Math.max(startSeq, nextSeq - lines)
  await using client = picoClient(connection, 'long')
  if (live === null && from === nextSeq) return
  for await (const { records, next } of client.stream(name).pages({ from, live, signal })) {
    const wanted = live === null ? records.filter(({ seq }) => seq < nextSeq) : records
    await stdout.write(recordsText(wanted, format))
    if (live === null && next >= nextSeq) return
  }
}

async function tailDurable(context: CommandContext, connection: ConnectionSettings): Promise<void> {
  const { flags, stdout, signal } = context
  const live = liveFlag(flags)
  if (live === null) throw new UsageError('tail: Durable Streams have no records to count back; -f shows what comes')
  if (flags.text('lines') !== undefined) throw new UsageError('--lines: Durable Streams have no records to count back')
  const format = recordFormat(flags)
  const name = streamWord(context)
  await using first = durableStreamsClient(connection, 'first')
  const { next } = await first.stream(name).read({ from: 'now', signal })
  await using client = durableStreamsClient(connection, 'long')
  for await (const chunk of client.stream(name).tail({ from: next, live, signal }))
    await stdout.write(durableText(chunk, format))
}

function liveFlag(flags: GivenFlags): 'long-poll' | 'sse' | null {
  const live = flags.text('live') === 'sse' ? 'sse' : 'long-poll'
  return flags.isOn('follow') ? live : null
}
