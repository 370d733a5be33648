import { UsageError } from '../exit-errors.ts'
import { type ClientCommand, type CommandContext, streamWord } from './client-command.ts'
import { type ConnectionSettings, durableStreamsClient, picoClient } from './connection.ts'
import { wholeNumber } from './given-flags.ts'

/** The commands that ask one thing of one stream. */

export const headCommand: ClientCommand = {
  command: 'head <stream>',
  describe: 'Say what a stream is, and where it begins and ends',
  words: { stream: 'Its name' },
  flags: { json: { describe: 'In JSON', switch: true } },
  async run(context) {
    const { flags, stdout } = context
    const facts = await headFacts(context)
    if (flags.isOn('json')) return stdout.writeJson(facts)
    const width = Math.max(...Object.keys(facts).map((name) => name.length))
    const lines = Object.entries(facts).map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(width)}  ${value}\n`)
    await stdout.write(lines.join(''))
  },
}

/** By the names that the protocol's listing has. */
async function headFacts(context: CommandContext): Promise<Record<string, string | number | boolean>> {
  const connection = context.connection()
  const { signal } = context
  if (connection.protocol === 'ds') {
    await using client = durableStreamsClient(connection, 'first')
    const { nextOffset, ...head } = await client.stream(streamWord(context)).head({ signal })
    return {
      name: head.name,
      content_type: head.contentType,
      next_offset: nextOffset,
      closed: head.closed,
      ...lifetime(head),
    }
  }
  await using client = picoClient(connection, 'first')
  const { startSeq, nextSeq, ...head } = await client.stream(streamWord(context)).head({ signal })
  return {
    name: head.name,
    content_type: head.contentType,
    start_seq: startSeq,
    next_seq: nextSeq,
    closed: head.closed,
    ...lifetime(head),
    ...(head.schema !== null && { schema: head.schema }),
  }
}

function lifetime(head: { readonly ttlSeconds: number | null; readonly expiresAt: Date | null }) {
  return {
    ...(head.ttlSeconds === null ? {} : { ttl: head.ttlSeconds }),
    ...(head.expiresAt === null ? {} : { expires_at: head.expiresAt.toISOString() }),
  }
}

export const trimCommand: ClientCommand = {
  command: 'trim <stream> <seq>',
  describe: 'Drop the records below a number',
  words: { stream: 'Its name', seq: 'Number of the earliest record to keep' },
  flags: { json: { describe: 'Say in JSON where it begins now', switch: true } },
  async run(context) {
    const { flags, stdout, say, signal } = context
    const seq = wholeNumber(String(context.words['seq']), 'seq')
    const connection = picoOnly(context.connection(), 'trim')
    await using client = picoClient(connection, 'first')
    const stream = client.stream(streamWord(context))
    const { startSeq } = await stream.trim(seq, { signal })
    if (flags.isOn('json')) await stdout.writeJson({ name: stream.name, start_seq: startSeq })
    say(`${stream.name} begins at ${startSeq}`)
  },
}

export const closeCommand: ClientCommand = {
  command: 'close <stream>',
  describe: 'Seal a stream: nothing is appended to it any more',
  words: { stream: 'Its name' },
  flags: { json: { describe: 'Say in JSON where it ends', switch: true } },
  async run(context) {
    const { flags, stdout, say, signal } = context
    const connection = context.connection()
    const name = streamWord(context)
    let end: Record<string, string | number>
    if (connection.protocol === 'ds') {
      await using client = durableStreamsClient(connection, 'first')
      end = { next_offset: (await client.stream(name).close({ signal })).nextOffset }
    } else {
      await using client = picoClient(connection, 'first')
      end = { next_seq: (await client.stream(name).close({ signal })).nextSeq }
    }
    if (flags.isOn('json')) await stdout.writeJson({ name, ...end })
    say(`closed ${name}`)
  },
}

export const deleteCommand: ClientCommand = {
  command: 'delete <stream..>',
  describe: 'Delete streams, with all they hold',
  words: { stream: 'Their names' },
  async run(context) {
    const { words, say, signal } = context
    const connection = context.connection()
    const client =
      connection.protocol === 'ds' ? durableStreamsClient(connection, 'first') : picoClient(connection, 'first')
    await using _ = client
    for (const name of words['stream'] as readonly string[]) {
      await client.stream(name).delete({ signal })
      say(`deleted ${name}`)
    }
  },
}

/** @throws UsageError */
export function picoOnly(connection: ConnectionSettings, command: string): ConnectionSettings {
  if (connection.protocol === 'pico') return connection
  throw new UsageError(`${command}: Durable Streams have no such request; use --protocol pico`)
}
