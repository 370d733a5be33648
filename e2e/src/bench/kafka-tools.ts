import { run } from '../child-process.ts'
import { javaTools } from '../toolchain.ts'

/** Kafka's own performance tools as the load, each in a JVM of its own, and what they print as numbers. */

const loadHeapMb = 512
/** Of a fleet: each producer may hold 32 MiB that wait, and small records cost some times their bytes. With less, its collector is measured. */
const fleetHeapMb = 4096
const bytesPerMegabyte = 1024 * 1024 // as Kafka's tools count

export interface ProduceLoad {
  readonly bootstrap: string
  readonly topic: string
  readonly records: number
  readonly recordBytes: number
  /** Records a second; as fast as it goes when left out. */
  readonly throughput?: number
  /** Not counted: the JVM compiles meanwhile. */
  readonly warmupRecords?: number
  /** Producer settings over the client's defaults. */
  readonly properties?: Readonly<Record<string, string | number>>
  readonly timeoutMs?: number
}

export interface ProduceReport {
  readonly megabytesPerSecond: number
  readonly recordsPerSecond: number
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number; readonly max: number }
}

export async function producerPerformance(load: ProduceLoad): Promise<ProduceReport> {
  const { stdout, stderr } = await java('org.apache.kafka.tools.ProducerPerformance', produceArgs(load), load.timeoutMs)
  const text = stdout.toString()
  const kind = load.warmupRecords === undefined ? 'records sent' : 'steady state records sent'
  const numbers = new RegExp(
    `^(\\d+) ${kind}, ([\\d.]+) records/sec \\(([\\d.]+) MB/sec\\), [\\d.]+ ms avg latency, ([\\d.]+) ms max latency, ` +
      `(\\d+) ms 50th, (\\d+) ms 95th, (\\d+) ms 99th`,
    'm',
  ).exec(text)
  // A record that was not acknowledged is printed as an exception, and still counted as sent.
  if (numbers === null || /Exception/.test(text + stderr)) throw new Error(`ProducerPerformance:\n${text}\n${stderr}`)
  const [, , recordsPerSecond, megabytesPerSecond, max, p50, p95, p99] = numbers.map(Number)
  return {
    megabytesPerSecond: megabytesPerSecond ?? Number.NaN,
    recordsPerSecond: recordsPerSecond ?? Number.NaN,
    latencyMs: { p50: p50 ?? Number.NaN, p95: p95 ?? Number.NaN, p99: p99 ?? Number.NaN, max: max ?? Number.NaN },
  }
}

/** Several producers in one JVM; the rate is of all together, from the first start to the last end. */
export async function producerFleet(producers: number, load: ProduceLoad): Promise<{ megabytesPerSecond: number }> {
  const { stdout, stderr } = await java(
    'ProducerFleet',
    [`${producers}`, ...produceArgs(load)],
    load.timeoutMs,
    fleetHeapMb,
  )
  const took = /^fleet took (\d+) ms$/m.exec(stdout.toString())
  if (took === null || /Exception/.test(stderr)) throw new Error(`ProducerFleet:\n${stdout}\n${stderr}`)
  const megabytes = (producers * load.records * load.recordBytes) / bytesPerMegabyte
  return { megabytesPerSecond: megabytes / (Number(took[1]) / 1000) }
}

export interface ConsumeLoad {
  readonly bootstrap: string
  readonly topic: string
  readonly records: number
}

/** Kafka's ConsumerPerformance; its rate without the time it took to join the group. */
export async function consumerPerformance(load: ConsumeLoad): Promise<{ megabytesPerSecond: number }> {
  const args = ['--bootstrap-server', load.bootstrap, '--topic', load.topic, '--num-records', `${load.records}`]
  const { stdout, stderr } = await java('org.apache.kafka.tools.ConsumerPerformance', [...args, '--hide-header'])
  const fields = stdout.toString().trim().split('\n').at(-1)?.split(', ') ?? []
  if (fields.length !== 10 || Number(fields[4]) < load.records) {
    throw new Error(`ConsumerPerformance:\n${stdout}\n${stderr}`)
  }
  return { megabytesPerSecond: Number(fields[8]) }
}

/** The same load by assign, for a broker without consumer groups. */
export async function assignedConsumer(load: ConsumeLoad): Promise<{ megabytesPerSecond: number }> {
  const { stdout } = await java('AssignedConsumer', [load.bootstrap, load.topic, `${load.records}`])
  const [bytes = Number.NaN, , milliseconds = Number.NaN] = stdout.toString().trim().split(' ').map(Number)
  return { megabytesPerSecond: bytes / bytesPerMegabyte / (milliseconds / 1000) }
}

function produceArgs(load: ProduceLoad): string[] {
  const properties = Object.entries(load.properties ?? {}).map(([name, value]) => `${name}=${value}`)
  return [
    ...['--bootstrap-server', load.bootstrap],
    ...['--topic', load.topic],
    ...['--num-records', `${load.records}`],
    ...['--record-size', `${load.recordBytes}`],
    ...['--throughput', `${load.throughput ?? -1}`],
    ...(load.warmupRecords === undefined ? [] : ['--warmup-records', `${load.warmupRecords}`]),
    ...(properties.length === 0 ? [] : ['--command-property', ...properties]),
  ]
}

async function java(
  main: string,
  args: readonly string[],
  timeoutMs = 300_000,
  heapMb = loadHeapMb,
): Promise<{ stdout: Buffer; stderr: string }> {
  const { classpath } = await javaTools()
  const jvm = [`-Xms${heapMb}m`, `-Xmx${heapMb}m`, '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn']
  return run('java', [...jvm, '-cp', classpath, main, ...args], { timeoutMs })
}
