import type { Broker } from '../broker.ts'
import type { RunningProcess } from '../child-process.ts'
import { startKafkaOracle } from '../kafka-oracle.ts'
import { startPico } from '../pico.ts'

export type BenchBroker = Broker & { readonly process: RunningProcess }

export const contenderNames = ['kafka', 'kafka-flush', 'pico', 'pico-shared'] as const
export type ContenderName = (typeof contenderNames)[number]

/** Who takes part in a comparison. Two of them are one Kafka process: only the settings of the topic differ. */
export interface Contender {
  readonly name: ContenderName
  readonly broker: BenchBroker
  readonly topicConfigs: Readonly<Record<string, string>>
}

export interface Contest {
  readonly contenders: readonly Contender[]
  close(): Promise<void>
}

/** Starts what the named contenders need. All stay up for the whole run, so that the JVM is as warm as it gets. */
export async function openContest(names: readonly ContenderName[]): Promise<Contest> {
  const brokers: BenchBroker[] = []
  const started = <B extends BenchBroker>(broker: B): B => {
    brokers.push(broker)
    return broker
  }
  const close = async () => {
    for (const broker of brokers) await broker.close()
  }
  try {
    const contenders: Contender[] = []
    const properties = {
      'log.segment.delete.delay.ms': '1000', // deleted topics must not fill the disk
      // As they are by default, which our tests' Kafka changes for the sake of speed: what groups cost depends on them.
      'offsets.topic.num.partitions': '50',
      'group.initial.rebalance.delay.ms': '3000',
    }
    const kafka = names.some((name) => name.startsWith('kafka'))
      ? started(await startKafkaOracle({ properties }))
      : undefined
    for (const name of names) {
      const broker = kafka !== undefined && name.startsWith('kafka') ? kafka : started(await startPicoAs(name))
      contenders.push({ name, broker, topicConfigs: name === 'kafka-flush' ? { 'flush.messages': '1' } : {} })
    }
    return { contenders, close }
  } catch (error) {
    await close()
    throw error
  }
}

function startPicoAs(name: ContenderName): Promise<BenchBroker> {
  return startPico({ wal: name === 'pico-shared' ? 'shared' : 'local' })
}
