import type { BenchStream } from './bench-target.ts'

export interface ReadFigures {
  readonly seconds: number
  readonly records: number
  readonly bytes: number
  readonly recordsPerSecond: number
  readonly mibPerSecond: number
}

/** All streams at a time, each from its beginning to its end. */
export async function readBack(streams: readonly BenchStream[], signal: AbortSignal): Promise<ReadFigures> {
  const begunMs = performance.now()
  let [records, bytes] = [0, 0]
  await Promise.all(
    streams.map(async (stream) => {
      for await (const page of stream.pages(signal)) {
        records += page.records
        bytes += page.bytes
      }
    }),
  )
  const seconds = (performance.now() - begunMs) / 1000
  return { seconds, records, bytes, recordsPerSecond: records / seconds, mibPerSecond: bytes / 2 ** 20 / seconds }
}
