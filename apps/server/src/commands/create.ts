import { UsageError } from '../exit-errors.ts'
import { type ClientCommand, streamWord } from './client-command.ts'
import { durableStreamsClient, picoClient } from './connection.ts'
import type { GivenFlags } from './given-flags.ts'

export const createCommand: ClientCommand = {
  command: 'create <stream>',
  describe: 'Create a stream; one that is there already is as good',
  words: { stream: 'Its name, such as orders/eu' },
  flags: {
    'content-type': { describe: 'What its records are', default: 'application/octet-stream' },
    ttl: { describe: 'Seconds that records are kept; with --protocol ds, that the stream lives without being used' },
    'expires-at': { describe: 'When the stream ends, as 2030-01-31T12:00:00Z' },
    closed: { describe: 'Create it sealed', switch: true },
    schema: { describe: 'Schema that all records are held to, as name or name:version; not with --protocol ds' },
    json: { describe: 'Say in JSON whether it was created', switch: true },
  },
  async run(context) {
    const { flags, stdout, say, signal } = context
    const connection = context.connection()
    const options = { ...createOptions(flags), signal }
    if (connection.protocol === 'ds' && options.schema !== undefined)
      throw new UsageError('--schema goes with the Pico protocol alone')
    const client =
      connection.protocol === 'ds' ? durableStreamsClient(connection, 'first') : picoClient(connection, 'first')
    await using _ = client
    const stream = client.stream(streamWord(context))
    const { created } = await stream.create(options)
    if (flags.isOn('json')) await stdout.writeJson({ name: stream.name, created })
    say(created ? `created ${stream.name}` : `${stream.name} is there already`)
  },
}

function createOptions(flags: GivenFlags) {
  const contentType = flags.text('content-type')
  const ttlSeconds = flags.wholeNumber('ttl')
  const expiresAt = flags.text('expires-at')
  const schema = flags.text('schema')
  const ms = expiresAt === undefined ? 0 : /^\d{1,16}$/.test(expiresAt) ? Number(expiresAt) : Date.parse(expiresAt)
  if (Number.isNaN(new Date(ms).getTime()))
    throw new UsageError(`--expires-at ${expiresAt} is no time such as 2030-01-31T12:00:00Z`)
  if (ttlSeconds !== undefined && expiresAt !== undefined)
    throw new UsageError('--ttl and --expires-at do not go together')
  return {
    ...(contentType === undefined ? {} : { contentType }),
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(ms) }),
    ...(flags.isOn('closed') ? { closed: true } : {}),
    ...(schema === undefined ? {} : { schema }),
  }
}
