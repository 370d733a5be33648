import { Counter, Gauge, type Registry } from 'prom-client'

/** What the log engine counts; see LogStats of @pico/log. */
export interface LogFigures {
  readonly openStreams: number
  readonly unflushedBytes: number
  readonly unpackedBytes: number
  readonly logCacheBytes: number
  readonly blockCacheBytes: number
  readonly flushes: number
  readonly flushedBytes: number
  readonly failedFlushes: number
  readonly packs: number
  readonly compactions: number
  readonly deletedObjects: number
}

const gauges: readonly (readonly [keyof LogFigures, name: string, help: string])[] = [
  ['openStreams', 'pico_log_open_streams', 'Streams in memory'],
  ['unflushedBytes', 'pico_log_unflushed_bytes', 'Bytes taken in that are not durable yet'],
  ['unpackedBytes', 'pico_log_unpacked_bytes', 'Durable bytes that are in the write-ahead log only'],
  ['logCacheBytes', 'pico_log_cache_bytes', 'Memory for recent records'],
  ['blockCacheBytes', 'pico_block_cache_bytes', 'Memory for records read back from objects'],
]

const counters: readonly (readonly [keyof LogFigures, name: string, help: string])[] = [
  ['flushes', 'pico_log_flushes_total', 'Writes to the write-ahead log that became durable'],
  ['flushedBytes', 'pico_log_flushed_bytes_total', 'Bytes that became durable'],
  ['failedFlushes', 'pico_log_flush_failures_total', 'Writes to the write-ahead log that failed'],
  ['packs', 'pico_log_packs_total', 'Times that the write-ahead log was packed into objects'],
  ['compactions', 'pico_log_compactions_total', 'Objects made of smaller ones'],
  ['deletedObjects', 'pico_log_deleted_objects_total', 'Objects that nothing needed any more and that were deleted'],
]

/** `figures` is asked when somebody looks; null while there is no log. */
export function logMetrics(registry: Registry, figures: () => LogFigures | null): void {
  const registers = [registry]
  for (const [figure, name, help] of gauges) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(figures()?.[figure] ?? 0)
      },
    })
  }
  for (const [figure, name, help] of counters) {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(figures()?.[figure] ?? 0)
      },
    })
  }
}
