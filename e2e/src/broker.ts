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

const starters = {
  kafka: { name: 'Apache Kafka 4.4', start: (): Promise<Broker> => startKafkaOracle() },
  pico: { name: 'pico', start: (): Promise<Broker> => startPico() },
  'pico-shared-wal': { name: 'pico, shared WAL', start: (): Promise<Broker> => startPico({ wal: 'shared' }) },
  'pico-packing': {
    name: 'pico, packing all the time',
    start: (): Promise<Broker> => startPico({ flags: packingFlags }),
  },
  'pico-shared-wal-packing': {
    name: 'pico, shared WAL, packing all the time',
    start: (): Promise<Broker> => startPico({ wal: 'shared', flags: packingFlags }),
  },
}

export type BrokerKind = keyof typeof starters

/**
 * The brokers a suite runs against: `E2E_BROKERS`, a comma-separated list of the kinds above.
 * Running it against `kafka` proves the suite, not us.
 */
export function brokersUnderTest(standard: readonly BrokerKind[]): { name: string; start(): Promise<Broker> }[] {
  const asked = process.env['E2E_BROKERS']?.split(',') ?? standard
  return asked.map((kind) => {
    if (!Object.hasOwn(starters, kind)) throw new Error(`E2E_BROKERS: there is no broker "${kind}"`)
    return starters[kind as BrokerKind]
  })
}
