import { run } from '../child-process.ts'
import { javaTools } from '../toolchain.ts'
import { type KafkaClient, propertiesOf } from './client.ts'
import { fromJsonLines, offsetsFrom, toJsonLines } from './json-lines.ts'

/** Flags that make a short-lived JVM start fast. */
export const shortJvm = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn']

/** Apache Kafka's Java client 4.4, through the programs in `e2e/java`. */
export const javaClient: KafkaClient = {
  name: 'Java client 4.4',
  limits: { nullHeaderValues: true, binaryHeaderValues: true, recordsOfNothing: true },
  tool: javaTools,
  readsByGroup: false,
  async write(bootstrap, topic, records, how) {
    const { classpath } = await javaTools()
    const args = [...shortJvm, '-cp', classpath, 'ProduceRecords', topic, ...propertiesOf(bootstrap, how)]
    const { stdout } = await run('java', args, { input: toJsonLines(records) })
    return how.acks === 0 ? undefined : offsetsFrom(stdout)
  },
  async read(bootstrap, wanted) {
    const { classpath } = await javaTools()
    const topics = [...wanted].map(([topic, count]) => `${topic}=${count}`)
    const { stdout } = await run('java', [...shortJvm, '-cp', classpath, 'ConsumeRecords', bootstrap, ...topics])
    return fromJsonLines(stdout)
  },
}
