import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accepts, freePort, type ProcessExit, type RunningProcess, run, startProcess } from './child-process.ts'
import { javaTools } from './toolchain.ts'

/** The real Apache Kafka 4.4 that our broker is held against: one node, broker and controller in one, on loopback. */
export interface KafkaOracle {
  /** `127.0.0.1:port`, the same after a restart. */
  readonly bootstrap: string
  readonly port: number
  readonly process: RunningProcess
  readonly folder: string
  /** Stops it, starts it again on the same data. */
  restart(how?: 'stop' | 'kill'): Promise<void>
  /** Stops it and removes its data. */
  close(): Promise<ProcessExit>
}

export interface KafkaOracleSettings {
  /** Broker properties over the defaults below. */
  readonly properties?: Readonly<Record<string, string>>
  /** Kafka's own start script says 1g. */
  readonly heap?: string
}

/** The JVM flags of Kafka's own start script (bin/kafka-run-class.sh). */
const kafkaJvmFlags = [
  '-server',
  '-XX:+UseG1GC',
  '-XX:MaxGCPauseMillis=20',
  '-XX:InitiatingHeapOccupancyPercent=35',
  '-XX:+ExplicitGCInvokesConcurrent',
  '-XX:MaxInlineLevel=15',
  '-Djava.awt.headless=true',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
]

export async function startKafkaOracle(settings: KafkaOracleSettings = {}): Promise<KafkaOracle> {
  const { classpath } = await javaTools()
  const folder = mkdtempSync(join(tmpdir(), 'kafka-oracle-'))
  const port = await freePort()
  const controllerPort = await freePort()
  const properties = join(folder, 'server.properties')
  writeFileSync(properties, render({ ...defaults(folder, port, controllerPort), ...settings.properties }))
  const heap = settings.heap ?? '1g'
  const java = [...kafkaJvmFlags, `-Xms${heap}`, `-Xmx${heap}`, '-cp', classpath]

  const clusterId = newClusterId()
  const format = ['kafka.tools.StorageTool', 'format', '--standalone', '-t', clusterId, '-c', properties]
  await run('java', [...java, ...format])
  const start = () =>
    startProcess({
      name: 'Apache Kafka',
      ownSession: true,
      command: 'java',
      args: [...java, 'kafka.Kafka', properties],
      ready: () => accepts(port),
      readyTimeoutMs: 180_000,
    })

  let running = await start()
  return {
    bootstrap: `127.0.0.1:${port}`,
    port,
    get process() {
      return running
    },
    folder,
    async restart(how = 'stop') {
      await running[how]()
      running = await start()
    },
    async close() {
      const exit = await running.stop()
      rmSync(folder, { recursive: true, force: true })
      return exit
    },
  }
}

/** A Kafka UUID. The tool that takes it would take one that begins with a dash for another option. */
function newClusterId(): string {
  const id = randomBytes(16).toString('base64url')
  return id.startsWith('-') ? newClusterId() : id
}

function defaults(folder: string, port: number, controllerPort: number): Record<string, string> {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    'controller.quorum.bootstrap.servers': `127.0.0.1:${controllerPort}`,
    'log.dirs': join(folder, 'data'),
    'num.partitions': '1',
    'default.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.num.partitions': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
  }
}

function render(properties: Readonly<Record<string, string>>): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}
