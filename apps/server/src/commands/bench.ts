import { randomBytes } from 'node:crypto'
import { UsageError } from '../exit-errors.ts'
import { parseHostPort } from '../host-port.ts'
import { type AppendLoad, appendUnderLoad } from './bench-appends.ts'
import { httpTarget } from './bench-http.ts'
import { kafkaTarget } from './bench-kafka.ts'
import { readBack } from './bench-reads.ts'
import { appendSummary, readSummary, secondLine } from './bench-report.ts'
import type { BenchTarget, TargetSettings } from './bench-target.ts'
import type { ClientCommand, CommandContext } from './client-command.ts'
import { picoOnly } from './stream-commands.ts'

export const benchCommand: ClientCommand = {
  command: 'bench',
  describe: 'Append to streams of its own as fast as it can, read them back, and say how fast that was',
  flags: {
    kafka: { describe: 'Over Kafka, by this broker (host:port), instead of HTTP' },
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
    const run = randomBytes(4).toString('hex')
    const body = randomBytes(load.recordBytes)
    await using target = targetOf(context, {
      names: Array.from({ length: load.streams }, (_, n) => `bench/${run}/${n}`),
      records: Array.from({ length: load.recordsPerRequest }, () => body),
      connectionsMax: flags.wholeNumber('connections', 1) ?? null,
    })
    await target.create(signal)
    const second = async (line: Parameters<typeof secondLine>[0]) => {
      if (isText) await stdout.write(secondLine(line))
    }
    const appends = await appendUnderLoad(target.streams, load, second, signal)
    const reads = flags.isOn('no-read') ? null : await readBack(target.streams, signal)
    if (isText) await stdout.write(appendSummary(appends) + (reads === null ? '' : readSummary(reads)))
    else await stdout.writeJson({ ...target.where, ...load, appends, ...(reads === null ? {} : { reads }) })
  },
}

function targetOf(context: CommandContext, settings: TargetSettings): BenchTarget {
  const kafka = context.flags.text('kafka')
  if (kafka !== undefined) return kafkaTarget(parseHostPort(kafka, '--kafka'), settings)
  return httpTarget(picoOnly(context.connection(), 'bench'), settings)
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
