import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../child-process.ts'
import { pythonTools } from '../toolchain.ts'
import { type KafkaClient, propertiesOf } from './client.ts'
import { fromJsonLines, offsetsFrom, toJsonLines } from './json-lines.ts'

const program = join(dirname(fileURLToPath(import.meta.url)), '../../python/round_trip.py')

/** confluent-kafka for Python: a current librdkafka. */
export const confluentPython: KafkaClient = {
  name: 'confluent-kafka (Python)',
  limits: { nullHeaderValues: true, binaryHeaderValues: true, recordsOfNothing: true },
  tool: pythonTools,
  readsByGroup: false,
  async write(bootstrap, topic, records, how) {
    const { python } = await pythonTools()
    const args = [program, 'produce', topic, ...propertiesOf(bootstrap, how)]
    const { stdout } = await run(python, args, { input: toJsonLines(records) })
    return how.acks === 0 ? undefined : offsetsFrom(stdout)
  },
  async read(bootstrap, wanted) {
    const { python } = await pythonTools()
    const topics = [...wanted].map(([topic, count]) => `${topic}=${count}`)
    const { stdout } = await run(python, [program, 'consume', bootstrap, ...topics])
    return fromJsonLines(stdout)
  },
}
