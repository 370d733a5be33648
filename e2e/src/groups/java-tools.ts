import { run } from '../child-process.ts'
import { shortJvm } from '../clients/java.ts'
import { javaTools } from '../toolchain.ts'

/** Runs `kafka-consumer-groups` of Kafka 4.4. What it prints, lines trimmed and words one space apart, without empty lines. */
export async function consumerGroups(bootstrap: string, ...args: string[]): Promise<string[]> {
  const { classpath } = await javaTools()
  const tool = 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand'
  const { stdout } = await run('java', [...shortJvm, '-cp', classpath, tool, '--bootstrap-server', bootstrap, ...args])
  const lines = stdout.toString().split('\n')
  return lines.map((line) => line.trim().replaceAll(/\s+/g, ' ')).filter((line) => line !== '')
}

/** Runs `kafka-consumer-perf-test` of Kafka 4.4 as a group. The number of records that it says it has read. */
export async function consumerPerformance(
  bootstrap: string,
  group: string,
  topic: string,
  records: number,
): Promise<number> {
  const { classpath } = await javaTools()
  const what = ['--bootstrap-server', bootstrap, '--topic', topic, '--group', group, '--num-records', `${records}`]
  const args = [...shortJvm, '-cp', classpath, 'org.apache.kafka.tools.ConsumerPerformance', '--hide-header', ...what]
  const { stdout } = await run('java', args)
  const read = stdout.toString().split(', ')[4]
  return Number(read)
}
