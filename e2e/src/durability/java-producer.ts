import { startProcess } from '../child-process.ts'
import { javaTools } from '../toolchain.ts'
import type { ProducerHistory } from './history.ts'
import type { LoadProducer } from './producer.ts'

/**
 * Kafka's own Java client, idempotent with its defaults, as a producer of the load (e2e/java/src/IdempotentLoad.java).
 * The history is complete only once it has stopped.
 */
export async function startJavaProducer(port: number, topic: string): Promise<LoadProducer> {
  const { classpath } = await javaTools()
  const name = `${topic}-client`
  const history: ProducerHistory = { name, topic, idempotent: true, acknowledged: [], sent: 0 }
  const refusals: string[] = []
  let text = ''
  const process = await startProcess({
    name,
    command: 'java',
    args: [
      ...['-Xmx256m', '-XX:+UseSerialGC', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'],
      ...['-cp', classpath, 'IdempotentLoad', `127.0.0.1:${port}`, topic, name],
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
    const [what, first = Number.NaN, second = Number.NaN] = line
      .split(' ')
      .map((word, at) => (at === 0 ? word : Number(word)))
    if (what === 'acknowledged') history.acknowledged.push({ first: Number(first), count: 1, offset: Number(second) })
    else if (what === 'sent') history.sent = Number(first)
    else if (what === 'failed') refusals.push(`${name}: ${line}`)
  }

  return {
    history,
    refusals,
    retries: new Map(), // the client keeps them to itself
    async stop(timeoutMs) {
      const { code, signal, forced } = await process.stop(timeoutMs)
      if (forced || history.sent === 0) {
        throw new Error(`${name} ended with ${signal ?? code}:\n${process.output().slice(-2000)}`)
      }
    },
  }
}
