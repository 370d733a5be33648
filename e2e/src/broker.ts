import type { RunningProcess } from './child-process.ts'
import { startKafkaOracle } from './kafka-oracle.ts'
import { packingFlags, startPico } from './pico.ts'

/** What a test that only needs Kafka's protocol needs to know of a broker. */
export interface Broker {
  /** `127.0.0.1:port` */
  readonly bootstrap: string
  readonly port: number
  /** The one that runs now. */
  readonly process: RunningProcess
  /** Ends it and starts it again on the same data and port. */
  restart(how?: 'stop' | 'kill'): Promise<void>
  close(): Promise<unknown>
}

/** Starts one; flags of `pico serve` beyond those of its kind mean nothing to Kafka. */
type Starter = (picoFlags?: readonly string[]) => Promise<Broker>

const starters = {
  kafka: { name: 'Apache Kafka 4.4', start: () => startKafkaOracle() },
  pico: { name: 'pico', start: (flags = []) => startPico({ flags }) },
  'pico-shared-wal': { name: 'pico, shared WAL', start: (flags = []) => startPico({ wal: 'shared', flags }) },
  'pico-packing': {
    name: 'pico, packing all the time',
    start: (flags = []) => startPico({ flags: [...packingFlags, ...flags] }),
  },
  'pico-shared-wal-packing': {
    name: 'pico, shared WAL, packing all the time',
    start: (flags = []) => startPico({ wal: 'shared', flags: [...packingFlags, ...flags] }),
  },
} satisfies Record<string, { name: string; start: Starter }>

export type BrokerKind = keyof typeof starters

/**
 * The brokers a suite runs against: `E2E_BROKERS`, a comma-separated list of the kinds above.
 * Running it against `kafka` proves the suite, not us.
 */
export function brokersUnderTest(standard: readonly BrokerKind[]): { name: string; start: Starter }[] {
  const asked = process.env['E2E_BROKERS']?.split(',') ?? standard
  return asked.map((kind) => {
    if (!Object.hasOwn(starters, kind)) throw new Error(`E2E_BROKERS: there is no broker "${kind}"`)
    return starters[kind as BrokerKind]
  })
}
