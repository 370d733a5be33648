import type { AppendFigures, LatencyMs, SecondFigures } from './bench-appends.ts'
import type { ReadFigures } from './bench-reads.ts'
import { grouped } from './terminal-progress.ts'

export function secondLine({ second, warmup, recordsPerSecond, mibPerSecond, latencyMs }: SecondFigures): string {
  const when = warmup ? 'warmup' : `${second} s`
  return `${when.padStart(7)}  ${rates(recordsPerSecond, mibPerSecond)}  ${latencies(latencyMs)}\n`
}

export function appendSummary({ records, seconds, recordsPerSecond, mibPerSecond, latencyMs }: AppendFigures): string {
  const what = `appended ${grouped(records)} records in ${seconds.toFixed(1)} s`
  return `${what}: ${rates(recordsPerSecond, mibPerSecond).trim()}, ${latencies(latencyMs)}\n`
}

export function readSummary({ records, seconds, recordsPerSecond, mibPerSecond }: ReadFigures): string {
  return `read ${grouped(records)} records in ${seconds.toFixed(1)} s: ${rates(recordsPerSecond, mibPerSecond).trim()}\n`
}

function rates(recordsPerSecond: number, mibPerSecond: number): string {
  return `${grouped(Math.round(recordsPerSecond)).padStart(9)} records/s ${mibPerSecond.toFixed(1).padStart(7)} MiB/s`
}

function latencies({ p50, p95, p99, p999 }: LatencyMs): string {
  const ms = (value: number) => value.toFixed(2)
  return `p50 ${ms(p50)} ms, p95 ${ms(p95)}, p99 ${ms(p99)}, p99.9 ${ms(p999)}`
}
