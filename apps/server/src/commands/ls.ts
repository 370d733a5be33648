import type { ListedStream } from '@pico/client'
import type { ClientCommand } from './client-command.ts'
import { picoClient } from './connection.ts'
import { picoOnly } from './stream-commands.ts'

export const lsCommand: ClientCommand = {
  command: 'ls [prefix]',
  describe: 'List streams by name',
  words: { prefix: 'Only those whose name begins so, such as orders/' },
  flags: {
    long: { describe: 'With where they begin and end, and what they are', alias: 'l', switch: true },
    json: { describe: 'Each in JSON, a line', switch: true },
  },
  async run(context) {
    const { words, flags, stdout, signal } = context
    const given = String(words['prefix'] ?? '')
    const prefix = given.startsWith('/') || given === '' ? given : `/${given}`
    const line = flags.isOn('json') ? JSON.stringify : flags.isOn('long') ? longLine : ({ name }: ListedStream) => name
    await using client = picoClient(picoOnly(context.connection(), 'ls'), 'first')
    let lines: string[] = []
    const flush = async () => {
      await stdout.write(lines.map((text) => `${text}\n`).join(''))
      lines = []
    }
    for await (const stream of client.list({ ...(prefix === '' ? {} : { prefix }), signal })) {
      lines.push(line(stream))
      if (lines.length >= linesAtATime) await flush()
    }
    await flush()
  },
}

const linesAtATime = 1000

function longLine({ name, start_seq, next_seq, closed, content_type }: ListedStream): string {
  const [first, next] = [start_seq, next_seq].map((seq) => String(seq).padStart(12))
  return `${first} ${next} ${closed ? 'closed' : 'open  '} ${content_type.padEnd(26)} ${name}`
}
