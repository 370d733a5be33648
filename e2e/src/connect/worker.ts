import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, type RunningProcess, startProcess } from '../child-process.ts'
import { shortJvm } from '../clients/java.ts'
import { connectTools } from '../toolchain.ts'

/** One worker of a distributed Kafka Connect, with its REST API on loopback. */
export interface ConnectWorker {
  /** As the group names it: `127.0.0.1:port`, the same after a restart. */
  readonly workerId: string
  readonly process: RunningProcess
  /** SIGKILL, and the same worker again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** What the workers of a group share; all of it they make themselves. */
export const connectTopics = {
  config: { name: 'connect-configs', partitions: 1 },
  offset: { name: 'connect-offsets', partitions: 4 },
  status: { name: 'connect-status', partitions: 2 },
} as const
export const connectGroup = 'connect-workers'

/** `folder` is its own. */
export async function startConnectWorker(bootstrap: string, folder: string): Promise<ConnectWorker> {
  const { classpath, pluginPath } = await connectTools()
  const port = await freePort()
  const workerId = `127.0.0.1:${port}`
  const file = join(folder, `worker-${port}.properties`)
  const properties = Object.entries({ ...settings(bootstrap), ...restSettings(port), 'plugin.path': pluginPath })
  writeFileSync(file, properties.map(([name, value]) => `${name}=${value}\n`).join(''))
  const main = 'org.apache.kafka.connect.cli.ConnectDistributed'
  const start = () =>
    startProcess({
      name: `Connect worker ${workerId}`,
      command: 'java',
      args: [...shortJvm, '-Xmx256m', `-Djava.io.tmpdir=${folder}`, '-cp', classpath, main, file],
      ready: () => isHealthy(workerId),
      readyTimeoutMs: 300_000,
    })
  let running = await start()
  return {
    workerId,
    get process() {
      return running
    },
    async restart() {
      await running.kill()
      running = await start()
    },
    async stop() {
      const { forced } = await running.stop(30_000)
      if (forced) throw new Error(`${running.name} did not end:\n${running.output().slice(-4000)}`)
    },
  }
}

function settings(bootstrap: string): Record<string, string> {
  const storage = Object.entries(connectTopics).flatMap(([kind, { name, partitions }]) => [
    [`${kind}.storage.topic`, name],
    [`${kind}.storage.replication.factor`, '1'],
    // The topic of configurations has one partition, and no setting for it.
    ...(kind === 'config' ? [] : [[`${kind}.storage.partitions`, `${partitions}`]]),
  ])
  return {
    'bootstrap.servers': bootstrap,
    'group.id': connectGroup,
    ...Object.fromEntries(storage),
    'exactly.once.source.support': 'disabled',
    'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
    'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
    'plugin.discovery': 'service_load',
    'offset.flush.interval.ms': '500',
    // A dead worker, and the consumer of a sink task that died with it, are noticed soon: Connect would wait for five minutes.
    'session.timeout.ms': '10000',
    'heartbeat.interval.ms': '1000',
    'scheduled.rebalance.max.delay.ms': '1000',
    'consumer.session.timeout.ms': '10000',
    'consumer.heartbeat.interval.ms': '1000',
    'consumer.metadata.max.age.ms': '1000',
    'reconnect.backoff.max.ms': '500',
  }
}

function restSettings(port: number): Record<string, string> {
  return { listeners: `http://127.0.0.1:${port}`, 'rest.advertised.host.name': '127.0.0.1' }
}

/** True once it is a member of its group and has read the topics above (KIP-1017). */
async function isHealthy(workerId: string): Promise<boolean> {
  try {
    const { ok } = await fetch(`http://${workerId}/health`)
    return ok
  } catch (error) {
    if (error instanceof TypeError) return false // nothing listens there yet
    throw error
  }
}
