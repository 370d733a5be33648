import { PicoClient, type PicoStream } from '@pico/client'
import type { BenchPage, BenchStream, BenchTarget, TargetSettings } from './bench-target.ts'
import type { ConnectionSettings } from './connection.ts'

export function httpTarget(
  { endpoint, token, http2 }: ConnectionSettings,
  { names, records, connectionsMax }: TargetSettings,
): BenchTarget {
  // Nothing is asked twice: it would be hidden in the figures.
  const client = new PicoClient({ endpoint, token, http2, connectionsMax, retry: { giveUpAfterMs: 0 } })
  const streams = names.map((name) => client.stream(name))
  return {
    where: { endpoint, http2 },
    streams: streams.map((stream) => benchStream(stream, records)),
    async create(signal) {
      for (const stream of streams) await stream.create({ signal })
    },
    async [Symbol.asyncDispose]() {
      // What it made is nobody's; an interrupt must not keep it either.
      await Promise.allSettled(streams.map((stream) => stream.delete({ signal: AbortSignal.timeout(5000) })))
      await client[Symbol.asyncDispose]()
    },
  }
}

function benchStream(stream: PicoStream, records: readonly Buffer[]): BenchStream {
  return {
    async append() {
      await stream.appendAll(records)
    },
    async *pages(signal): AsyncGenerator<BenchPage> {
      for await (const page of stream.pages({ signal })) {
        const bytes = page.records.reduce((sum, record) => sum + (record.bytes?.length ?? 0), 0)
        yield { records: page.records.length, bytes }
      }
    },
  }
}
