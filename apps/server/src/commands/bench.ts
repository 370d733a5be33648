import { randomBytes } from 'node:crypto'
import { PicoClient } from '@pico/client'
import { UsageError } from '../exit-errors.ts'
import { type AppendLoad, appendUnderLoad } from './bench-appends.ts'
import { readBack } from './bench-reads.ts'
import { appendSummary, readSummary, secondLine } from './bench-report.ts'
import type { ClientCommand, CommandContext } from './client-command.ts'
import { picoOnly } from './stream-commands.ts'

export const benchCommand: ClientCommand = {
  command: 'bench',
  describe: 'Append to streams of its own as fast as it can, read them back, and say how fast that was',
  flags: {
    size: { describe: 'Size of a record', alias: 'b', default: '1024' },
    duration: { describe: 'Seconds of appending', alias: 'd', default: '15' },
    'in-flight': { describe: 'Requests under way at a time', alias: 'w', default: '32' },
    records: { describe: 'Records in a request', alias: 'n', default: '1' },
    streams: { describe: 'Streams, which the requests take turns with', default: '1' },
    connections: { describe: 'Connections at most', default: 'one for each request under way' },
    warmup: { describe: 'Seconds before it counts', default: '2' },
    'target-mibps': { describe: 'MiB a second to append at most', default: 'no limit' },
    'no-read': { describe: 'Do not read back', switch: true },
    output: { describe: 'text, or json: one object in the end', choices: ['text', 'json'], default: 'text' },
  },
  async run(context) {
    const { flags, stdout, signal } = context
    const load = loadFlags(context)
    const isText = (flags.text('output') ?? 'text') === 'text'
    const { endpoint, token, http2 } = picoOnly(context.connection(), 'bench')
    const connectionsMax = flags.wholeNumber('connections', 1) ?? null
    // Nothing is asked twice: it would be hidden in the figures.
    await using client = new PicoClient({ endpoint, token, http2, connectionsMax, retry: { giveUpAfterMs: 0 } })
    const run = randomBytes(4).toString('hex')
    const names = Array.from({ length: load.streams }, (_, n) => `bench/${run}/${n}`)
    const streams = names.map((name) => client.stream(name))
    try {
      for (const stream of streams) await stream.create({ signal })
      const second = async (line: Parameters<typeof secondLine>[0]) => {
        if (isText) await stdout.write(secondLine(line))
      }
      const appends = await appendUnderLoad(streams, load, second, signal)
      const reads = flags.isOn('no-read') ? null : await readBack(streams, signal)
      if (isText) await stdout.write(appendSummary(appends) + (reads === null ? '' : readSummary(reads)))
      else await stdout.writeJson({ endpoint, http2, ...load, appends, ...(reads === null ? {} : { reads }) })
    } finally {
      // What it made is nobody's; an interrupt must not keep it either.
      await Promise.allSettled(streams.map((stream) => stream.delete({ signal: AbortSignal.timeout(5000) })))
    }
  },
}

function loadFlags({ flags }: CommandContext): AppendLoad {
  const target = flags.text('target-mibps')
  const targetMibPerSecond = target === undefined ? null : Number(target)
  if (targetMibPerSecond !== null && !(targetMibPerSecond > 0))
    throw new UsageError(`--target-mibps ${target} is not a positive number`)
  return {
    recordBytes: flags.sizeBytes('size') ?? 1024,
    seconds: flags.wholeNumber('duration', 1) ?? 15,
    inFlight: flags.wholeNumber('in-flight', 1) ?? 32,
    recordsPerRequest: flags.wholeNumber('records', 1) ?? 1,
    streams: flags.wholeNumber('streams', 1) ?? 1,
    warmupSeconds: flags.wholeNumber('warmup') ?? 2,
    targetMibPerSecond,
  }
}
