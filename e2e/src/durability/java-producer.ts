import { type RunningProcess, startProcess } from '../child-process.ts'
import { javaTools } from '../toolchain.ts'
import { logName, type ProducerHistory } from './history.ts'
import type { LoadProducer } from './producer.ts'

/**
 * Kafka's own Java client, idempotent with its defaults, as a producer of the load for each partition of a topic
 * (e2e/java/src/IdempotentLoad.java), all in one process: they stop together. Their histories are complete only then.
 *
 * @param pauseMs Between 20 records and the next.
 */
export async function startJavaProducers(
  bootstrap: string,
  topic: string,
  { partitions = 1, pauseMs = 2 } = {},
): Promise<LoadProducer[]> {
  const { classpath } = await javaTools()
  const name = `${topic}-client`
  const loads = Array.from({ length: partitions }, (_, partition) => {
    const history: ProducerHistory = {
      ...{ name: logName(name, partition), log: logName(topic, partition), idempotent: true },
      ...{ acknowledged: [], sent: 0 },
    }
    return { history, refusals: [] as string[] }
  })
  let text = ''
  const process = await startProcess({
    name,
    command: 'java',
    args: [
      ...['-Xmx256m', '-XX:+UseSerialGC', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'],
      ...['-cp', classpath, 'IdempotentLoad', bootstrap, topic, name, `${partitions}`, `${pauseMs}`],
    ],
    onStdout: (chunk) => {
      text += chunk.toString()
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) take(line)
    },
    ready: (output) => output.includes('started'),
  })

  function take(line: string): void {
    const [what, partition, number, offset] = line.split(' ')
    const load = loads[Number(partition)]
    if (load === undefined) return
    const first = Number(number)
    if (what === 'acknowledged') load.history.acknowledged.push({ first, count: 1, offset: Number(offset) })
    else if (what === 'sent') load.history.sent = first
    else if (what === 'failed') load.refusals.push(`${name}: ${line}`)
  }

  let stopped: Promise<void> | undefined
  return loads.map((load) => ({
    ...load,
    retries: new Map(), // the client keeps them to itself
    stop(timeoutMs) {
      stopped ??= stopProcess(process, timeoutMs).then(() => {
        if (load.history.sent === 0) throw new Error(`${name} sent nothing:\n${process.output().slice(-2000)}`)
      })
      return stopped
    },
  }))
}

async function stopProcess(process: RunningProcess, timeoutMs: number): Promise<void> {
  const { code, signal, forced } = await process.stop(timeoutMs)
  if (forced) throw new Error(`${process.name} ended with ${signal ?? code}:\n${process.output().slice(-2000)}`)
}
